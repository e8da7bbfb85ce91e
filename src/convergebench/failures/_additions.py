"""What each step of a chain added to the picture, and which earlier additions it removed.

Every picture has a register of the places where earlier steps added things. A step that adds something enters its
place; a step whose change covers a place removes that entry. Mirroring or rotating empties the register: no study
requests that between additions.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

import cv2
import numpy as np

from convergebench.errors import Prerequisite
from convergebench.failures._asked_objects import asked_labels
from convergebench.failures._changes import Changes, Mask, Patch, changes
from convergebench.failures._objects import NewCount, count_new
from convergebench.failures.base import ChainView, StepView
from convergebench.metrics.operations import is_geometric

Outcome = Literal["none", "one", "several", "unclear"]

COVERED = 0.8
"""Share of an earlier thing's place, less its rim, that must have changed for the thing to count as gone."""
COMPARABLE = 0.4
"""Least size of a patch, relative to the largest, to count as one more of the same."""
ALIKE = 18.0
"""Largest ΔE between the mean colours of two patches of the same kind."""
LOBE = 0.8
"""Least depth of a part, relative to the deepest, to count as a separate thing where things touch."""

ROW = 3
"""Fewest similar parts for a patch to count as things that touch; a chair has two, a seat and a back."""
LONG = 0.7
"""Least length of such a row, in widths per part; parts around a gap in one thing do not form a row."""


class AdditionArea(NamedTuple):
    """The place where a step added something."""

    step: int
    mask: Mask


class Addition(NamedTuple):
    """The result of a step that was requested to add one thing."""

    step: int
    changes: Changes
    things: tuple[Mask, ...]
    """The new things: none, one, or several of a kind."""
    earlier: tuple[AdditionArea, ...]
    """Places of earlier additions in the picture it started from."""
    gone: tuple[tuple[AdditionArea, float], ...]
    """The earlier additions that were removed, each with the share of its place that changed."""
    seen: NewCount | None = None
    """What the object detector counts; None where the patches are clear, or it does not know what was asked for."""

    @property
    def outcome(self) -> Outcome:
        """How many things were added; `unclear` where too much changed to tell."""
        if self.seen is not None and self.seen.sure >= 2:
            return "several"
        if self.seen is not None and self.seen == (1, 1):
            return "one"
        if self.changes.inconclusive:
            return "unclear"
        return ("none", "one", "several")[min(2, len(self.things))]

    @property
    def number(self) -> int:
        """How many things were added, by the object detector where it counts more, else by the patches."""
        return max(len(self.things), 0 if self.seen is None else self.seen.sure)


def additions(chain: ChainView) -> list[Addition]:
    """Every step that was requested to add something, in order; cached on the chain."""
    memory: dict[str, list[Addition]] = vars(chain).setdefault("_additions_cache", {})
    if "found" not in memory:
        memory["found"] = _additions(chain)
    return memory["found"]


def _additions(chain: ChainView) -> list[Addition]:
    registers: dict[int, tuple[AdditionArea, ...]] = {0: ()}
    found: list[Addition] = []
    for step in chain.steps[1:]:
        earlier = registers.get(step.parent, ())
        if is_geometric(step.operation):
            registers[step.index] = ()
            continue
        if step.operation != "add" and not earlier:
            registers[step.index] = ()
            continue
        seen = changes(chain.frame(step.index), chain.frame(step.parent))
        earlier = tuple(place._replace(mask=on_grid(place.mask, seen.grid)) for place in earlier)
        gone = _gone(earlier, seen)
        kept = tuple(place for place in earlier if all(place is not lost for lost, _ in gone))
        if step.operation == "add":
            one = Addition(step.index, seen, new_things(seen.patches), earlier, gone)
            if one.outcome != "one":
                one = one._replace(seen=_counted(chain, step))
            found.append(one)
            kept = (*kept, *(AdditionArea(step.index, _visible(chain, step.index, mask, gone)) for mask in one.things))
        registers[step.index] = kept
    return found


def _counted(chain: ChainView, step: StepView) -> NewCount | None:
    """What the object detector makes of the step, where it knows the thing that was asked for."""
    labels = asked_labels(step.instruction)
    if not labels:
        return None
    try:
        return count_new(chain.frame(step.index), chain.frame(step.parent), labels)
    except Prerequisite:
        return None


def _gone(earlier: tuple[AdditionArea, ...], seen: Changes) -> tuple[tuple[AdditionArea, float], ...]:
    if not seen.patches:
        return ()
    changed = np.any([patch.mask for patch in seen.patches], axis=0)
    shares = [(place, float(changed[_core(place.mask)].mean())) for place in earlier if place.mask.any()]
    return tuple((place, share) for place, share in shares if share >= COVERED)


def _visible(chain: ChainView, step: int, mask: Mask, gone: tuple[tuple[AdditionArea, float], ...]) -> Mask:
    """A new thing's place without the cells where a removed thing only uncovered what was behind it."""
    for place, _ in gone:
        bare = chain.steps[place.step].parent
        since = changes(chain.frame(step), chain.frame(bare))
        there = np.any([on_grid(patch.mask, mask.shape) for patch in since.patches] or [mask], axis=0)
        mask = mask & there if (mask & there).any() else mask
    return mask


def _core(mask: Mask) -> Mask:
    """The mask without its rim, whose cells mix thing and background; the whole mask if nothing would be left."""
    core: Mask = cv2.erode(mask.astype(np.uint8), np.ones((3, 3), np.uint8)) > 0
    return core if core.any() else mask


def on_grid(mask: Mask, grid: tuple[int, int]) -> Mask:
    """The mask resampled to another grid."""
    if mask.shape == grid:
        return mask
    return np.asarray(cv2.resize(mask.astype(np.uint8), grid[::-1], interpolation=cv2.INTER_NEAREST) > 0, np.bool_)


def new_things(patches: tuple[Patch, ...]) -> tuple[Mask, ...]:
    """The largest patch and those of similar size and colour; patches of touching things are split."""
    if not patches:
        return ()
    parts = [part for patch in patches for part in _parts(patch)]
    largest = max(parts, key=lambda part: part.cells)
    alike = [
        part
        for part in parts
        if part.cells >= COMPARABLE * largest.cells and _colour_distance(part.colour, largest.colour) <= ALIKE
    ]
    return tuple(part.mask for part in sorted(alike, key=lambda part: -part.cells))


def _colour_distance(one: tuple[float, float, float], other: tuple[float, float, float]) -> float:
    return float(np.linalg.norm(np.subtract(one, other)))


def _parts(patch: Patch) -> list[Patch]:
    """The patch, or the touching things it consists of: parts of similar depth, separated by necks."""
    padded = np.pad(patch.mask.astype(np.uint8), 1)
    depth = np.asarray(cv2.distanceTransform(padded, cv2.DIST_L2, 5))[1:-1, 1:-1]
    count, cores = cv2.connectedComponents((depth > LOBE * float(depth.max())).astype(np.uint8), connectivity=8)
    if count - 1 < ROW:
        return [patch]
    # every cell belongs to the nearest core
    away = [
        np.asarray(cv2.distanceTransform((cores != core).astype(np.uint8), cv2.DIST_L2, 5)) for core in range(1, count)
    ]
    nearest = np.argmin(away, axis=0)
    parts = [patch._replace(mask=patch.mask & (nearest == core)) for core in range(count - 1)]
    largest = max(part.cells for part in parts)
    alike = sum(part.cells >= COMPARABLE * largest for part in parts)
    return parts if alike >= ROW and _elongation(patch.mask) >= LONG * alike else [patch]


def _elongation(mask: Mask) -> float:
    """Length over width of the narrowest rectangle around a mask."""
    rows, columns = np.nonzero(mask)
    _, sides, _ = cv2.minAreaRect(np.stack([columns, rows], axis=1).astype(np.float32))
    return (max(sides) + 1) / (min(sides) + 1)
