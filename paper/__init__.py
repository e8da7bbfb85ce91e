"""The paper: its tables, figures and numbers are generated from the result pages of docs/."""
