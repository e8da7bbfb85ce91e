"""Merging two study files of one run into the most that was ever requested.

A command that asks for less (fewer rounds, replicates, images, metrics, editors) removes nothing. Amounts keep the
larger number and lists keep every entry, so that the manifest never says less than the run holds. Everything else, such
as the constants of the analysis, takes the latest value.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

AMOUNTS = ("rounds", "steps", "replicates", "runs", "wordings")
"""Keys whose number only grows."""
LISTS = ("kinds", "pairs", "metrics", "detectors", "sessions")
"""Keys of lists that only grow."""
EMPTY_IS_ALL = ("sessions",)

Spec = Mapping[str, Any]


def merge_specs(before: Spec, now: Spec) -> dict[str, Any]:
    """The study of a run that was requested as `before` and then as `now`."""
    if not before or not now:
        return dict(now or before)
    merged = _table(before, now)
    if "editors" in now:
        merged["editors"] = _by_name(before.get("editors") or (), now["editors"])
    if "images" in now:
        merged["images"] = {**merged["images"], "limit": _limit(before.get("images", {}), now["images"])}
    return merged


def kept_amounts(now: Spec, whole: Spec) -> list[str]:
    """What the run has more of than this command asks for: `8 rounds (asked for 3)`."""
    lines = []
    for table in (str(now.get("study")), "edits"):
        for key in AMOUNTS:
            asked, has = (one.get(table, {}).get(key) for one in (now, whole))
            if asked is not None and has is not None and asked < has:
                lines.append(f"{has} {key} (asked for {asked})")
    asked, has = (one.get("images", {}).get("limit", 0) for one in (now, whole))
    if asked != has:
        lines.append(f"{'all' if not has else f'up to {has}'} images (asked for {asked})")
    return lines


def _table(before: Spec, now: Spec) -> dict[str, Any]:
    merged = dict(now)
    for key, value in now.items():
        old = before.get(key)
        if isinstance(value, Mapping) and isinstance(old, Mapping):
            merged[key] = {**old, **value} if key == "roles" else _table(old, value)
        elif key in AMOUNTS and key in before:
            merged[key] = None if None in (old, value) else max(old, value)  # None: as many as the whole study
        elif key in LISTS and isinstance(old, Sequence) and not isinstance(old, str):
            merged[key] = [] if key in EMPTY_IS_ALL and not (old and value) else _every(old, value)
        elif key == "grid" and isinstance(old, Sequence):
            merged[key] = _grid(old, value)
    return merged


def _every(old: Sequence[Any], new: Sequence[Any]) -> list[Any]:
    return [*old, *(entry for entry in new if entry not in old)]


def _grid(old: Sequence[Spec], new: Sequence[Spec]) -> list[Spec]:
    """Rows that differ only in amounts are one row."""
    rows = [dict(row) for row in old]
    for row in new:
        same = next((one for one in rows if _without_amounts(one) == _without_amounts(row)), None)
        if same is None:
            rows.append(dict(row))
        else:
            same.update(_table(same, row))
    return list(rows)


def _without_amounts(row: Spec) -> dict[str, Any]:
    return {key: value for key, value in row.items() if key not in AMOUNTS}


def _by_name(old: Sequence[Spec], new: Sequence[Spec]) -> list[Spec]:
    names = {entry["name"]: entry for entry in (*old, *new)}
    return list(names.values())


def _limit(old: Spec, new: Spec) -> int:
    """The larger limit (0: none); that of another suite is replaced."""
    before, now = int(old.get("limit", 0)), int(new.get("limit", 0))
    if old.get("suite") != new.get("suite"):
        return now
    return 0 if not (before and now) else max(before, now)
