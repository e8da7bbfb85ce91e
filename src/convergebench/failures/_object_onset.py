"""The step from which on an object is lost or new, for the two detectors that look for it."""

from __future__ import annotations

from typing import Literal

from convergebench.errors import Prerequisite
from convergebench.failures._objects import ChangedObject, object_changes, objects_in
from convergebench.failures._onset import StepScore, find_onset
from convergebench.failures.base import ChainView, Examination, cannot_tell

Change = Literal["lost", "new"]


def find_object_change(chain: ChainView, change: Change) -> Examination:
    """Where objects are first lost or new; `cannot_tell` where the network's weights are missing."""
    try:
        objects_in(chain.frame(0))
        return find_onset(chain, lambda index: _measure(chain, index, change))
    except Prerequisite as missing:
        return cannot_tell(str(missing), retry=True)


def _measure(chain: ChainView, index: int, change: Change) -> StepScore | None:
    found = object_changes(chain, index)
    if found is None:
        return None
    candidates = found.lost if change == "lost" else found.new
    if not any(one.strength >= 1 for one in candidates) and (found.lost_open if change == "lost" else found.new_open):
        return None
    counted = [one for one in candidates if one.strength >= 1]
    best = candidates[0] if candidates else None
    numbers = {f"objects-{change}": float(len(counted))}
    if best is None:
        return StepScore(0.0, numbers)
    return StepScore(max(0.0, best.strength), numbers, _detail(counted or [best], change), best.place)


def _detail(objects: list[ChangedObject], change: Change) -> str:
    named = ", ".join(f"{one.seen.label} (score {one.seen.score:.2f})" for one in objects[:4])
    if change == "lost":
        return f"seen in the source and not here: {named}"
    return f"seen here and not in the source: {named}"
