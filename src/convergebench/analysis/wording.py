"""Counts, lists and intervals in words, for every sentence of a finding."""

from __future__ import annotations


def counted(number: int, noun: str) -> str:
    """`1 case`, `2 cases`."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def listed(names: list[str], most: int = 3) -> str:
    """`a`, `a and b`, `a, b and c`, `a, b and 4 others`."""
    if len(names) > most:
        names = [*names[: most - 1], counted(len(names) - most + 1, "other")]
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def span(low: float, high: float, digits: int = 1) -> str:
    """`4.1–5.2`, or `−0.3 to 5.2` where a sign would hide in the dash."""
    joint = "–" if low >= 0 and high >= 0 else " to "
    return f"{low:.{digits}f}{joint}{high:.{digits}f}".replace("-", "−")


def interval(low: float | None, high: float | None, confidence: float, digits: int = 1) -> str:
    """` (95%: 4.1–5.2)`, or nothing when there is no interval."""
    if low is None or high is None:
        return ""
    return f" ({100 * confidence:.3g}%: {span(low, high, digits)})"
