"""Marks on moving film: scratches along it, dust and hairs on it. Masks of 0 to 1: how much of the picture is gone."""

from __future__ import annotations

import math
from typing import NamedTuple

import cv2
import numpy as np
from numpy.typing import NDArray

from convergebench.degradations._psf import shaken
from convergebench.images.frame import Pixels, Plane

Row = NDArray[np.float64]
"""One value per row of the picture."""

_SHIFT = 4
"""Binary places behind the pixel of OpenCV's coordinates."""
_MOST_SCRATCHES, _MOST_SPECKS, _MOST_HAIRS = 40, 480, 24


class Marks(NamedTuple):
    """Where a mark lets light through (a scratch of the negative is white in print), and where it takes light away."""

    bright: Plane
    dark: Plane

    def on(self, values: Plane) -> Plane:
        """Display values with the marks."""
        bright, dark = (mark[..., None] if values.ndim == 3 else mark for mark in self)
        lit = values + (np.float32(0.97) - values) * bright
        return np.asarray(lit * (1 - np.float32(0.92) * dark), np.float32)


def scratches(shape: tuple[int, int], draw: np.random.Generator, *, count: float, scale: float) -> Marks:
    """`count` scratches that run down the film and wander; the last of a broken number is faint."""
    height, width = shape
    marks = Marks(np.zeros(shape, np.float32), np.zeros(shape, np.float32))
    rows = np.arange(height)
    for number, own in enumerate(draw.spawn(_MOST_SCRATCHES)):
        seen = min(1.0, count - number)
        if seen <= 0:
            break
        along = rows / max(height, 1)
        wander = sum(
            own.normal(0, 2.5 / wave) * np.sin(2 * math.pi * (wave * along + own.uniform())) for wave in (0.5, 1, 2, 4)
        )
        centre = own.uniform(0, width) + own.normal(0, 5) * scale * along + wander * scale
        across = own.uniform(0.7, 2.4) * scale
        strength = seen * own.uniform(0.3, 0.95) * _broken(own, along)
        _paint(marks.bright if own.uniform() < 0.7 else marks.dark, centre, across, strength)
    return marks


def _broken(draw: np.random.Generator, along: Row) -> Row:
    """Strength along a scratch: some run through, others begin and end; all come and go."""
    whole = draw.uniform() < 0.55
    begin, length = draw.uniform(-0.3, 0.9), draw.uniform(0.1, 0.7)
    knots = np.clip(draw.normal(0.75, 0.4, 40), 0, 1)
    worn = np.interp(along, np.linspace(0, 1, 40), knots)
    return np.asarray(worn * (whole | ((along > begin) & (along < begin + length))), np.float64)


def _paint(mask: Plane, centre: Row, across: float, strength: Row) -> None:
    """A line of one x per row, `across` pixels wide, its edges shared between pixels."""
    reach = math.ceil(across / 2 + 0.5)
    columns = np.floor(centre).astype(np.intp)[:, None] + np.arange(-reach, reach + 1)[None, :]
    covered = np.clip(across / 2 + 0.5 - np.abs(columns + 0.5 - centre[:, None]), 0, min(1.0, across))
    inside = (columns >= 0) & (columns < mask.shape[1])
    rows = np.broadcast_to(np.arange(len(centre))[:, None], columns.shape)
    value = (covered * strength[:, None]).astype(np.float32)
    mask[rows[inside], columns[inside]] = np.maximum(mask[rows[inside], columns[inside]], value[inside])


def dust(shape: tuple[int, int], draw: np.random.Generator, *, count: float, scale: float) -> Marks:
    """`count` specks with ragged outlines, most of them small."""
    canvases = np.zeros(shape, np.uint8), np.zeros(shape, np.uint8)
    number = min(_MOST_SPECKS, round(count))
    places = draw.uniform(size=(_MOST_SPECKS, 2)) * (shape[1], shape[0])
    radii = np.minimum(np.exp(draw.normal(0.35, 0.65, _MOST_SPECKS)), 9) * scale
    outlines = draw.uniform(0.45, 1.25, (_MOST_SPECKS, 9))
    stretch = draw.uniform(0.45, 1, _MOST_SPECKS)
    turn, dark = draw.uniform(0, math.pi, _MOST_SPECKS), draw.uniform(size=_MOST_SPECKS) < 0.4
    strength = draw.uniform(0.45, 1, _MOST_SPECKS)
    angles = np.linspace(0, 2 * math.pi, 9, endpoint=False)
    for one in range(number):
        radius = max(radii[one], 0.6)
        faint = min(1.0, (radii[one] / radius) ** 2)
        around = radius * outlines[one][:, None] * np.stack([np.cos(angles), stretch[one] * np.sin(angles)], axis=1)
        sine, cosine = math.sin(turn[one]), math.cos(turn[one])
        points = places[one] + around @ np.array([[cosine, sine], [-sine, cosine]])
        colour = round(255 * faint * strength[one])
        cv2.fillPoly(canvases[int(dark[one])], [_fixed(points)], colour, cv2.LINE_AA, _SHIFT)
    return Marks(*(_mask(canvas) for canvas in canvases))


def hairs(shape: tuple[int, int], draw: np.random.Generator, *, count: float, scale: float) -> Marks:
    """`count` thin curved hairs and threads, dark ones on the print and bright ones on the negative."""
    canvases = np.zeros(shape, np.uint8), np.zeros(shape, np.uint8)
    for number, own in enumerate(draw.spawn(_MOST_HAIRS)):
        seen = min(1.0, count - number)
        if seen <= 0:
            break
        thickness = own.uniform(0.9, 2.0) * scale
        path = shaken(own.uniform(30, 170) * scale, own, curl=1.6)
        points = path - path.mean(axis=0) + own.uniform(size=2) * (shape[1], shape[0])
        colour = round(255 * seen * min(1.0, thickness) * own.uniform(0.5, 0.95))
        canvas = canvases[int(own.uniform() < 0.6)]
        cv2.polylines(canvas, [_fixed(points)], False, colour, max(1, round(thickness)), cv2.LINE_AA, _SHIFT)
    return Marks(*(_mask(canvas) for canvas in canvases))


def _fixed(points: NDArray[np.float64]) -> NDArray[np.int32]:
    return np.asarray(np.rint(points * 2**_SHIFT), np.int32)


def _mask(canvas: Pixels) -> Plane:
    return canvas.astype(np.float32) / np.float32(255)
