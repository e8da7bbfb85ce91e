"""English instructions, read by code: what to do, with which object, in which colour, and where."""
