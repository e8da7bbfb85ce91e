"""The area around a change: the part of a picture that no instruction requested to change."""
