"""Counts, lists, shares and intervals as text, for every sentence of a finding."""

from __future__ import annotations

from collections.abc import Sequence


def counted(number: int, noun: str) -> str:
    """`1 case`, `2 cases`."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def listed(names: Sequence[str], most: int = 3) -> str:
    """`a`, `a and b`, `a, b and c`, `a, b and 4 others`; nothing for no name."""
    if len(names) > most:
        names = [*names[: most - 1], counted(len(names) - most + 1, "other")]
    return f"{', '.join(names[:-1])} and {names[-1]}" if len(names) > 1 else "".join(names)


def percent(share: float | None) -> str:
    """`56%`; shares that are not 0 or 1 are never printed as if they were."""
    if share is None:
        return "unknown"
    if 0 < share < 0.005:
        return "under 1%"
    if 0.995 <= share < 1:
        return "over 99%"
    return f"{100 * share:.0f}%"


def span(low: float, high: float, digits: int = 1, *, dash: bool = True) -> str:
    """`4.1–5.2`, or `−0.3 to 5.2` without `dash` and for negative numbers, whose sign would hide in it."""
    joint = "–" if dash and low >= 0 and high >= 0 else " to "
    return f"{low:.{digits}f}{joint}{high:.{digits}f}".replace("-", "−")


def interval(low: float | None, high: float | None, confidence: float, digits: int = 1, *, dash: bool = True) -> str:
    """` (95%: 4.1–5.2)`, or nothing when there is no interval."""
    if low is None or high is None:
        return ""
    return f" ({100 * confidence:.3g}%: {span(low, high, digits, dash=dash)})"


def share_interval(low: float | None, high: float | None, confidence: float) -> str:
    """` (95%: 40–70%)`, or nothing when there is no interval."""
    if low is None or high is None:
        return ""
    return f" ({100 * confidence:.3g}%: {100 * low:.0f}–{100 * high:.0f}%)"
