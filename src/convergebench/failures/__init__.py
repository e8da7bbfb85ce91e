"""Failures that have names: one detector per file, each with its rule, its evidence and its measured error rates."""

from __future__ import annotations

from collections.abc import Iterable

from convergebench.failures.base import Detector
from convergebench.registry import load

__all__ = ["expand_detectors", "load_detector", "suits"]


def load_detector(name: str) -> Detector:
    """A detector by its name: built in, or of a plug-in (entry point `convergebench.failures`)."""
    found: Detector = load("failures", name)
    return found


def expand_detectors(names: Iterable[str]) -> list[str]:
    """Names in order, each once; `edits` and `restorations` are sets, `all` stands for every built-in one."""
    from convergebench.failures._table import SETS, TABLE

    expanded: dict[str, None] = {}
    for name in names:
        expanded.update(dict.fromkeys(TABLE if name == "all" else SETS.get(name, (name,))))
    return list(expanded)


def suits(name: str, chosen: Iterable[str]) -> bool:
    """Whether a detector is among those that a study chose; a plug-in's suits every study."""
    from convergebench.failures._table import TABLE

    return name not in TABLE or name in expand_detectors(chosen)
