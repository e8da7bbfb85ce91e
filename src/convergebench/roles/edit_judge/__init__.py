"""The measuring judge's answers about edits: evidence of two pictures, and what it says of an edit of a given type."""
