"""An image by itself: how natural, or how damaged, it looks."""
