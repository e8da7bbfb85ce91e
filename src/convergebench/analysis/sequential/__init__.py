"""Sequential comparison of editors: intervals that hold however often one looks, and when to stop."""
