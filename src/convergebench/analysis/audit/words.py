"""Numbers as they stand in the audit's sentences."""

from __future__ import annotations

from convergebench.analysis.wording import counted, listed

__all__ = ["counted", "ends", "listed", "percent"]


def percent(share: float | None) -> str:
    """`56%`; shares that are not 0 or 1 are never printed as if they were."""
    if share is None:
        return "unknown"
    if 0 < share < 0.005:
        return "under 1%"
    if 0.995 <= share < 1:
        return "over 99%"
    return f"{100 * share:.0f}%"


def ends(low: float | None, high: float | None, confidence: float, *, digits: int = 0, share: bool = False) -> str:
    """` (95%: 40–70%)`, or nothing where there is no interval."""
    if low is None or high is None:
        return ""
    if share:
        return f" ({100 * confidence:.3g}%: {100 * low:.0f}–{100 * high:.0f}%)"
    told = f" ({100 * confidence:.3g}%: {low:.{digits}f} to {high:.{digits}f})"
    return told.replace("-", "−")
