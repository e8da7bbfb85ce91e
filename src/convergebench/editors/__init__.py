"""Editors: remote and local models, simulated editors that carry out instructions, and recordings."""

from convergebench.listed_room import make_listed

make_listed(__name__)
