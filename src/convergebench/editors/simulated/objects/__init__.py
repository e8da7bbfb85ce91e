"""Things that can be drawn into a picture."""
