"""What lies around a change: the part of a picture that nobody asked to touch."""
