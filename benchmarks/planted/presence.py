"""Objects that vanish or appear: taken out of a photograph by inpainting, or cut out of another and put in.

Pictures in which the object detector sees an object (one that it does not see cannot be taken out either) give a chain
in which it vanishes, and one in which an instruction asks for that. Others give a chain in which something appears, the
same where it is asked for, and two chains that are only worn, cropped or drawn anew. Truths are steps 1 or 2 of four.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache, partial
from itertools import islice
from typing import NamedTuple

import cv2
import numpy as np
from numpy.typing import NDArray

from benchmarks.planted import Planted
from benchmarks.planted._damage import compressed
from benchmarks.planted._pictures import Picture, pictures
from benchmarks.planted._things import redrawn
from convergebench.failures.base import ChainView, Compared, StepView
from convergebench.images.frame import Frame, Pixels
from convergebench.types import Operation
from convergebench.vision.inpainting import fill
from convergebench.vision.masks import object_mask
from convergebench.vision.objects import DetectedObject, detect_objects

MODES = ("lost-object", "new-object")
STEPS = 4
SEEN = 0.3
"""Score from which on an object is taken out; lower than the detectors' own threshold, so that they can miss it."""
SMALLEST, LARGEST = 0.015, 0.6
"""Share of the picture that a vanishing object covers."""
COVERED, VISIBLY = 0.25, 10.0
"""Share of its box that the mask must cover, and mean change there in levels, for the object to be gone."""
DONORS = 12
Mask = NDArray[np.bool_]
Wear = Callable[[Pixels], Pixels]


class CutOut(NamedTuple):
    """An object cut out of a photograph."""

    label: str
    pixels: Pixels
    mask: Mask


def planted(limit: int, seed: int, half: str = "test") -> Iterator[Planted]:
    """`limit` pictures of a half that lose an object, and the first `limit` that gain one or are only worn."""
    every = pictures(200, half)
    losing = islice((one for one in every if _largest(one) is not None), limit)
    for number, picture in enumerate(losing):
        yield from _vanishing(_Chains(picture, number, seed), np.random.default_rng([seed, number]))
    for number, picture in enumerate(every[:limit]):
        make = _Chains(picture, number, seed)
        yield from _appearing(make, np.random.default_rng([seed, number, 1]), half)
        yield from _worn(make)


def _wears(seed: int) -> dict[str, Wear]:
    return {
        "plain": lambda pixels: pixels,
        "jpeg": lambda pixels: compressed(pixels, 40),
        "noise": lambda pixels: _whole(pixels + np.random.default_rng(seed).normal(0, 8, pixels.shape)),
        "redrawn": redrawn(lambda pixels: pixels, seed),
        "blur": lambda pixels: np.asarray(cv2.GaussianBlur(pixels, (0, 0), 1.5), np.uint8),
        "cropped": lambda pixels: np.ascontiguousarray(pixels[round(0.05 * len(pixels)) :]),
        "tint": lambda pixels: _whole(pixels * np.array([0.9, 1.02, 0.88])),
    }


def _whole(values: NDArray[np.floating]) -> Pixels:
    return np.asarray(np.clip(np.rint(values), 0, 255), np.uint8)


class _Chains:
    """Chains of one picture; its source is one frame for all of them, so that it is looked at once."""

    def __init__(self, picture: Picture, number: int, seed: int) -> None:
        self.picture = picture
        self.number = number
        self.source = Frame(np.ascontiguousarray(picture.pixels))
        self.wears = _wears(seed + number)

    def wear(self, turn: int) -> tuple[str, Wear]:
        return list(self.wears.items())[(self.number + turn) % len(self.wears)]

    def chain(
        self,
        name: str,
        before: Pixels,
        after: Pixels,
        truth: int,
        *,
        words: str = "",
        operation: Operation | None = None,
        compared: Compared = "whole",
    ) -> ChainView:
        """Four steps that show `before` until `truth` and `after` from then on."""
        early, late = Frame(before), Frame(after)
        steps = [StepView(0, lambda: self.source)]
        for index in range(1, STEPS + 1):
            asked = operation if index == truth else None
            load = partial(_same, late if index >= truth else early)
            now: Compared = compared if index >= truth else "whole"
            steps.append(StepView(index, load, words if asked else "", asked, compared=now, parent=index - 1))
        return ChainView("planted", name, self.picture.name, "replicate", "replication", steps)


def _same(frame: Frame) -> Frame:
    return frame


def _vanishing(make: _Chains, chance: np.random.Generator) -> Iterator[Planted]:
    seen = _largest(make.picture)
    if seen is None:
        return
    bare = _without(make.picture, seen)
    if bare is None:
        return
    for turn, asked in enumerate((False, True)):
        wear, worn = make.wear(turn)
        truth = int(chance.integers(1, 3))
        name = f"{'asked-removal' if asked else 'lost-object'}/{wear}/{seen.label}/{make.picture.name}"
        chain = make.chain(
            *(name, worn(make.picture.pixels), worn(bare), truth),
            words=f"Remove the {seen.label}." if asked else "",
            operation="remove" if asked else "replicate",
            compared="around" if asked else "whole",
        )
        mode = "clean" if asked else "lost-object"
        # what the inpainting leaves behind may look like something else
        also: frozenset[str] = frozenset() if asked else frozenset({"new-object"})
        yield Planted(name, mode, chain, None if asked else truth, _strength(seen), also, make.picture.split)


def _strength(seen: DetectedObject) -> str:
    """How plainly the network sees it: what it hardly sees is the subtle case."""
    return "subtle" if seen.score < 0.4 else "clear" if seen.score < 0.55 else "strong"


def _appearing(make: _Chains, chance: np.random.Generator, half: str) -> Iterator[Planted]:
    donors = [one for one in _donors(half) if one.name != make.picture.name]
    if not donors:
        return
    donor = donors[int(chance.integers(len(donors)))]
    thing = donor.thing
    spot = float(chance.uniform(0.25, 0.75)), float(chance.uniform(0.45, 0.75))
    put = pasted(make.picture.pixels, thing, spot, float(chance.uniform(0.3, 0.5)))
    for turn, asked in enumerate((False, True), start=2):
        wear, worn = make.wear(turn)
        truth = int(chance.integers(1, 3))
        name = f"{'asked-addition' if asked else 'new-object'}/{wear}/{thing.label}/{make.picture.name}"
        chain = make.chain(
            *(name, worn(make.picture.pixels), worn(put), truth),
            words=f"Add a {thing.label}." if asked else "",
            operation="add" if asked else "replicate",
            compared="around" if asked else "whole",
        )
        mode = "clean" if asked else "new-object"
        # what is put in may hide what was there
        also = frozenset() if asked else frozenset({"lost-object"})
        yield Planted(name, mode, chain, None if asked else truth, "", also, make.picture.split)


def _worn(make: _Chains) -> Iterator[Planted]:
    for turn in (4, 5):
        wear, worn = make.wear(turn)
        name = f"clean/{wear}/{make.picture.name}"
        after = worn(make.picture.pixels)
        yield Planted(name, "clean", make.chain(name, after, after, 1), None, split=make.picture.split)


@cache
def _seen(picture: Picture) -> list[DetectedObject]:
    return detect_objects(np.ascontiguousarray(picture.pixels), threshold=SEEN)


def _largest(picture: Picture) -> DetectedObject | None:
    whole = picture.pixels.shape[0] * picture.pixels.shape[1]
    # of several objects of one kind it cannot be told which one went
    labels = [one.label for one in _seen(picture)]
    fitting = [
        one for one in _seen(picture) if SMALLEST <= one.box.area / whole <= LARGEST and labels.count(one.label) <= 2
    ]
    return max(fitting, key=lambda one: one.box.area, default=None)


def _without(picture: Picture, seen: DetectedObject) -> Pixels | None:
    """The picture with the object inpainted; None where its mask missed it, so that nothing went."""
    pixels = np.ascontiguousarray(picture.pixels)
    mask = object_mask(pixels, seen.box)
    wider = cv2.dilate(mask.astype(np.uint8), cv2.getStructuringElement(cv2.MORPH_ELLIPSE, (13, 13))) > 0
    bare = fill(pixels, np.asarray(wider, np.bool_))
    there = np.s_[seen.box.top : seen.box.bottom, seen.box.left : seen.box.right]
    change = np.abs(bare[there].astype(np.int16) - pixels[there]).mean()
    return bare if mask[there].mean() >= COVERED and change >= VISIBLY else None


class _Donor(NamedTuple):
    name: str
    thing: CutOut


@cache
def _donors(half: str) -> tuple[_Donor, ...]:
    """Objects that can be cut out of pictures of a half: clearly seen, neither tiny nor all of the picture."""
    found = []
    for picture in pictures(DONORS, half):
        whole = picture.pixels.shape[0] * picture.pixels.shape[1]
        for one in _seen(picture):
            if one.score >= 0.5 and 0.04 <= one.box.area / whole <= 0.7:
                pixels = np.ascontiguousarray(picture.pixels)
                mask = object_mask(pixels, one.box)
                there = np.s_[one.box.top : one.box.bottom, one.box.left : one.box.right]
                found.append(_Donor(picture.name, CutOut(one.label, pixels[there], mask[there])))
                break
    return tuple(found)


def pasted(pixels: Pixels, thing: CutOut, spot: tuple[float, float], share: float) -> Pixels:
    """The thing with its middle at the spot, its longer side a share of the picture's shorter one, softly edged."""
    height, width = pixels.shape[:2]
    factor = share * min(height, width) / max(thing.mask.shape)
    size = max(8, round(thing.mask.shape[1] * factor)), max(8, round(thing.mask.shape[0] * factor))
    small = np.asarray(cv2.resize(thing.pixels, size, interpolation=cv2.INTER_AREA), np.float32)
    cover = cv2.resize(thing.mask.astype(np.float32), size, interpolation=cv2.INTER_AREA)
    soft = np.asarray(cv2.GaussianBlur(cover, (0, 0), 1.0), np.float32)[..., None]
    left = int(np.clip(spot[0] * width - size[0] / 2, 0, width - size[0]))
    top = int(np.clip(spot[1] * height - size[1] / 2, 0, height - size[1]))
    out = pixels.astype(np.float32)
    there = np.s_[top : top + size[1], left : left + size[0]]
    out[there] += (small - out[there]) * soft
    return _whole(out)
