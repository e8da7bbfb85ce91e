"""Similarity of scene layout by a hand-made descriptor; no network, and not CLIP.

After Oliva, Torralba: Modeling the shape of the scene (2001). The descriptor looks at 128×128 pixels (a size that is
part of its definition): the energy of 4 scales × 6 orientations of log-Gabor filters in a 4×4 grid of cells, and
lightness and colour in an 8×8 grid. Each part is centred, so that unrelated pictures come out near 0 and not near 1
(12 photographs: −0.2 to 0.54, median 0.12; mild JPEG, noise or blur of one: above 0.98). It knows where edges, textures
and colours are. It does not know what a thing is called, and it forgives what leaves the layout in place, however
much it harms the picture: a portrait of 512 pixels keeps 0.96 at half its contrast, 0.99 under a blur of σ 8 and under
noise of σ 80. Such damage is what the quality metrics are for.
"""

from __future__ import annotations

from functools import cache

import cv2
import numpy as np
from numpy.typing import NDArray
from scipy import fft

from convergebench.errors import Unmeasurable
from convergebench.images.frame import Frame, Plane
from convergebench.metrics._lab import lab
from convergebench.metrics.base import Item, metric

SIDE = 128
PADDED = 192
"""Analysis side with a mirrored margin, so that opposite edges do not meet."""
SCALES, ORIENTATIONS = 4, 6
FREQUENCIES = (0.15, 0.085, 0.048, 0.027)
"""Centre of each scale, cycles per analysis pixel."""
CELLS, COLOUR_CELLS = 4, 8
FLOOR = 1.0
"""Filter energy, in L* units, about which response turns from linear to logarithmic: noise stays under it."""
COLOUR_WEIGHT, LIGHTNESS_WEIGHT = 0.04, 0.05
"""Weight of a unit of a* or b* and of a unit of L* against a unit of filter response."""


@metric(
    "gist",
    kind="semantic",
    better="higher",
    range=(-1.0, 1.0),
    dimension="semantic",
    self_value=1.0,
    noticeable=0.95,
    half=0.75,
    paper="after Oliva & Torralba 2001, doi:10.1023/A:1011139631724; hand-made, not CLIP",
)
def gist(item: Item) -> float:
    """Cosine of two hand-made descriptors of scene layout (oriented energy and colour on a grid); not CLIP."""
    if item.reference is None:
        raise Unmeasurable("no-reference", "there is no image to compare with")
    x, y = descriptor(item.subject), descriptor(item.reference)
    # the cosine of unit vectors; written so, equal images have 1 to the last digit and no value is above it
    return 1 - float(np.square(x - y).sum()) / 2


def descriptor(frame: Frame) -> NDArray[np.float64]:
    """Unit vector that describes the layout of an image; `Unmeasurable` for one even grey."""
    return frame.derived("gist", _descriptor)


def _descriptor(frame: Frame) -> NDArray[np.float64]:
    lightness, a, b = (
        cv2.resize(plane, (SIDE, SIDE), interpolation=cv2.INTER_AREA).astype(np.float32) for plane in lab(frame)
    )
    vector = np.concatenate([_texture(lightness), _layout(lightness, a, b)])
    length = float(np.linalg.norm(vector))
    if length < 0.1:
        raise Unmeasurable("featureless", "an image of one grey has no layout")
    return vector / length


def _texture(lightness: Plane) -> NDArray[np.float64]:
    """Log energy per filter and cell: layout over cells, and profile over orientations, each centred."""
    margin = (PADDED - SIDE) // 2
    padded = cv2.copyMakeBorder(lightness - lightness.mean(), *(margin,) * 4, cv2.BORDER_REFLECT)
    # no filter reaches beyond a quarter of the sampling rate, so the answers are taken at every second pixel
    kept = np.r_[0 : PADDED // 4, -PADDED // 4 : 0]
    spectrum = fft.fft2(padded.astype(np.complex64))[np.ix_(kept, kept)] / 4
    answers = np.abs(fft.ifft2(spectrum[None] * _bank(), axes=(1, 2)))
    inner = answers[:, margin // 2 : -margin // 2, margin // 2 : -margin // 2]
    cell = SIDE // 2 // CELLS
    energy = inner.reshape(len(inner), CELLS, cell, CELLS, cell).mean(axis=(2, 4), dtype=np.float64)
    response = np.log1p(energy / FLOOR).reshape(SCALES, ORIENTATIONS, CELLS * CELLS)
    isotropic = response.mean(axis=1, keepdims=True)
    layout = isotropic - isotropic.mean(axis=2, keepdims=True)
    oriented = response - isotropic
    weight = np.sqrt(ORIENTATIONS)
    return np.concatenate([weight * layout.ravel(), oriented.ravel()])


def _layout(lightness: Plane, a: Plane, b: Plane) -> NDArray[np.float64]:
    size = (COLOUR_CELLS, COLOUR_CELLS)
    light, red, yellow = (
        cv2.resize(plane, size, interpolation=cv2.INTER_AREA).astype(np.float64) for plane in (lightness, a, b)
    )
    return np.concatenate(
        [
            LIGHTNESS_WEIGHT * (light - light.mean()).ravel(),
            COLOUR_WEIGHT * red.ravel(),
            COLOUR_WEIGHT * yellow.ravel(),
        ]
    )


@cache
def _bank() -> NDArray[np.float32]:
    """Log-Gabor filters in the frequency domain, one-sided, so that the answer's magnitude is the envelope."""
    x, y = np.fft.fftfreq(PADDED // 2, d=2)[None, :], np.fft.fftfreq(PADDED // 2, d=2)[:, None]
    radius = np.hypot(x, y)
    radius[0, 0] = 1
    angle = np.arctan2(y, x)
    filters = []
    for centre in FREQUENCIES:
        band = np.exp(-np.square(np.log(radius / centre)) / (2 * 0.40**2))
        band[0, 0] = 0
        for index in range(ORIENTATIONS):
            turn = np.angle(np.exp(1j * (angle - np.pi * index / ORIENTATIONS)))
            filters.append(2 * band * np.exp(-np.square(turn) / (2 * (0.6 * np.pi / ORIENTATIONS) ** 2)))
    return np.stack(filters).astype(np.float32)
