"""The static site of a leaderboard: pages, data files and a feed, the same bytes for the same bundles."""
