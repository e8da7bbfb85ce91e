"""Single images scored by published networks as pyiqa builds them. pyiqa's licence is noncommercial."""
