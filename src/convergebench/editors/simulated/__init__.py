"""Simulated editors: drawn objects, exact geometry, known wear. They run anywhere and their truth is known."""
