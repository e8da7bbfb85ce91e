"""Edit pairs and sessions: the instructions, as data."""

from __future__ import annotations

from convergebench.edits.pairs import load_pairs, pair_names, pairs_for, pairs_hash
from convergebench.edits.reversibility import classify
from convergebench.edits.sessions import EditSession, load_sessions

__all__ = ["EditSession", "classify", "load_pairs", "load_sessions", "pair_names", "pairs_for", "pairs_hash"]
