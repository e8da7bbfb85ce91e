"""The viewer: all runs of a folder in a browser, live while they are written; it changes nothing."""
