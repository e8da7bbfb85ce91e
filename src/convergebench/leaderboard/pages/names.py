"""File names of the site: plain letters only, the same for the same name, different for different ones."""

from __future__ import annotations

import hashlib
import re

from convergebench.leaderboard.boards import BoardRules

MODELS, PICTURES = "models", "pictures"


def slug(text: str) -> str:
    """A short file name; names that plain letters cannot tell apart get a hash."""
    plain = re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")[:48].strip("-")
    return plain if plain == text else f"{plain or 'x'}-{hashlib.sha256(text.encode()).hexdigest()[:8]}"


def page_of(model: str) -> str:
    """The page of a model, from the root of the site."""
    return f"{MODELS}/{slug(model)}.html"


def page_of_board(rules: BoardRules, place: int) -> str:
    """The page of a board; the first one is the index."""
    return "index.html" if place == 0 else f"board-{slug(f'{rules.study} {rules.suite}')}.html"
