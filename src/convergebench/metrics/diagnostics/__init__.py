"""Side effects of one step on an image: size, position, noise, sharpness, colour."""
