"""Learned restorers as editors: networks made to repair or enlarge a picture, asked to do so again and again."""
