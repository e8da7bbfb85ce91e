"""Which steps are held against the baseline: those asked for or, where chains are too short for these, others."""

from __future__ import annotations

from typing import NamedTuple

import polars as pl

from convergebench.analysis.audit.material import Material
from convergebench.analysis.audit.settings import GAPS


class Steps(NamedTuple):
    """The steps used, and whether they were chosen here."""

    gaps: tuple[int, ...]
    chosen: bool
    longest: int
    """The last step of the longest chain of copies; 0 if there is none."""


def choose_steps(material: Material) -> Steps:
    """The gaps to use; none if no chain gets past the baseline.

    Steps that some chain reaches are kept as they were asked for. If none is reached, or none was asked for, these are
    5, 10 and 20 as far as chains go; a chain of fewer than ten has its middle and its last.
    """
    settings, copies = material.settings, material.copies
    longest = int(copies["reach"].max() or 0) if copies.height else 0  # type: ignore[arg-type]
    asked = tuple(sorted(set(settings.gaps)))
    if any(gap <= longest for gap in asked):
        return Steps(asked, chosen=False, longest=longest)
    if longest <= settings.baseline:
        return Steps(asked, chosen=False, longest=longest)
    usual = tuple(gap for gap in GAPS if settings.baseline < gap <= longest)
    if len(usual) >= 2:
        return Steps(usual, chosen=True, longest=longest)
    between = [at for at in _scored(material, longest) if settings.baseline < at < longest]
    wanted = (longest + 1) // 2
    middle = min(between, key=lambda at: (abs(at - wanted), at), default=None)
    gaps = (longest,) if middle is None else (middle, longest)
    return Steps(gaps, chosen=True, longest=longest)


def _scored(material: Material, longest: int) -> list[int]:
    """Steps that have a score of a copy; all of them where nothing is scored."""
    wanted = material.copies.select("chain")
    found = material.scores.join(wanted, on="chain", how="semi").filter(pl.col("raw").is_not_null())
    return found["at"].unique().sort().to_list() or list(range(longest + 1))
