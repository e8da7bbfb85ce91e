"""What one step did to an image, beside what was asked: size, place, noise, sharpness, colour."""
