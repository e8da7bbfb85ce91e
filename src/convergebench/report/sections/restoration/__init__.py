"""Sections of the page of a restoration run."""
