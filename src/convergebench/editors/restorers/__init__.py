"""Learned restorers as editors: networks that repair or enlarge a picture, applied repeatedly."""
