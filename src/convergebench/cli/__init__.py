"""The command `cbench`: parses words, calls the conductor, prints."""
