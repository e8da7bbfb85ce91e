"""Applies an intent to a layered picture."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import cv2
import numpy as np

from convergebench.editors.instructions.instruction import CHANGES, Change, Intent
from convergebench.editors.simulated.changes import change, opposite, recolour
from convergebench.editors.simulated.face import find_face
from convergebench.editors.simulated.geometry import transform
from convergebench.editors.simulated.layers import Layer, LayeredImage, new_layer
from convergebench.editors.simulated.objects.canvas import Colour
from convergebench.editors.simulated.objects.catalogue import THINGS, WORN
from convergebench.editors.simulated.placement import composite, coverage, place
from convergebench.editors.simulated.regions import Soft
from convergebench.editors.simulated.removal import inpaint
from convergebench.edits.geometry import GEOMETRY, Geometry


class EditResult(NamedTuple):
    """The picture after an instruction, and the editor's own account of it."""

    picture: LayeredImage
    account: str
    did: bool = True
    """False: the editor reports that it left the image unchanged."""


UNDOES: dict[str, frozenset[str]] = {
    "darker": frozenset({"brighter"}),
    "brighter": frozenset({"darker"}),
    "cooler": frozenset({"warmer"}),
    "warmer": frozenset({"cooler"}),
    "colourise": frozenset({"grey"}),
    "invert": frozenset({"invert"}),
    "sharpen": frozenset({"blur", "soften"}),
    "blur": frozenset({"sharpen"}),
    "soften": frozenset({"sharpen"}),
    "detail": frozenset({"pixelate", "blur", "patches"}),
    "day": frozenset({"night", "sunset", "morning"}),
    "neutral": frozenset({"smile", "sad", "surprise"}),
    "open-eyes": frozenset({"close-eyes"}),
    "undo": frozenset(CHANGES),
}
"""Changes that an instruction undoes if the editor remembers them."""

NATURAL: dict[str, Colour] = {"hair": (104, 76, 54), "lips": (184, 104, 96), "sky": (150, 186, 224)}


def carry_out(picture: LayeredImage, intent: Intent, *, remember: bool) -> EditResult:
    """Apply the instruction as well as this editor can; the input is not modified."""
    if intent.action in GEOMETRY:
        how: Geometry = intent.action
        return EditResult(
            picture.changed(lambda plane: transform(plane, how), lambda mask: transform(mask, how)), f"Did a {how}."
        )
    match intent.action:
        case "add":
            return _add(picture, intent, remember)
        case "remove":
            return _remove(picture, intent)
        case "replicate":
            return EditResult(picture, "Reproduced the image without alterations.")
        case "unknown":
            return EditResult(picture, "Did not understand the instruction; left the image as it is.", did=False)
    return _change(picture, intent, remember)


def _add(picture: LayeredImage, intent: Intent, remember: bool) -> EditResult:
    assert intent.thing is not None
    if THINGS[intent.thing].anchor in WORN and _latest(picture, {f"add:{intent.thing}"}, Intent("add")) is not None:
        return EditResult(picture, f"The {intent.thing} is already there; left the image as it is.", did=False)
    face = picture.face
    if THINGS[intent.thing].anchor in WORN and face is None:
        face = find_face(picture.pixels)
    placed = place(picture.pixels, intent, already=picture.added, face=face)
    after = composite(picture.pixels, placed)
    layer = new_layer(f"add:{intent.thing}", coverage(after.shape, placed), colour=intent.colour)
    grown = replace(picture, added=picture.added + 1, face=face)
    return EditResult(grown.put(after, layer, remember=remember), f"Added the {intent.thing}.")


def _remove(picture: LayeredImage, intent: Intent) -> EditResult:
    layer = _latest(picture, {f"add:{intent.thing}"}, intent)
    if layer is not None:
        return EditResult(lift(picture, layer), f"Removed the {intent.thing}.")
    if picture.steps is not None:
        return EditResult(picture, f"There is no {intent.thing} to remove; left the image as it is.", did=False)
    # A picture from another source: the object is assumed to be where this editor would have put it.
    mask = coverage(picture.pixels.shape, place(picture.pixels, intent))
    return EditResult(
        replace(picture, pixels=inpaint(picture.pixels, mask)), f"Painted over where the {intent.thing} was."
    )


def lift(picture: LayeredImage, layer: Layer) -> LayeredImage:
    """The picture without a layer: exact if the hidden pixels are remembered, else painted over."""
    if layer.hidden is not None:
        return picture.without(layer)
    mask = np.asarray(cv2.dilate(picture.mask(layer), np.ones((3, 3), np.uint8)), np.uint8)
    return picture.dropped(layer).changed(lambda pixels: inpaint(pixels, mask))


def _change(picture: LayeredImage, intent: Intent, remember: bool) -> EditResult:
    tags = {f"change:{action}" for action in UNDOES.get(intent.action, ())}
    layer = _latest(picture, tags, intent)
    if layer is not None and layer.hidden is not None:
        return EditResult(picture.without(layer), f"Took back the change ({layer.tag.removeprefix('change:')}).")
    if intent.action == "undo":
        return _undo_by_opposite(picture, layer)
    where = None
    if intent.thing is not None:
        worn = _latest(picture, {f"add:{intent.thing}"}, Intent("add", intent.thing))
        where = _soft_mask(picture, worn) if worn is not None else None
    after = change(picture.pixels, intent, where=where)
    if layer is not None:
        return EditResult(replace(picture.dropped(layer), pixels=after), f"Changed the image back ({intent.action}).")
    mark = new_layer(f"change:{intent.action}", colour=intent.colour, subject=intent.subject)
    marked = picture.put(after, mark, remember=remember)
    return EditResult(marked, f"Changed the image ({intent.action}).")


def _soft_mask(picture: LayeredImage, layer: Layer) -> Soft:
    return np.asarray(picture.mask(layer) > 0, np.float32)


def _undo_by_opposite(picture: LayeredImage, layer: Layer | None) -> EditResult:
    """Undo without memory: apply the opposite change, if there is one."""
    if layer is None:
        return EditResult(picture, "There is nothing to undo; left the image as it is.", did=False)
    action: Change = layer.tag.removeprefix("change:")  # type: ignore[assignment]  # tags are made from actions
    back = opposite(action)
    forgotten = picture.dropped(layer)
    if action == "recolour":
        where = _soft_mask(picture, layer)
        natural = recolour(picture.pixels, NATURAL.get(layer.subject or "", (150, 140, 128)), where)
        return EditResult(
            replace(forgotten, pixels=natural), "Gave it a natural colour; the original one is not known."
        )
    if back is None:
        return EditResult(
            forgotten, f"Cannot recover what was there before ({action}); left the image as it is.", did=False
        )
    return EditResult(replace(forgotten, pixels=change(picture.pixels, Intent(back))), f"Did the opposite ({back}).")


def _latest(picture: LayeredImage, tags: set[str], intent: Intent) -> Layer | None:
    """The newest matching layer, preferring one with the named colour or subject."""
    found = [layer for layer in reversed(picture.layers) if layer.tag in tags]
    for layer in found:
        if intent.colour in (None, layer.colour) and intent.subject in (None, layer.subject):
            return layer
    return found[0] if found else None
