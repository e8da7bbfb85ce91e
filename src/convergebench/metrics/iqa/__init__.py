"""One image by itself, scored by published networks as pyiqa builds them. pyiqa's licence is noncommercial."""
