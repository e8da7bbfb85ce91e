"""An image against the image it should look like: quality, in the sense of the papers."""
