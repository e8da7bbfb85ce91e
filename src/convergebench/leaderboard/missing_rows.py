"""Measurements that a complete run has and these tables lack."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from convergebench.kinds import measured_as
from convergebench.leaderboard.layout import Tables
from convergebench.measuring.batches import roles_filled
from convergebench.metrics import load_metric


def missing_measurements(metrics: Iterable[str], tables: Tables) -> list[tuple[str, int]]:
    """(metric, number of its missing rows), most first; a row without a value is there and says why."""
    filled: dict[str, list[str]] = {}
    for name in metrics:
        for role in roles_filled(load_metric(name).facts):
            filled.setdefault(role, []).append(name)
    known = {(row["comparison"], row["metric"]) for row in tables["measurements"]}
    lacking: Counter[str] = Counter()
    for row in tables["comparisons"]:
        role = measured_as(row["role"], has_reference=row["reference"] is not None)
        lacking.update(name for name in filled.get(role, ()) if (row["id"], name) not in known)
    return lacking.most_common()
