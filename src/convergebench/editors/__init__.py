"""Editors: simulated ones that really carry out instructions, and recordings played back."""
