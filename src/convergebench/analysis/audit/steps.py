"""Which steps are compared with the baseline: the requested ones or, where chains are too short, others."""

from __future__ import annotations

from typing import NamedTuple

import polars as pl

from convergebench.analysis.audit.audit_data import COPIES, AuditData
from convergebench.analysis.audit.settings import GAPS


class AuditedSteps(NamedTuple):
    """The steps used, and whether they replace the requested ones."""

    gaps: tuple[int, ...]
    chosen: bool
    longest: int
    """The last step of the longest chain of copies; 0 if there is none."""


def choose_steps(data: AuditData) -> AuditedSteps:
    """The gaps to use.

    The requested steps are kept if some chain reaches one of them, or none gets past the baseline. Otherwise the gaps
    are 5, 10 and 20 as far as chains go, or the middle and the last step of shorter chains.
    """
    settings, copies = data.settings, data.copies
    longest = int(copies["reach"].max() or 0) if copies.height else 0  # type: ignore[arg-type]
    asked = tuple(sorted(set(settings.gaps)))
    if longest <= settings.baseline or any(gap <= longest for gap in asked):
        return AuditedSteps(asked, chosen=False, longest=longest)
    usual = tuple(gap for gap in GAPS if settings.baseline < gap <= longest)
    if len(usual) >= 2:
        return AuditedSteps(usual, chosen=True, longest=longest)
    between = [at for at in _scored(data, longest) if settings.baseline < at < longest]
    halfway = (longest + 1) // 2
    middle = min(between, key=lambda at: (abs(at - halfway), at), default=None)
    gaps = (longest,) if middle is None else (middle, longest)
    return AuditedSteps(gaps, chosen=True, longest=longest)


def _scored(data: AuditData, longest: int) -> list[int]:
    """Steps at which a copy has a score; all steps where nothing is scored."""
    found = data.of(COPIES).filter(pl.col("raw").is_not_null())
    return found["at"].unique().sort().to_list() or list(range(longest + 1))
