"""A picture with what has been put on top of it, as a layered editor keeps it.

Each layer knows where it lies and, where the editor remembers, the pixels it hides. Taking a layer off then gives
the picture as it would be had the layer never been there.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import cv2
import numpy as np

from convergebench.editors.simulated.face import Face
from convergebench.editors.simulated.objects.canvas import Colour
from convergebench.editors.simulated.pixels import Mask, Pixels

Box = tuple[int, int, int, int]
"""Left, top, width, height."""

DEEPEST = 6
"""Layers whose hidden pixels are kept; older ones become part of the picture (each costs a wear per step)."""
LONGEST = 24
"""Layers whose place is kept."""


@dataclass(frozen=True, slots=True)
class Layer:
    """One addition or change. `hidden` are the pixels under it, None when the editor does not keep them."""

    tag: str
    colour: Colour | None
    subject: str | None
    box: Box
    mask: Mask
    hidden: Pixels | None

    @property
    def window(self) -> tuple[slice, slice]:
        """Where it lies, as an index."""
        left, top, across, down = self.box
        return np.s_[top : top + down, left : left + across]


@dataclass(frozen=True, slots=True)
class Layered:
    """The picture as seen, its layers from the oldest up, and how it came here.

    `steps` counts the edits by simulated editors so far, None for a picture that never met one. `added` counts
    the things added so far. `face` is where the face was when it was last looked for: worn pictures would be read
    a little differently each time, and glasses would wander.
    """

    pixels: Pixels
    layers: tuple[Layer, ...] = ()
    steps: int | None = None
    added: int = 0
    face: Face | None = None

    def put(self, pixels: Pixels, layer: Layer, *, remember: bool) -> Layered:
        """This picture with `pixels` as its new look; the layer gets its place and, if asked, what it hides."""
        if remember or not layer.mask.size:
            layer = _difference(self.pixels, pixels, layer, keep=remember)
        return replace(self, pixels=pixels, layers=_bounded((*self.layers, layer)))

    def changed(self, how: Callable[[Pixels], Pixels], moves: Callable[[Mask], Mask] | None = None) -> Layered:
        """Everything done to the picture is done to what its layers hide as well.

        `moves` says where a mask goes when `how` moves pixels.
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

    def without(self, layer: Layer) -> Layered:
        """This picture had the layer never been put on. Its hidden pixels must be known."""
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

    def dropped(self, layer: Layer) -> Layered:
        """This picture, with the layer forgotten but not taken off."""
        return replace(self, layers=tuple(known for known in self.layers if known is not layer))

    def mask(self, layer: Layer) -> Mask:
        """Where a layer lies, the size of the picture."""
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
    """A layer that hides nothing yet; without a mask it lies wherever it changes the picture."""
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
