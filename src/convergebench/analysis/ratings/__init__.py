"""People's ratings: scores, preferences, agreement, and which raters can be trusted."""
