"""Talking to servers: one request, bounded, with its key kept out of every word; and what a failure means."""
