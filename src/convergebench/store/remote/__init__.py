"""A run whose images and journal backup are kept at a URL: object stores and network folders, through fsspec."""
