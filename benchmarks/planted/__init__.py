"""Chains whose truth is known, to measure failure detectors on.

Every module here that has `planted(limit, seed, half)` is picked up by `python -m benchmarks.failures`; it gives chains
from at most `limit` pictures of a half. A detector is measured on the modules that hold a truth for it: a chain of its
own mode with a truth must be found, every other chain of these modules must not be called so.
"""

from __future__ import annotations

import importlib
import pkgutil
from dataclasses import dataclass, field

from convergebench.failures.base import ChainView


@dataclass(frozen=True)
class Planted:
    """One chain, and from which step on it shows what."""

    name: str
    """`static-noise/clear/astronaut`: for the list of what was missed."""
    mode: str
    """The failure that was planted (a detector's name), or `clean`."""
    chain: ChainView = field(repr=False)
    truth: int | None = None
    """First step that shows the failure; None: it never does."""
    strength: str = ""
    """`subtle`, `clear`, `strong`, or empty where there are no degrees."""
    also: frozenset[str] = frozenset()
    """Modes that the planted one cannot be had without: being called so is neither right nor wrong."""
    split: str = "test"
    """`development` where the picture was looked at when thresholds were chosen, else `test`."""
    only: frozenset[str] | None = None
    """The detectors that it has a truth for; None: all that its module measures."""


def modules() -> list[str]:
    """Names of the modules here that plant something."""
    names = [f"{__name__}.{one.name}" for one in pkgutil.iter_modules(__path__)]
    return [name for name in names if hasattr(importlib.import_module(name), "planted")]
