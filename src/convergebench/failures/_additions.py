"""What each step of a chain put into the picture, and what has become of what earlier steps put there.

Every picture gets a register of the places that things were added at on the way to it. A step that adds something puts
its place on the register; a step whose change covers a place takes that off. Turning or mirroring empties the register,
as nobody is asked to do that between additions.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

import cv2
import numpy as np

from convergebench.failures._changes import Changes, Mask, Patch, changes
from convergebench.failures.base import ChainView
from convergebench.metrics.operations import is_geometric

Outcome = Literal["none", "one", "several", "unclear"]

COVERED = 0.8
"""Share of an earlier thing's place, less its rim, that must have changed if the thing is to count as gone."""
COMPARABLE = 0.4
"""Size of a patch, in sizes of the largest, from which on it counts as one more of the same."""
ALIKE = 18.0
"""ΔE between mean colours up to which two patches are of the same."""
LOBE = 0.8
"""Depth of a part, in depths of the deepest, that makes it a thing of its own where things touch."""

ROW = 3
"""Parts of like size from which on a patch is taken for things that touch; a chair has two, a seat and a back."""
LONG = 0.7
"""Length of such a row, in widths, for every part of it; parts around a gap in one thing do not make a row."""


class Place(NamedTuple):
    """Where a step added something."""

    step: int
    mask: Mask


class Addition(NamedTuple):
    """What a step that was to add one thing did."""

    step: int
    changes: Changes
    things: tuple[Mask, ...]
    """The new things: none, one, or several of a kind."""
    earlier: tuple[Place, ...]
    """What earlier steps had added to the picture it started from."""
    gone: tuple[tuple[Place, float], ...]
    """Those of them whose place has changed, each with the share of it that did."""

    @property
    def outcome(self) -> Outcome:
        """None, one or several things added; `unclear` where too much changed to tell."""
        if self.changes.blind:
            return "unclear"
        return ("none", "one", "several")[min(2, len(self.things))]


def additions(chain: ChainView) -> list[Addition]:
    """Every step that was to add something, in order; worked out once per chain."""
    memory: dict[str, list[Addition]] = vars(chain).setdefault("_memory_of_additions", {})
    if "found" not in memory:
        memory["found"] = _additions(chain)
    return memory["found"]


def _additions(chain: ChainView) -> list[Addition]:
    registers: dict[int, tuple[Place, ...]] = {0: ()}
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
            one = Addition(step.index, seen, things_of(seen.patches), earlier, gone)
            found.append(one)
            kept = (*kept, *(Place(step.index, _without(chain, step.index, mask, gone)) for mask in one.things))
        registers[step.index] = kept
    return found


def _gone(earlier: tuple[Place, ...], seen: Changes) -> tuple[tuple[Place, float], ...]:
    if not seen.patches:
        return ()
    changed = np.any([patch.mask for patch in seen.patches], axis=0)
    shares = [(place, float(changed[_core(place.mask)].mean())) for place in earlier if place.mask.any()]
    return tuple((place, share) for place, share in shares if share >= COVERED)


def _without(chain: ChainView, step: int, mask: Mask, gone: tuple[tuple[Place, float], ...]) -> Mask:
    """A new thing's place, less where the thing it replaced has merely gone and what lay behind it shows again."""
    for place, _ in gone:
        bare = chain.steps[place.step].parent
        since = changes(chain.frame(step), chain.frame(bare))
        there = np.any([on_grid(patch.mask, mask.shape) for patch in since.patches] or [mask], axis=0)
        mask = mask & there if (mask & there).any() else mask
    return mask


def _core(mask: Mask) -> Mask:
    """The mask without its outermost cells, which are half picture and half thing; all of it if it is that small."""
    core: Mask = cv2.erode(mask.astype(np.uint8), np.ones((3, 3), np.uint8)) > 0
    return core if core.any() else mask


def on_grid(mask: Mask, grid: tuple[int, int]) -> Mask:
    """A mask on a grid of another size."""
    if mask.shape == grid:
        return mask
    return np.asarray(cv2.resize(mask.astype(np.uint8), grid[::-1], interpolation=cv2.INTER_NEAREST) > 0, np.bool_)


def things_of(patches: tuple[Patch, ...]) -> tuple[Mask, ...]:
    """The largest patch, and others that are as large and of the same colour; patches of touching things are split."""
    if not patches:
        return ()
    parts = [part for patch in patches for part in _parts(patch)]
    largest = max(parts, key=lambda part: part.cells)
    alike = [
        part
        for part in parts
        if part.cells >= COMPARABLE * largest.cells and _far(part.colour, largest.colour) <= ALIKE
    ]
    return tuple(part.mask for part in sorted(alike, key=lambda part: -part.cells))


def _far(one: tuple[float, float, float], other: tuple[float, float, float]) -> float:
    return float(np.linalg.norm(np.subtract(one, other)))


def _parts(patch: Patch) -> list[Patch]:
    """The patch, or the row of things it consists of: places about as deep as the deepest, parted by necks."""
    padded = np.pad(patch.mask.astype(np.uint8), 1)
    depth = np.asarray(cv2.distanceTransform(padded, cv2.DIST_L2, 5))[1:-1, 1:-1]
    count, cores = cv2.connectedComponents((depth > LOBE * float(depth.max())).astype(np.uint8), connectivity=8)
    if count - 1 < ROW:
        return [patch]
    # every cell goes to the core it is nearest to
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
