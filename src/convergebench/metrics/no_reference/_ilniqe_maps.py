"""The inputs of IL-NIQE's features: an image of 504×504 pixels at two scales, filtered in several ways.

The constants are the authors' own. Values that are zero but for rounding (flat areas) are set to zero: which side of
zero they fall on would otherwise depend on the machine.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache, lru_cache

import cv2
import numpy as np
from numpy.typing import NDArray
from scipy import fft
from scipy.sparse import csr_array

Array = NDArray[np.float64]

SIDE = 524
"""Every image is brought to this side, whatever its shape: part of the definition."""
PATCH = 84
KEPT = SIDE // PATCH * PATCH
OPPONENT = np.array([[0.3, 0.04, -0.35], [0.34, -0.6, 0.17], [0.06, 0.63, 0.27]])
NOTHING = 1e-9
"""Below this a difference of grey levels is rounding."""


def normalised(pixels: NDArray[np.uint8], *, rounded: bool) -> Array:
    """The part of the image, enlarged or reduced to 524×524, that whole patches cover.

    Bicubic with the kernel widened when the image shrinks. With `rounded` each of the two passes ends in whole grey
    levels, the one that shrinks most going first.
    """
    rows, columns = (_cubic(length) for length in pixels.shape[:2])
    image = np.empty((KEPT, KEPT, 3))
    for channel in range(3):
        plane = pixels[:, :, channel].astype(np.float64)
        if rows.shape[1] >= columns.shape[1]:
            plane = _whole(rows @ plane, rounded)
            plane = _whole((columns @ plane.T).T, rounded)
        else:
            plane = _whole((columns @ plane.T).T, rounded)
            plane = _whole(rows @ plane, rounded)
        image[:, :, channel] = plane[:KEPT, :KEPT]
    return np.clip(image, 0, 255)


def _whole(plane: Array, rounded: bool) -> Array:
    return np.clip(np.floor(plane + 0.5), 0, 255) if rounded else plane


@lru_cache(maxsize=8)
def _cubic(length: int) -> csr_array:
    """Rows of weights that take `length` samples to 524 (a = −0.5, mirrored at the ends)."""
    scale = SIDE / length
    shrink = min(scale, 1.0)
    centre = (np.arange(SIDE) + 0.5) / scale - 0.5
    reach = 4 / shrink
    near = np.floor(centre - reach / 2).astype(int)[:, None] + np.arange(int(np.ceil(reach)) + 2)
    x = np.abs(shrink * (centre[:, None] - near))
    weight = np.where(x <= 1, (1.5 * x - 2.5) * x**2 + 1, np.where(x <= 2, ((2.5 - 0.5 * x) * x - 4) * x + 2, 0))
    weight /= weight.sum(axis=1, keepdims=True)
    mirrored = near % (2 * length)
    mirrored = np.minimum(mirrored, 2 * length - 1 - mirrored)
    places = np.broadcast_to(np.arange(SIDE)[:, None], near.shape)
    return csr_array((weight.ravel(), (places.ravel(), mirrored.ravel())), shape=(SIDE, length))


def opponent(image: Array) -> Array:
    """Three opponent channels; the third is near to luminance."""
    return np.asarray(image @ OPPONENT.T, np.float64)


def halved(image: Array) -> Array:
    """Every second pixel of a slight blur."""
    weights = _bell(6, 0.9)
    blurred = cv2.sepFilter2D(image, -1, weights, weights, anchor=(2, 2), borderType=cv2.BORDER_REPLICATE)
    return np.ascontiguousarray(blurred[::2, ::2], dtype=np.float64)


def contrast(luminance: Array) -> Array:
    """Luminance less its local mean, over its local deviation plus one (MSCN)."""
    weights = _bell(5, 5 / 6)

    def mean(plane: Array) -> Array:
        return np.asarray(cv2.sepFilter2D(plane, -1, weights, weights, borderType=cv2.BORDER_REPLICATE), np.float64)

    middle = mean(luminance)
    deviation = np.sqrt(np.abs(mean(luminance**2) - middle**2))
    return _settled((luminance - middle) / (deviation + 1))


def log_colours(image: Array) -> Array:
    """Intensity, yellow against blue and red against green of the logarithms (Ruderman et al. 1998)."""
    logs = np.log(image + 1e-5)
    red, green, blue = np.moveaxis(logs - logs.mean(axis=(0, 1)), 2, 0)
    return np.stack([(red + green + blue) / 3**0.5, (red + green - 2 * blue) / 6**0.5, (red - green) / 2**0.5], axis=2)


def slopes(maps: Array, scale: int, *, settle: bool = False) -> tuple[Array, Array]:
    """Derivatives across and down by a derivative of a Gaussian; outside the image there is nothing."""
    sigma = 1.66 / scale**0.28
    reach = int(np.ceil(3 * sigma))
    x = np.arange(-reach, reach + 1)
    bell = np.exp(-(x**2) / (2 * sigma**2))
    # the filter is a convolution and OpenCV's a correlation, hence the sign
    change = -x * bell
    across = np.asarray(cv2.sepFilter2D(maps, -1, change, bell, borderType=cv2.BORDER_CONSTANT), np.float64)
    down = np.asarray(cv2.sepFilter2D(maps, -1, bell, change, borderType=cv2.BORDER_CONSTANT), np.float64)
    return (_settled(across), _settled(down)) if settle else (across, down)


def responses(luminance: Array, scale: int) -> Iterator[Array]:
    """Answers of 3 × 4 log-Gabor filters, one at a time: the even part and the odd part as two channels."""
    octaves, turns = _bank(len(luminance), scale)
    spectrum = fft.fft2(luminance)
    for octave in octaves:
        ring = spectrum * octave
        for turn in turns:
            answer = fft.ifft2(ring * turn, overwrite_x=True)
            yield answer.view(np.float64).reshape(*luminance.shape, 2)


@cache
def _bank(side: int, scale: int) -> tuple[Array, Array]:
    """Log-Gabor filters in the frequency domain, in their two factors: three rings and four directions."""
    across, down = np.meshgrid(fft.fftfreq(side), fft.fftfreq(side))
    radius = np.hypot(across, down)
    radius[0, 0] = 1
    wavelengths = 2.4 / scale**0.87 * 1.31 ** np.arange(3)
    octaves = np.exp(-(np.log(radius * wavelengths[:, None, None]) ** 2) / (2 * np.log(0.55) ** 2))
    octaves[:, 0, 0] = 0
    angles = np.arctan2(-down, across) - np.arange(4)[:, None, None] * np.pi / 4
    away = np.angle(np.exp(1j * angles))
    return octaves, np.exp(-(away**2) / (2 * (np.pi / 4 / 1.1) ** 2))


def _bell(length: int, sigma: float) -> Array:
    x = np.arange(length) - (length - 1) / 2
    weights = np.exp(-(x**2) / (2 * sigma**2))
    return np.asarray(weights / weights.sum(), np.float64)


def _settled(values: Array) -> Array:
    values[np.abs(values) < NOTHING] = 0
    return values
