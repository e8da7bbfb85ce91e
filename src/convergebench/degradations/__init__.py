"""Degradations: seeded, parameterised models of image degradation, one file each, found by name."""

from __future__ import annotations

from convergebench.degradations.base import Degradation
from convergebench.errors import StudyError
from convergebench.registry import load

__all__ = ["load_degradation"]


def load_degradation(name: str) -> Degradation:
    """A degradation by its name: built in, or of a plug-in (entry point `convergebench.degradations`)."""
    found = load("degradations", name)
    if not isinstance(found, Degradation):
        raise StudyError(
            f"degradation '{name}' is a plug-in that returned {type(found).__name__} instead of a Degradation; "
            f"declare it with @degradation"
        )
    if found.name != name:
        raise StudyError(f"the degradation '{name}' calls itself '{found.name}'; its name should be '{name}'")
    return found
