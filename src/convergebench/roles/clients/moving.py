"""Model ids that may come to mean another model: answers of the two would stand side by side as if they were one's."""

from __future__ import annotations

import re

MOVED = frozenset({"latest", "auto", "nightly"})
"""Last words of an id that is moved on purpose."""
UNDATED = frozenset({"preview", "exp", "experimental", "beta"})
"""Words of a model that is still being worked on; a date in the id says which state of it is meant."""

_DATE = re.compile(r"(?<![0-9.])(?:20\d{2}-?\d{2}-?\d{2}|\d{2}-20\d{2}|\d{2}-\d{2}|\d{4})(?![0-9.])")
"""`2026-03-05`, `20251001`, `09-2025`, `05-20`, `0125`."""


def is_moving(model: str) -> bool:
    """Whether the id says of itself that it does not stay with one model."""
    words = re.split(r"[^a-z0-9.]+", model.lower())
    return words[-1] in MOVED or (not UNDATED.isdisjoint(words) and not _DATE.search(model))
