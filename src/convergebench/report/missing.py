"""How many values are missing and why, in words."""

from __future__ import annotations

import polars as pl

from convergebench.report.wording import count, grouped


def missing_reasons(measurements: pl.DataFrame) -> list[tuple[str, int]]:
    """(status, how many) of the rows without a value, most frequent first."""
    if measurements.height == 0:
        return []
    counted = measurements.filter(pl.col("value").is_null()).group_by("status").len().sort("len", "status")
    return [(str(status), int(amount)) for status, amount in counted.rows()[::-1]]


def missing_text(measurements: pl.DataFrame) -> str:
    """`1 value missing: size`, `5 values missing: 3 size, 2 unreadable`; nothing if none is missing."""
    reasons = missing_reasons(measurements)
    if not reasons:
        return ""
    listed = ", ".join(f"{grouped(amount)} {status}" for status, amount in reasons)
    why = reasons[0][0] if len(reasons) == 1 else listed
    return f"{count(sum(amount for _, amount in reasons), 'value')} missing: {why}"
