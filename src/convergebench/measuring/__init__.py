"""Metrics over stored pictures: of a run, of files that belong to no run, by processes and by asking a model."""
