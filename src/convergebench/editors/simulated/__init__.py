"""Simulated editors: drawn objects, exact geometry, known wear. They run anywhere, with exactly known behaviour."""
