"""The leaderboard: result bundles made from runs, their checks, the ranking over all of them, and its static site."""
