"""Values read from replies to a question, by a model or by our own code in its place. See docs/judges.md."""
