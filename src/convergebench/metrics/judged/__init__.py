"""Values that somebody is asked for: a model, or our own code in its place. See docs/judges.md."""
