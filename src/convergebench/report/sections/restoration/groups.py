"""Categories of pictures in their order: scenes, then degradations by family."""

from __future__ import annotations

import polars as pl

from convergebench.analysis.restoration.result import RestorationAnalysis
from convergebench.errors import ConvergeBenchError
from convergebench.registry import load
from convergebench.studies.restoration_table import DEGRADATIONS, SCENES

TITLES = {**SCENES, **DEGRADATIONS}
SETS = {"scene": "Scenes", "degradation": "Degradations"}
"""Set → its heading."""


def title_of(kind: str) -> str:
    """The name of a category in the literature, or its own."""
    return TITLES.get(kind, kind)


def family_of(kind: str, set_name: str) -> str:
    """The family of a degradation; empty for scenes and for what this version does not know."""
    if set_name != "degradation":
        return ""
    try:
        return str(load("degradations", kind).family)
    except (ConvergeBenchError, AttributeError):
        return ""


def ordered_kinds(found: RestorationAnalysis) -> list[str]:
    """The kinds of a run: scenes in the literature's order, degradations in theirs, others last."""
    frame = found.restored
    known = frame.select("kind", "set").unique(maintain_order=True).rows() if frame.height else []
    order = {name: place for place, name in enumerate(TITLES)}
    sets = list(SETS)
    known = sorted(
        known, key=lambda one: (sets.index(one[1]) if one[1] in sets else len(sets), order.get(one[0], 99), one[0])
    )
    return list(dict.fromkeys(kind for kind, _ in known))


def set_of(frame: pl.DataFrame, category: str) -> str:
    """The set of a category."""
    own = frame.filter(pl.col("category") == category)["set"] if frame.height else pl.Series([])
    return str(own[0]) if own.len() else ""
