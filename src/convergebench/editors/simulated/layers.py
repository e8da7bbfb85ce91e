"""A picture with its layers of additions and changes.

Each layer has a position and, if the editor remembers, the pixels it hides. Removing a layer then gives the picture as
if the layer had never been added.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import cv2
import numpy as np

from convergebench.editors.simulated.face import FaceLayout
from convergebench.editors.simulated.objects.canvas import Colour
from convergebench.editors.simulated.pixels import Mask, Pixels

Box = tuple[int, int, int, int]
"""Left, top, width, height."""

DEEPEST = 6
"""Layers whose hidden pixels are kept; older ones are merged into the picture (each costs a wear per step)."""
LONGEST = 24
"""Layers whose position is kept."""


@dataclass(frozen=True, slots=True)
class Layer:
    """One addition or change. `hidden`: the pixels under it, None if the editor does not keep them."""

    tag: str
    colour: Colour | None
    subject: str | None
    box: Box
    mask: Mask
    hidden: Pixels | None

    @property
    def window(self) -> tuple[slice, slice]:
        """Its position, as an array index."""
        left, top, across, down = self.box
        return np.s_[top : top + down, left : left + across]


@dataclass(frozen=True, slots=True)
class LayeredImage:
    """The visible picture, its layers from the oldest up, and its history.

    `steps` counts the edits by simulated editors so far, None if there were none. `added` counts the added objects.
    `face` is the face found earlier: it would be found elsewhere in worn pictures, and glasses would drift.
    """

    pixels: Pixels
    layers: tuple[Layer, ...] = ()
    steps: int | None = None
    added: int = 0
    face: FaceLayout | None = None

    def put(self, pixels: Pixels, layer: Layer, *, remember: bool) -> LayeredImage:
        """This picture with new `pixels`; the layer gets its position and, with `remember`, the hidden pixels."""
        if remember or not layer.mask.size:
            layer = _difference(self.pixels, pixels, layer, keep=remember)
        return replace(self, pixels=pixels, layers=_bounded((*self.layers, layer)))

    def changed(self, how: Callable[[Pixels], Pixels], moves: Callable[[Mask], Mask] | None = None) -> LayeredImage:
        """Apply `how` to the picture and to the hidden pixels of its layers.

        `moves` transforms masks if `how` moves pixels.
        """
        versions = self._versions()
        worn = [how(version) for version in versions]
        layers: list[Layer] = []
        for number, layer in enumerate(self.layers):
            if layer.hidden is not None:
                layers.append(_difference(worn[number], worn[number + 1], layer, keep=True))
            elif moves is not None:
                layers.append(_boxed(layer, moves(self.mask(layer))))
            else:
                layers.append(layer)
        face = self.face if moves is None else None
        return replace(self, pixels=worn[-1], layers=tuple(layers), face=face)

    def without(self, layer: Layer) -> LayeredImage:
        """This picture as if the layer had never been added. Its hidden pixels must be known."""
        number = next(place for place, known in enumerate(self.layers) if known is layer)
        versions = self._versions()
        base = versions[number]
        above: list[Layer] = []
        for place in range(number + 1, len(self.layers)):
            upper = self.layers[place]
            seen = base.copy()
            shown = upper.mask > 0
            seen[upper.window][shown] = versions[place + 1][upper.window][shown]
            above.append(_difference(base, seen, upper, keep=upper.hidden is not None))
            base = seen
        return replace(self, pixels=base, layers=(*self.layers[:number], *above))

    def dropped(self, layer: Layer) -> LayeredImage:
        """This picture with the layer merged into it."""
        return replace(self, layers=tuple(known for known in self.layers if known is not layer))

    def mask(self, layer: Layer) -> Mask:
        """The mask of a layer, in the size of the picture."""
        full = np.zeros(self.pixels.shape[:2], np.uint8)
        full[layer.window] = layer.mask
        return full

    def _versions(self) -> list[Pixels]:
        """The picture before the first layer, after it, after the second, and so on."""
        versions = [self.pixels]
        for layer in reversed(self.layers):
            version = versions[-1]
            if layer.hidden is not None:
                version = version.copy()
                version[layer.window] = layer.hidden
            versions.append(version)
        return versions[::-1]


def new_layer(tag: str, mask: Mask | None = None, *, colour: Colour | None = None, subject: str | None = None) -> Layer:
    """A layer without hidden pixels; without a mask it covers whatever it changes."""
    empty = Layer(tag, colour, subject, (0, 0, 0, 0), np.zeros((0, 0), np.uint8), None)
    return empty if mask is None else _boxed(empty, mask)


def _difference(before: Pixels, after: Pixels, layer: Layer, *, keep: bool) -> Layer:
    """The layer that makes `after` out of `before`, by where they differ."""
    first, second, third = cv2.split(cv2.absdiff(before, after))
    differs = cv2.bitwise_or(cv2.bitwise_or(first, second), third)
    _, mask = cv2.threshold(differs, 0, 255, cv2.THRESH_BINARY)
    boxed = _boxed(layer, np.asarray(mask, np.uint8))
    return replace(boxed, hidden=before[boxed.window].copy() if keep else None)


def _boxed(layer: Layer, full: Mask) -> Layer:
    left, top, across, down = (int(value) for value in cv2.boundingRect(full))
    box = (left, top, across, down)
    return replace(layer, box=box, mask=full[top : top + down, left : left + across].copy())


def _bounded(layers: tuple[Layer, ...]) -> tuple[Layer, ...]:
    layers = layers[-LONGEST:]
    deep = len(layers) - DEEPEST
    return tuple(replace(layer, hidden=None) if place < deep else layer for place, layer in enumerate(layers))
