"""Mistakes that an editor makes while it reports success; each is off by default.

Steps are counted in the picture itself (`LayeredImage.steps`), from 1, so the step of a mistake is known in advance for
any seed. Only flips and rotations fail at random.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace

import cv2
import numpy as np

from convergebench.editors.instructions.instruction import Intent
from convergebench.editors.simulated.carry_out import EditResult, carry_out, lift
from convergebench.editors.simulated.geometry import transform
from convergebench.editors.simulated.layers import Layer, LayeredImage, new_layer
from convergebench.editors.simulated.options import NumberOption, Option, Value
from convergebench.editors.simulated.pixels import Pixels, pixels_of
from convergebench.editors.simulated.placement import PlacedSprite, composite, coverage, place
from convergebench.edits.geometry import GEOMETRY, Geometry

_STEP = NumberOption(0, 0, 100_000, whole=True)

OPTIONS: dict[str, Option] = {
    "skip_from": _STEP,
    "skip_for": NumberOption(3, 1, 100_000, whole=True),
    "row_at": _STEP,
    "row_of": NumberOption(4, 2, 20, whole=True),
    "replace_every": _STEP,
    "unturned": NumberOption(0.0, 0, 1),
    "wrong_turn": NumberOption(0.0, 0, 1),
    "colour_rest": NumberOption(0.0, 0, 1),
    "duplicate_at": _STEP,
}
"""Options of all mistakes, off by default."""


@dataclass(frozen=True, slots=True)
class Mistakes:
    """Which mistakes are made, and when; 0 means never."""

    skip_from: int = 0
    """First step whose addition is left out."""
    skip_for: int = 3
    """Number of consecutive steps whose additions are left out."""
    row_at: int = 0
    """The step that adds a whole row at once."""
    row_of: int = 4
    """Number of objects in that row."""
    replace_every: int = 0
    """Period in steps at which the new object replaces an earlier one, if there is one."""
    unturned: float = 0.0
    """Share of flips and rotations that are not done."""
    wrong_turn: float = 0.0
    """Share of the flips and rotations that go the wrong way, among those that are done."""
    colour_rest: float = 0.0
    """Share of the colour that remains when a picture should become monochrome."""
    duplicate_at: int = 0
    """The step that copies a part of the right half into the left half."""

    @property
    def random(self) -> bool:
        """Whether some of them depend on the seed."""
        return self.unturned > 0 or self.wrong_turn > 0


def read_mistakes(options: Mapping[str, Value]) -> Mistakes:
    """The mistakes among an editor's options; others are off."""
    return Mistakes(**{one.name: options[one.name] for one in fields(Mistakes) if one.name in options})  # type: ignore[arg-type]


@dataclass(frozen=True, slots=True)
class MistakeDraws:
    """Random numbers in [0, 1), drawn from the seed of a request."""

    unturned: float
    wrong_turn: float
    which: float


def carry_out_with(
    mistakes: Mistakes, picture: LayeredImage, intent: Intent, *, remember: bool, chances: MistakeDraws
) -> EditResult:
    """Carry out the intent with the mistakes that are due; the account always reports success."""
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
    mistakes: Mistakes,
    picture: LayeredImage,
    intent: Intent,
    done: EditResult,
    *,
    remember: bool,
    chances: MistakeDraws,
) -> LayeredImage:
    step = (picture.steps or 0) + 1
    if mistakes.skip_from and 0 <= step - mistakes.skip_from < mistakes.skip_for:
        return picture
    if step == mistakes.row_at:
        return _row(picture, intent, mistakes.row_of, remember=remember)
    earlier = [layer for layer in picture.layers if layer.tag.startswith("add:")]
    if mistakes.replace_every and step % mistakes.replace_every == 0 and earlier:
        return _replaced(picture, intent, earlier[int(chances.which * len(earlier))], remember=remember)
    return done.picture


def _row(picture: LayeredImage, intent: Intent, count: int, *, remember: bool) -> LayeredImage:
    """Several copies of an object in a row across the width, at the height of a single one."""
    one = place(picture.pixels, intent, already=picture.added, face=picture.face)
    wide = one.sprite.shape[1]
    room = picture.pixels.shape[1] / count
    for number in range(count):
        placed = PlacedSprite(one.sprite, round((number + 0.5) * room - wide / 2), one.top)
        picture = _with_sprite(picture, intent, placed, remember=remember)
    return replace(picture, added=picture.added + count)


def _replaced(picture: LayeredImage, intent: Intent, old: Layer, *, remember: bool) -> LayeredImage:
    left, top, across, down = old.box
    bare = lift(picture, old)
    drawn = place(bare.pixels, intent, already=picture.added, face=picture.face).sprite
    high, wide = drawn.shape[:2]
    # with its base at that of the old one
    placed = PlacedSprite(drawn, round(left + across / 2 - wide / 2), round(top + down - high))
    return _with_sprite(bare, intent, placed, remember=remember)


def _with_sprite(picture: LayeredImage, intent: Intent, placed: PlacedSprite, *, remember: bool) -> LayeredImage:
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


def _turned(
    mistakes: Mistakes, picture: LayeredImage, how: Geometry, done: EditResult, chances: MistakeDraws
) -> LayeredImage:
    if chances.unturned < mistakes.unturned:
        return picture
    if chances.wrong_turn < mistakes.wrong_turn:
        other = _OTHER_WAY[how]
        return picture.changed(lambda plane: transform(plane, other), lambda mask: transform(mask, other))
    return done.picture


PATCH = 0.3
"""Side of the duplicated part, as a share of the shorter side."""


def duplicated(pixels: Pixels) -> Pixels:
    """Copy the most detailed part of the right half into the left half, at the same height, with blended edges."""
    height, width = pixels.shape[:2]
    side = max(2, round(PATCH * min(height, width)))
    if width < 2 * side or height < side:
        return pixels
    grey = np.asarray(cv2.cvtColor(pixels, cv2.COLOR_RGB2GRAY), np.float32)
    mean, square = cv2.blur(grey, (side, side)), cv2.blur(grey * grey, (side, side))
    lively = np.asarray(square) - np.square(np.asarray(mean))
    half = side // 2
    # centres of parts that are entirely in the right half
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
