"""Stages: what is done to a run after editing. A study names its own, in order."""
