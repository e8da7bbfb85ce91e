"""Objects that a step's picture lost or gained against the source, as the object detector of `vision` sees them.

A network that finds objects wavers: it misses a cup in one picture and finds it in the next, and takes a cat for a dog.
So an object counts as lost (or new) only if it is seen in the one picture, if the other has nothing at that place that
the network even suspects, and if the pixels at that place are others while the rest of the picture is still
recognised. What the instructions name is expected to change and is not judged while the edit is in force.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import NamedTuple

import cv2
import numpy as np
from numpy.typing import NDArray

from convergebench.failures._aligned_pair import AlignedPair, aligned_to_source
from convergebench.failures._asked_objects import asked_labels, category_of
from convergebench.failures.base import Box, ChainView
from convergebench.images.frame import Frame, Pixels
from convergebench.metrics._region import Mask

SURE = 0.3
"""Score from which on an object is seen. It is low, because the pixels must have changed as well: that alone keeps the
network's errors out."""
FAINT = 0.25
"""Score at which the network suspects an object; what is suspected is not gone."""
SAME_KIND, ANY_KIND = 0.3, 0.45
"""Overlap (intersection over union) with an object of a like kind, and of any kind, at which it is the same object."""
INSIDE, PART = 0.8, 0.25
"""Share of a box that lies in one of a like kind, and its area relative to that one, at which it is the same object."""
SAME_PLACE = 0.8
"""Correlation of the pixels at the object's place from which on nothing was removed or added there."""
REST = 0.6
"""Correlation of the rest of the picture below which it has fallen apart, and no single object can be called lost."""
OUTSIDE = 0.1
"""Least share of the picture outside an object's place for that rest to be compared."""
AREA, SIDE = 0.01, 0.06
"""Share of the picture, and of its sides, that an object must cover: the network is unsure of smaller ones."""
EDITED = 0.3
"""Share of an object's box that an asked edit must have changed to explain the object."""
CELLS = 24
"""Side, in cells, to which a place is averaged before it is compared."""


class SeenObject(NamedTuple):
    """One object: what it is, how sure the network is, and where, in shares of the picture."""

    label: str
    score: float
    box: Box


class ChangedObject(NamedTuple):
    """An object that only one of the two pictures shows; 1 or more of `strength` counts."""

    seen: SeenObject
    strength: float
    place: Box
    """Where, in the step's picture as returned."""
    rest: float
    """Correlation of the two pictures outside its place."""


@dataclass(frozen=True, slots=True)
class ObjectChanges:
    """What a step's picture lost and gained against the source."""

    lost: tuple[ChangedObject, ...]
    new: tuple[ChangedObject, ...]
    lost_open: bool
    """It cannot be told: the edit in force may have changed an object of the source, or the picture fell apart."""
    new_open: bool
    """It cannot be told: the edit in force may go by another name in the network, or the picture fell apart."""


def objects_in(frame: Frame) -> tuple[SeenObject, ...]:
    """Everything the network suspects in a picture, the surest first; cached."""
    return frame.derived("objects-seen", _detect)


def _detect(frame: Frame) -> tuple[SeenObject, ...]:
    from convergebench.vision.objects import detect_objects

    return tuple(
        SeenObject(
            one.label,
            one.score,
            Box(
                one.box.left / frame.width,
                one.box.top / frame.height,
                (one.box.right - one.box.left) / frame.width,
                (one.box.bottom - one.box.top) / frame.height,
            ),
        )
        for one in detect_objects(frame.pixels, threshold=FAINT)
    )


def object_changes(chain: ChainView, index: int) -> ObjectChanges | None:
    """The objects that a step lost and gained; None where the picture cannot be compared. Cached on the chain."""
    memory: dict[int, ObjectChanges | None] = vars(chain).setdefault("_object_changes_cache", {})
    if index not in memory:
        memory[index] = _object_changes(chain, index)
    return memory[index]


def _object_changes(chain: ChainView, index: int) -> ObjectChanges | None:
    pair = aligned_to_source(chain, index)
    if pair is None:
        return None
    before, after = objects_in(pair.source), objects_in(pair.step)
    expected = _Expected(chain, index, pair)
    lost, new = _only_in(before, after, pair), _only_in(after, before, pair)
    # a new object of the kind may stand where the old one was, so even a counterpart proves nothing
    lost_open = any(expected.is_open(one) for one in before if one.score >= SURE and _is_large(one))
    new_open = any(expected.is_open(one.seen) and not expected.is_named(one.seen) for one in new if one.strength >= 1)
    return ObjectChanges(
        tuple(one for one in lost if one.rest >= REST and not expected.is_open(one.seen)),
        tuple(
            one
            for one in new
            if one.rest >= REST and not expected.is_named(one.seen) and not expected.is_open(one.seen)
        ),
        lost_open or any(one.strength >= 1 and one.rest < REST for one in lost),
        new_open or any(one.strength >= 1 and one.rest < REST for one in new),
    )


class _Expected:
    """What the instructions so far explain."""

    def __init__(self, chain: ChainView, index: int, pair: AlignedPair) -> None:
        asking = [step for step in chain.steps[1 : index + 1] if step.operation in ("add", "remove", "change")]
        labels = {label for step in asking for label in asked_labels(step.instruction)}
        self._kinds = {category_of(label) for label in labels}
        self._in_force = chain.steps[index].compared == "around"
        asked = Counter(step.operation for step in asking)
        edits = max(1, abs(asked["add"] - asked["remove"]) + asked["change"])
        self._edited = _largest_parts(pair.changed, edits) if self._in_force else None

    def is_named(self, one: SeenObject) -> bool:
        """Whether an instruction so far names an object of this kind."""
        return category_of(one.label) in self._kinds

    def is_open(self, one: SeenObject) -> bool:
        """Whether an edit in force may explain the change; once it is undone, all of the source must be back."""
        return self._in_force and (self.is_named(one) or self._is_edited(one.box))

    def _is_edited(self, box: Box) -> bool:
        """Whether the box lies where the asked edits changed the picture most; what is put there may go by any name."""
        if self._edited is None:
            return False
        rows, columns = self._edited.shape
        top, left = int(box.y * rows), int(box.x * columns)
        bottom = max(top + 1, round((box.y + box.height) * rows))
        right = max(left + 1, round((box.x + box.width) * columns))
        return bool(self._edited[top:bottom, left:right].mean() > EDITED)


def _largest_parts(mask: Mask | None, count: int) -> Mask | None:
    """The mask's largest connected parts."""
    if mask is None:
        return None
    _, labels, facts, _ = cv2.connectedComponentsWithStats(mask.astype(np.uint8), connectivity=8)
    order = 1 + np.argsort(facts[1:, cv2.CC_STAT_AREA])[::-1][:count]
    return np.asarray(np.isin(labels, order), np.bool_)


def _only_in(some: tuple[SeenObject, ...], others: tuple[SeenObject, ...], pair: AlignedPair) -> list[ChangedObject]:
    """The objects of one picture that are large enough and have no counterpart in the other."""
    taken = _counterparts(some, others)
    found = [
        ChangedObject(
            *(one, min(one.score / SURE, _change_at(pair, one.box)), pair.as_returned(one.box)),
            rest=_likeness_outside(pair, one.box),
        )
        for place, one in enumerate(some)
        if place not in taken and _is_large(one)
    ]
    return sorted(found, key=lambda each: -each.strength)


def _change_at(pair: AlignedPair, box: Box) -> float:
    """How much the pixels of a place changed, in units of what counts."""
    return (1 - _likeness(pair.step, pair.source, box)) / (1 - SAME_PLACE)


def _counterparts(some: tuple[SeenObject, ...], others: tuple[SeenObject, ...]) -> set[int]:
    """Places in `some` of the objects that the other picture shows too; each object is the counterpart of one only."""
    fits = [(_overlap(one, other), a, b) for a, one in enumerate(some) for b, other in enumerate(others)]
    matched: dict[int, int] = {}
    for overlap, a, b in sorted(fits, reverse=True):
        if overlap > 0 and a not in matched and b not in matched.values() and _is_same(some[a], others[b]):
            matched[a] = b
    return set(matched)


def _is_large(one: SeenObject) -> bool:
    return one.box.width * one.box.height >= AREA and min(one.box.width, one.box.height) >= SIDE


def _is_same(one: SeenObject, other: SeenObject) -> bool:
    if category_of(one.label) != category_of(other.label):
        return _overlap(one, other) >= ANY_KIND
    smaller, larger = sorted((one.box.width * one.box.height, other.box.width * other.box.height))
    is_part = smaller >= PART * larger and _shared(one.box, other.box) >= INSIDE * smaller
    return is_part or _overlap(one, other) >= SAME_KIND


def _overlap(one: SeenObject, other: SeenObject) -> float:
    """Intersection over union."""
    shared = _shared(one.box, other.box)
    both = one.box.width * one.box.height + other.box.width * other.box.height - shared
    return shared / both if both > 0 else 0.0


def _shared(one: Box, other: Box) -> float:
    wide = min(one.x + one.width, other.x + other.width) - max(one.x, other.x)
    high = min(one.y + one.height, other.y + other.height) - max(one.y, other.y)
    return max(0.0, wide) * max(0.0, high)


def _likeness(step: Frame, source: Frame, box: Box) -> float:
    """Correlation of a place in the two pictures, averaged to a few cells; colours count, a common tint does not."""
    return _correlation(*(_cells(one.pixels, box).reshape(-1, 3) for one in (step, source)))


def _likeness_outside(pair: AlignedPair, box: Box) -> float:
    """The same for all that is outside the place; 0 where that is next to nothing."""
    places = (np.arange(CELLS) + 0.5) / CELLS
    across = (places >= box.x) & (places < box.x + box.width)
    down = (places >= box.y) & (places < box.y + box.height)
    outside = ~(down[:, None] & across[None, :])
    if outside.mean() < OUTSIDE:
        return 0.0
    return _correlation(*(_cells(one.pixels, Box(0, 0, 1, 1))[outside] for one in (pair.step, pair.source)))


Colours = NDArray[np.float32]
"""Cells × 3."""


def _correlation(one: Colours, other: Colours) -> float:
    x, y = one - one.mean(axis=0), other - other.mean(axis=0)
    spreads = float(np.sqrt(np.square(x).mean())), float(np.sqrt(np.square(y).mean()))
    if max(spreads) < 1.0:
        return 1.0
    if min(spreads) < 1e-3:
        return 0.0
    return float((x * y).mean()) / (spreads[0] * spreads[1])


def _cells(pixels: Pixels, box: Box) -> NDArray[np.float32]:
    height, width = pixels.shape[:2]
    left, top = int(box.x * width), int(box.y * height)
    right = max(left + 1, min(width, round((box.x + box.width) * width)))
    bottom = max(top + 1, min(height, round((box.y + box.height) * height)))
    part = cv2.resize(pixels[top:bottom, left:right], (CELLS, CELLS), interpolation=cv2.INTER_AREA)
    return np.asarray(part, np.float32)


class NewCount(NamedTuple):
    """How many objects of the asked kinds came: clearly seen, and suspected (these among them)."""

    sure: int
    suspected: int


def count_new(after: Frame, before: Frame, labels: frozenset[str]) -> NewCount:
    """The objects of these kinds that one picture shows where the one before shows nothing alike."""
    kinds = {category_of(label) for label in labels}
    now = tuple(one for one in objects_in(after) if category_of(one.label) in kinds)
    known = _counterparts(now, objects_in(before))
    new = [one for place, one in enumerate(now) if place not in known]
    return NewCount(sum(one.score >= SURE for one in new), len(new))
