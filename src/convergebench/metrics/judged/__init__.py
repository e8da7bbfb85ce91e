"""Values that somebody is asked for: a vision model, or the measuring judge in its place. See docs/judges.md."""
