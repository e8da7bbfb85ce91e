"""Mean colour difference CIEDE2000.

Sharma, Wu, Dalal: The CIEDE2000 color-difference formula: implementation notes (2005). The angles of the formula are
carried as unit vectors: the hue difference is a cross product, the mean hue a bisector and cos(k·h) a polynomial, so
one arc tangent and one exponential per pixel are all that is left of its trigonometry. Pixels are taken for sRGB under
D65. 0 for equal images, lower is better; dark blue against yellow is 113. Own code, no weights. Traps: the formula was
made for even patches side by side. In texture people forgive far more, and noise counts here for what it does to each
pixel.
"""

from __future__ import annotations

from math import cos, inf, radians, sin

import numpy as np

from convergebench.images.frame import Plane
from convergebench.metrics._lab import lab
from convergebench.metrics._pair import pair
from convergebench.metrics.base import Item, metric
from convergebench.metrics.on_gpu import by_kernel

_BAND = 16384
_SMALL = np.float32(1e-12)


@metric(
    "delta-e",
    kind="full-reference",
    better="lower",
    range=(0.0, inf),
    unit="ΔE₀₀",
    dimension="quality",
    self_value=0.0,
    noticeable=2.3,
    paper="Sharma et al. 2005, doi:10.1002/col.20070 (CIEDE2000)",
    on_gpu=by_kernel("delta_e"),
)
def delta_e(item: Item) -> float:
    """Mean colour difference CIEDE2000 over pixels; 1 is about the smallest difference people can see."""
    subject, reference = pair(item)
    x, y = [plane.ravel() for plane in lab(reference)], [plane.ravel() for plane in lab(subject)]
    count = x[0].size
    total = 0.0
    for start in range(0, count, _BAND):
        band = slice(start, start + _BAND)
        difference = ciede2000([plane[band] for plane in x], [plane[band] for plane in y])
        total += float(difference.sum(dtype=np.float64))
    return total / count


def ciede2000(first: list[Plane], second: list[Plane]) -> Plane:
    """CIEDE2000 of L*, a*, b* planes, element by element."""
    (l1, a1, b1), (l2, a2, b2) = first, second
    stretch = 1 + _chroma_compensation(a1, b1, a2, b2)
    a1, a2 = a1 * stretch, a2 * stretch
    c1, c2 = np.sqrt(a1 * a1 + b1 * b1), np.sqrt(a2 * a2 + b2 * b2)
    chroma = (c1 + c2) * np.float32(0.5)
    hue_cosine, hue_sine = _mean_hue(a1, b1, c1, a2=a2, b2=b2, c2=c2)

    lightness = (l1 + l2) * np.float32(0.5) - 50
    square = lightness * lightness
    along_l = (l2 - l1) / (1 + np.float32(0.015) * square / np.sqrt(20 + square))
    along_c = (c2 - c1) / (1 + np.float32(0.045) * chroma)
    along_h = _hue_difference(a1, b1, c1, a2=a2, b2=b2, c2=c2)
    along_h /= 1 + np.float32(0.015) * chroma * _hue_weight(hue_cosine, hue_sine)
    rotation = _rotation(chroma, hue_cosine, hue_sine)
    total = along_l * along_l + along_c * along_c + along_h * along_h + rotation * along_c * along_h
    result: Plane = np.sqrt(np.maximum(total, 0))
    return result


def _saturating(chroma: Plane) -> Plane:
    """√(C⁷ / (C⁷ + 25⁷)), in units of 25 so that no power overflows."""
    unit = chroma * np.float32(1 / 25)
    square = unit * unit
    seventh = square * square * square * unit
    result: Plane = np.sqrt(seventh / (seventh + 1))
    return result


def _chroma_compensation(a1: Plane, b1: Plane, a2: Plane, b2: Plane) -> Plane:
    mean = (np.sqrt(a1 * a1 + b1 * b1) + np.sqrt(a2 * a2 + b2 * b2)) * np.float32(0.5)
    return (1 - _saturating(mean)) * np.float32(0.5)


def _hue_difference(a1: Plane, b1: Plane, c1: Plane, *, a2: Plane, b2: Plane, c2: Plane) -> Plane:
    """2·√(C₁C₂)·sin(Δh/2), signed: Δh counts from the first colour to the second."""
    # √(2(C₁C₂ − dot)) loses its digits for near hues; the cross product does not
    product = c1 * c2
    cross = a1 * b2 - a2 * b1
    dot = a1 * a2 + b1 * b2
    near = cross / np.sqrt(np.maximum((product + dot) * np.float32(0.5), _SMALL))
    far = np.sqrt(np.maximum(2 * (product - dot), 0))
    result: Plane = np.where(dot > 0, near, np.copysign(far, cross))
    return result


def _mean_hue(a1: Plane, b1: Plane, c1: Plane, *, a2: Plane, b2: Plane, c2: Plane) -> tuple[Plane, Plane]:
    """Cosine and sine of the bisector of two hues; of the only one where the other is grey."""
    x = a1 * c2 + a2 * c1
    y = b1 * c2 + b2 * c1
    grey = (c1 * c2) <= _SMALL
    if grey.any():
        x[grey] = (a1 + a2)[grey]
        y[grey] = (b1 + b2)[grey]
    length = np.sqrt(x * x + y * y)
    none = length == 0
    length[none] = 1
    x[none] = 1
    return x / length, y / length


def _hue_weight(c: Plane, s: Plane) -> Plane:
    """1 − 0.17·cos(h − 30°) + 0.24·cos 2h + 0.32·cos(3h + 6°) − 0.20·cos(4h − 63°)."""
    c2, s2 = c * c - s * s, 2 * c * s
    c3, s3 = c * c2 - s * s2, s * c2 + c * s2
    c4, s4 = c2 * c2 - s2 * s2, 2 * c2 * s2
    weight = np.float32(1) - _turned(c, s, 0.17, -30) + np.float32(0.24) * c2
    weight += _turned(c3, s3, 0.32, 6)
    weight -= _turned(c4, s4, 0.20, -63)
    return np.asarray(weight, np.float32)


def _turned(c: Plane, s: Plane, amplitude: float, degrees: float) -> Plane:
    """Cosine of (angle + degrees), times the amplitude."""
    return np.float32(amplitude * cos(radians(degrees))) * c - np.float32(amplitude * sin(radians(degrees))) * s


def _rotation(chroma: Plane, c: Plane, s: Plane) -> Plane:
    """The term that tilts the ellipses of blue: −2·√(C⁷/(C⁷+25⁷))·sin(60°·exp(−((h − 275°)/25°)²))."""
    turn = radians(275)
    x = c * np.float32(cos(turn)) + s * np.float32(sin(turn))
    y = s * np.float32(cos(turn)) - c * np.float32(sin(turn))
    offset = np.arctan2(y, x) * np.float32(180 / np.pi / 25)
    angle = np.exp(-offset * offset) * np.float32(radians(60))
    result: Plane = np.float32(-2) * _saturating(chroma) * np.sin(angle)
    return result
