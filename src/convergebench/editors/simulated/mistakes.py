"""Mistakes that an editor makes while it believes to have done what was asked, each off unless its option says so.

Steps are counted by the picture itself (`Layered.steps`), from 1, so the step at which a mistake happens is known in
advance whatever the seed. Only mirroring and turning fail by chance.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace

import cv2
import numpy as np

from convergebench.editors.simulated.carry_out import Done, carry_out, lift
from convergebench.editors.simulated.geometry import move
from convergebench.editors.simulated.instruction import GEOMETRY, Geometry, Intent
from convergebench.editors.simulated.layers import Layer, Layered, new_layer
from convergebench.editors.simulated.options import Number, Option, Value
from convergebench.editors.simulated.pixels import Pixels, pixels_of
from convergebench.editors.simulated.placement import Placed, composite, coverage, place

_STEP = Number(0, 0, 100_000, whole=True)

OPTIONS: dict[str, Option] = {
    "skip_from": _STEP,
    "skip_for": Number(3, 1, 100_000, whole=True),
    "row_at": _STEP,
    "row_of": Number(4, 2, 20, whole=True),
    "replace_every": _STEP,
    "unturned": Number(0.0, 0, 1),
    "wrong_turn": Number(0.0, 0, 1),
    "colour_rest": Number(0.0, 0, 1),
    "duplicate_at": _STEP,
}
"""Every mistake, switched off."""


@dataclass(frozen=True, slots=True)
class Mistakes:
    """Which mistakes are made, and when; 0 is never."""

    skip_from: int = 0
    """First step whose addition is left out."""
    skip_for: int = 3
    """How many steps in a row are left out."""
    row_at: int = 0
    """The step that adds a whole row at once."""
    row_of: int = 4
    """How many things that row has."""
    replace_every: int = 0
    """Every so many steps the new thing takes the place of one added earlier, if there is one."""
    unturned: float = 0.0
    """Share of mirrorings and turns that are not done."""
    wrong_turn: float = 0.0
    """Share of mirrorings and turns, of those that are done, that go the other way."""
    colour_rest: float = 0.0
    """Share of its colour that a picture keeps when it should become monochrome."""
    duplicate_at: int = 0
    """The step at which a part of the right half turns up in the left half as well."""

    @property
    def random(self) -> bool:
        """Whether the seed decides about some of them."""
        return self.unturned > 0 or self.wrong_turn > 0


def read_mistakes(options: Mapping[str, Value]) -> Mistakes:
    """The mistakes among an editor's options; what is not named there is off."""
    return Mistakes(**{one.name: options[one.name] for one in fields(Mistakes) if one.name in options})  # type: ignore[arg-type]


@dataclass(frozen=True, slots=True)
class Chances:
    """Numbers in [0, 1) that the seed of a request draws."""

    unturned: float
    wrong_turn: float
    which: float


def carry_out_with(mistakes: Mistakes, picture: Layered, intent: Intent, *, remember: bool, chances: Chances) -> Done:
    """What was asked, less the mistakes that fall due; the account is always that of doing it well."""
    step = (picture.steps or 0) + 1
    done = carry_out(picture, intent, remember=remember)
    if intent.action == "add" and done.did:
        done = done._replace(picture=_added(mistakes, picture, intent, done, remember=remember, chances=chances))
    elif intent.action in GEOMETRY:
        done = done._replace(picture=_turned(mistakes, picture, intent.action, done, chances))
    elif intent.action == "grey" and mistakes.colour_rest > 0:
        rest = mistakes.colour_rest
        mixed = cv2.addWeighted(picture.pixels, rest, done.picture.pixels, 1 - rest, 0)
        done = done._replace(picture=replace(done.picture, pixels=pixels_of(mixed)))
    if step == mistakes.duplicate_at:
        done = done._replace(picture=replace(done.picture, pixels=duplicated(done.picture.pixels)))
    return done


def _added(
    mistakes: Mistakes, picture: Layered, intent: Intent, done: Done, *, remember: bool, chances: Chances
) -> Layered:
    step = (picture.steps or 0) + 1
    if mistakes.skip_from and 0 <= step - mistakes.skip_from < mistakes.skip_for:
        return picture
    if step == mistakes.row_at:
        return _row(picture, intent, mistakes.row_of, remember=remember)
    earlier = [layer for layer in picture.layers if layer.tag.startswith("add:")]
    if mistakes.replace_every and step % mistakes.replace_every == 0 and earlier:
        return _replaced(picture, intent, earlier[int(chances.which * len(earlier))], remember=remember)
    return done.picture


def _row(picture: Layered, intent: Intent, count: int, *, remember: bool) -> Layered:
    """Several of a thing side by side, across the width, as high as one of them would lie."""
    one = place(picture.pixels, intent, already=picture.added, face=picture.face)
    wide = one.sprite.shape[1]
    room = picture.pixels.shape[1] / count
    for number in range(count):
        placed = Placed(one.sprite, round((number + 0.5) * room - wide / 2), one.top)
        picture = _laid(picture, intent, placed, remember=remember)
    return replace(picture, added=picture.added + count)


def _replaced(picture: Layered, intent: Intent, old: Layer, *, remember: bool) -> Layered:
    left, top, across, down = old.box
    bare = lift(picture, old)
    drawn = place(bare.pixels, intent, already=picture.added, face=picture.face).sprite
    high, wide = drawn.shape[:2]
    # on the same ground as the old one
    placed = Placed(drawn, round(left + across / 2 - wide / 2), round(top + down - high))
    return _laid(bare, intent, placed, remember=remember)


def _laid(picture: Layered, intent: Intent, placed: Placed, *, remember: bool) -> Layered:
    after = composite(picture.pixels, placed)
    layer = new_layer(f"add:{intent.thing}", coverage(after.shape, placed), colour=intent.colour)
    return picture.put(after, layer, remember=remember)


_OTHER_WAY: dict[Geometry, Geometry] = {
    "flip-horizontal": "flip-vertical",
    "flip-vertical": "flip-horizontal",
    "rotate-90": "rotate-270",
    "rotate-270": "rotate-90",
    "rotate-180": "flip-vertical",
}


def _turned(mistakes: Mistakes, picture: Layered, how: Geometry, done: Done, chances: Chances) -> Layered:
    if chances.unturned < mistakes.unturned:
        return picture
    if chances.wrong_turn < mistakes.wrong_turn:
        other = _OTHER_WAY[how]
        return picture.changed(lambda plane: move(plane, other), lambda mask: move(mask, other))
    return done.picture


PATCH = 0.3
"""Side of the part that is duplicated, in shorter sides of the picture."""


def duplicated(pixels: Pixels) -> Pixels:
    """The liveliest part of the right half once more in the left half, at the same height, its rim blended."""
    height, width = pixels.shape[:2]
    side = max(2, round(PATCH * min(height, width)))
    if width < 2 * side or height < side:
        return pixels
    grey = np.asarray(cv2.cvtColor(pixels, cv2.COLOR_RGB2GRAY), np.float32)
    mean, square = cv2.blur(grey, (side, side)), cv2.blur(grey * grey, (side, side))
    lively = np.asarray(square) - np.square(np.asarray(mean))
    half = side // 2
    # middles of parts that lie wholly in the right half
    rows, columns = slice(half, height - side + half + 1), slice(width // 2 + half, width - side + half + 1)
    found = np.unravel_index(int(np.argmax(lively[rows, columns])), lively[rows, columns].shape)
    top, left = int(found[0]), width // 2 + int(found[1])
    there = left - width // 2
    ramp = np.clip(np.minimum(np.arange(side) + 1, side - np.arange(side)) / max(1.0, 0.08 * side), 0, 1)
    weight = np.minimum.outer(ramp, ramp)[..., None]
    out = pixels.copy()
    under = out[top : top + side, there : there + side]
    part = pixels[top : top + side, left : left + side]
    out[top : top + side, there : there + side] = np.rint(under + (part.astype(np.float32) - under) * weight)
    return out
