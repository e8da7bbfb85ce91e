"""Restoration: which method and which prompt come closest to the clean picture, how steadily, and at what price."""
