"""What other rooms ask of a run's journal, by topic: every function takes `Records` and gives typed rows."""
