"""The audit: which no-reference metrics notice the damage of repeated editing, and which reward it."""
