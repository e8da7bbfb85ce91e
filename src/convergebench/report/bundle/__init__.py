"""A run, or several, as LaTeX that can go into a paper: tables, figures, numbers by name, credits."""
