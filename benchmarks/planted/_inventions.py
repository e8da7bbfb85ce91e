"""What a restoration may invent, put into a picture: foreign things, bent shapes, lines, letters, texture, colours.

None of this shares code with the detectors. Each maker gets pixels, a strength from 0 to 2 and chance, and gives the
changed pixels with the place of the change; None where it would hardly show.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import cv2
import numpy as np
from numpy.typing import NDArray

from benchmarks.planted._things import cut_out
from convergebench.images.frame import Pixels

Chance = np.random.Generator
Values = NDArray[np.float32]
VISIBLY = 5.0
"""Mean change, in levels, within its place under which a change hardly shows."""
LETTERS = "ABEFHKMNRSTXZ"
HUES = 5


class Place(NamedTuple):
    """A rectangle in pixels."""

    left: int
    top: int
    width: int
    height: int


class Changed(NamedTuple):
    """The picture, and where it was changed."""

    pixels: Pixels
    place: Place


Maker = Callable[[Pixels, int, Chance], Changed | None]


def foreign_thing(others: Sequence[Pixels]) -> Maker:
    """Part of another photograph, as an oval: 14, 20 or 28 % of the shorter side across."""

    def put(pixels: Pixels, strength: int, chance: Chance) -> Changed | None:
        height, width = pixels.shape[:2]
        side = round((0.14, 0.2, 0.28)[strength] * min(height, width))
        part = cv2.resize(cut_out(list(others), chance), (side, side), interpolation=cv2.INTER_AREA).astype(np.float32)
        place = _anywhere(pixels, side, chance)
        reach = np.linspace(-1, 1, side, dtype=np.float32)
        inside = np.clip((1 - np.hypot(reach[:, None], reach)) / 0.1, 0, 1)[..., None]
        out = pixels.astype(np.float32)
        out[_slice(place)] += (part - out[_slice(place)]) * inside
        return _visible(pixels, _whole(out), place)

    return put


def bent_shape(pixels: Pixels, strength: int, chance: Chance) -> Changed | None:
    """A lively place pushed or twisted by 3.5, 6 or 10 % of the shorter side, smoothly to nothing at 17 %."""
    height, width = pixels.shape[:2]
    side = min(height, width)
    radius, by = 0.17 * side, (0.035, 0.06, 0.1)[strength] * side
    x, y = _lively(pixels, round(radius), chance)
    down, right = np.mgrid[:height, :width].astype(np.float32)
    fade = np.clip(1 - (np.square(right - x) + np.square(down - y)) / radius**2, 0, 1) ** 2
    if chance.uniform() < 0.5:
        angle = chance.uniform(0, 2 * np.pi)
        there = right + 1.6 * by * fade * np.cos(angle), down + 1.6 * by * fade * np.sin(angle)
    else:
        turn = fade * 3.2 * by / radius
        there = (
            x + (right - x) * np.cos(turn) - (down - y) * np.sin(turn),
            y + (right - x) * np.sin(turn) + (down - y) * np.cos(turn),
        )
    maps = [np.asarray(each, np.float32) for each in there]
    bent = np.asarray(cv2.remap(pixels, maps[0], maps[1], cv2.INTER_CUBIC, borderMode=cv2.BORDER_REFLECT), np.uint8)
    return _visible(pixels, bent, _around(pixels, x, y, radius))


def lines(pixels: Pixels, strength: int, chance: Chance) -> Changed | None:
    """Three, five or eight straight lines of 45, 70 or 110 levels in a quarter of the picture's side."""

    def draw(mask: NDArray[np.uint8], place: Place, thick: int) -> None:
        for _ in range((3, 5, 8)[strength]):
            ends = chance.uniform(0, 1, (2, 2)) * [place.width, place.height] + [place.left, place.top]
            begin, end = ([int(each) for each in point] for point in ends)
            cv2.line(mask, begin, end, 255, thick, cv2.LINE_AA)

    return _drawn(pixels, strength, chance, draw)


def letters(pixels: Pixels, strength: int, chance: Chance) -> Changed | None:
    """Two, three or four lines of letters, as strong as the lines above."""

    def draw(mask: NDArray[np.uint8], place: Place, thick: int) -> None:
        for row in range(2 + strength):
            text = "".join(chance.choice(list(LETTERS), 5))
            foot = place.left, place.top + round((row + 1) * place.height / 4.5)
            cv2.putText(mask, text, foot, cv2.FONT_HERSHEY_SIMPLEX, place.width / 95, 255, thick, cv2.LINE_AA)

    return _drawn(pixels, strength, chance, draw)


def grain_texture(pixels: Pixels, strength: int, chance: Chance) -> Changed | None:
    """Fine grain in the calmest place, of 3.5, 6 or 10 levels, over 20, 25 or 30 % of the shorter side around it."""
    noise = _noise(pixels, chance)
    return _textured(pixels, strength, _soft(noise, 1.0) - _soft(noise, 2.5))


def hair_texture(pixels: Pixels, strength: int, chance: Chance) -> Changed | None:
    """The same with strokes, as of hair or grass."""
    noise = _noise(pixels, chance)
    return _textured(pixels, strength, cv2.GaussianBlur(noise, (0, 0), 3.0, sigmaY=0.9) - _soft(noise, 5.0))


def scale_texture(pixels: Pixels, strength: int, chance: Chance) -> Changed | None:
    """The same with rounded scales, as of skin or leather."""
    folded = np.abs(_soft(_noise(pixels, chance), 1.8))
    return _textured(pixels, strength, folded - _soft(folded, 4.0))


def painted_colours(pixels: Pixels, strength: int, chance: Chance) -> Changed | None:
    """Soft patches of several hues over all of a picture, of a chroma of 14, 24 or 36; its brightness stays."""
    height, width = pixels.shape[:2]
    lab = np.asarray(cv2.cvtColor(pixels.astype(np.float32) / 255, cv2.COLOR_RGB2LAB), np.float32)
    weights = np.stack([_soft(_noise(pixels, chance), min(height, width) / 12) for _ in range(HUES)])
    chosen = weights.argmax(axis=0)
    angles = chance.uniform(0, 2 * np.pi) + np.arange(HUES) * 2 * np.pi / HUES
    chroma = (14, 24, 36)[strength]
    for plane, wave in ((1, np.cos), (2, np.sin)):
        lab[..., plane] += _soft((chroma * wave(angles)).astype(np.float32)[chosen], min(height, width) / 60)
    painted = np.asarray(cv2.cvtColor(lab, cv2.COLOR_LAB2RGB), np.float32)
    return _visible(pixels, _whole(255 * painted), Place(0, 0, width, height))


def painted_thing(pixels: Pixels, strength: int, chance: Chance) -> Changed | None:
    """One colour in an oval of 30, 40 or 50 % of the sides."""
    height, width = pixels.shape[:2]
    share = (0.3, 0.4, 0.5)[strength]
    x, y = (chance.uniform(share / 2, 1 - share / 2) for _ in range(2))
    down, right = np.mgrid[:height, :width].astype(np.float32)
    away = np.hypot((right / width - x) / (share / 2), (down / height - y) / (share / 2))
    inside = np.clip((1 - away) * 8, 0, 1)
    angle = chance.uniform(0, 2 * np.pi)
    lab = np.asarray(cv2.cvtColor(pixels.astype(np.float32) / 255, cv2.COLOR_RGB2LAB), np.float32)
    lab[..., 1] += 30 * inside * np.float32(np.cos(angle))
    lab[..., 2] += 30 * inside * np.float32(np.sin(angle))
    painted = _whole(255 * np.asarray(cv2.cvtColor(lab, cv2.COLOR_LAB2RGB), np.float32))
    left, top = round((x - share / 2) * width), round((y - share / 2) * height)
    return Changed(painted, Place(left, top, round(share * width), round(share * height)))


def _drawn(
    pixels: Pixels, strength: int, chance: Chance, draw: Callable[[NDArray[np.uint8], Place, int], None]
) -> Changed:
    shorter = min(pixels.shape[:2])
    place = _anywhere(pixels, round(0.25 * shorter), chance)
    mask = np.zeros(pixels.shape[:2], np.uint8)
    draw(mask, place, max(2, shorter // 170))
    away = (45, 70, 110)[strength] * (-1 if pixels[_slice(place)].mean() > 128 else 1)
    return Changed(_whole(pixels + away * (mask.astype(np.float32) / 255)[..., None]), place)


def _textured(pixels: Pixels, strength: int, pattern: Values) -> Changed:
    shorter = min(pixels.shape[:2])
    x, y = _calmest(pixels)
    radius = (0.2, 0.25, 0.3)[strength] * shorter
    down, right = np.mgrid[: pixels.shape[0], : pixels.shape[1]].astype(np.float32)
    inside = np.clip((1 - np.hypot(right - x, down - y) / radius) * 5, 0, 1)
    added = (3.5, 6, 10)[strength] * pattern / pattern.std() * inside
    return Changed(_whole(pixels + added[..., None]), _around(pixels, x, y, radius))


def _visible(before: Pixels, after: Pixels, place: Place) -> Changed | None:
    there = _slice(place)
    change = np.abs(after[there].astype(np.int16) - before[there]).mean()
    return Changed(after, place) if change >= VISIBLY else None


def _anywhere(pixels: Pixels, side: int, chance: Chance) -> Place:
    """A square that keeps off the border by a twentieth of the picture."""
    height, width = pixels.shape[:2]
    rim = 0.05 * max(height, width)
    left, top = (int(chance.uniform(rim, max(rim + 1, length - rim - side))) for length in (width, height))
    return Place(left, top, side, side)


def _lively(pixels: Pixels, reach: int, chance: Chance) -> tuple[int, int]:
    """Of twelve places the one with the most outlines."""
    energy = _outlines(pixels, 3.0, 2 * reach)
    height, width = energy.shape
    spots = [
        (int(chance.integers(reach, width - reach)), int(chance.integers(reach, height - reach))) for _ in range(12)
    ]
    return max(spots, key=lambda spot: float(energy[spot[1], spot[0]]))


def _calmest(pixels: Pixels) -> tuple[int, int]:
    energy = _outlines(pixels, 1.5, min(pixels.shape[:2]) // 4)
    height, width = energy.shape
    inner = energy[height // 6 : -height // 6, width // 6 : -width // 6]
    row, column = np.unravel_index(int(inner.argmin()), inner.shape)
    return int(column) + width // 6, int(row) + height // 6


def _outlines(pixels: Pixels, blur: float, side: int) -> Values:
    grey = cv2.cvtColor(pixels, cv2.COLOR_RGB2GRAY).astype(np.float32)
    bent = cv2.Laplacian(cv2.GaussianBlur(grey, (0, 0), blur), cv2.CV_32F)
    return np.asarray(cv2.boxFilter(np.square(bent), cv2.CV_32F, (side, side)), np.float32)


def _around(pixels: Pixels, x: int, y: int, radius: float) -> Place:
    left, top = max(0, round(x - radius)), max(0, round(y - radius))
    right, bottom = min(pixels.shape[1], round(x + radius)), min(pixels.shape[0], round(y + radius))
    return Place(left, top, right - left, bottom - top)


def _slice(place: Place) -> tuple[slice, slice]:
    return slice(place.top, place.top + place.height), slice(place.left, place.left + place.width)


def _noise(pixels: Pixels, chance: Chance) -> Values:
    return chance.normal(0, 1, pixels.shape[:2]).astype(np.float32)


def _soft(values: Values, deviation: float) -> Values:
    return np.asarray(cv2.GaussianBlur(values, (0, 0), deviation), np.float32)


def _whole(values: NDArray[np.floating]) -> Pixels:
    return np.asarray(np.clip(np.rint(values), 0, 255), np.uint8)
