"""Which blur a picture has, estimated from its spectrum.

The power of a photograph falls as a power of frequency; a blur multiplies it by its own squared transfer function and
noise adds a floor: P(f) = A·(f^−α·|H(f)|² + ρ). Every candidate H is fitted to the mean logarithmic spectrum of
overlapping blocks (A exactly, α and ρ on a grid); the one that leaves the smallest residual is taken, if it beats no
blur at all by enough. The rings of a disk and the stripes of a line are what tells them apart.
"""

from __future__ import annotations

from functools import cache, lru_cache
from operator import itemgetter
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import fft

from convergebench.editors.classical.psf import PointSpread, otf
from convergebench.images.frame import Plane

BLOCK, LARGE_BLOCK = 128, 256
"""Sides of the blocks; pictures from `LARGE` on, which may be blurred more widely, use the larger one."""
LARGE = 768
SMALLEST = 32
"""Smallest block, for small pictures."""
SLOPES = (1.8, 2.3, 2.8, 3.3)
FLOORS = tuple(float(10.0**power) for power in np.arange(-6.0, 0.1, 0.75))
"""Noise per power at the lowest frequency."""
LOWEST, HIGHEST = 0.03, 0.48
"""Frequencies that are compared, in cycles per pixel."""
FREQUENCIES, MORE_FREQUENCIES = 1500, 4000
"""About so many of them are compared in the first pass, over all candidates, and in the second, over the best."""
FINALISTS = 3
TEXTURED = 0.5
"""Share of the blocks, those with the most contrast, that are used."""
LEAST_GAIN = {"gauss": 0.12, "disk": 0.2, "line": 0.3}
"""Share of the misfit that a blur must explain; more for those that do more harm if they are wrong."""
GAUSSIANS = (0.6, 0.8, 1.0, 1.25, 1.5, 2.0, 2.5, 3.0, 4.0)
DISKS = (1.5, 2.0, 2.5, 3.0, 3.5, 4.0, 5.0, 6.0, 7.0, 8.0, 10.0, 12.0)
LINES = (7.0, 9.0, 11.0, 13.0, 16.0, 19.0, 23.0, 27.0, 32.0, 38.0, 46.0)
ANGLES = tuple(float(angle) for angle in range(0, 180, 15))

STREAKS = (0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 32.0)
LEAST_GAIN_OVER_STREAKS = 0.1
"""Share of the misfit that a line must explain beyond streaks: boards, reeds and scratches all run one way, but only
motion leaves zeros at regular frequencies."""

Spectrum = NDArray[np.float32]


class Streaks(NamedTuple):
    """Power that falls smoothly with the frequency along one direction, as in a picture of parallel things."""

    width: float
    angle: float


class BlurEstimate(NamedTuple):
    """The most likely blur, None for none; and the share of the misfit that it explains."""

    psf: PointSpread | None
    gain: float


def estimate_blur(plane: Plane) -> BlurEstimate:
    """The blur of a picture's luminance. Pictures too small to tell, or without contrast, have none."""
    side = LARGE_BLOCK if min(plane.shape) >= LARGE else BLOCK
    while side > min(plane.shape):
        side //= 2
    seen = _spectrum(plane, side) if side >= SMALLEST else None
    if seen is None:
        return BlurEstimate(None, 0.0)
    ranked = _ranked(seen, side, _candidates(side), FREQUENCIES)
    if ranked[0][1].shape == "line":
        # a long line between two angles of the grid fits worse than a short one: look again at finer angles
        ranked = sorted(
            [*ranked, *_ranked(seen, side, _turned(ranked[0][1].angle, side), FREQUENCIES)], key=itemgetter(0)
        )
    near = dict.fromkeys(one for _, psf in ranked[:FINALISTS] for one in _around(psf))
    least, best = _ranked(seen, side, list(near), MORE_FREQUENCIES)[0]
    stride = max(1, len(seen) // MORE_FREQUENCIES)
    plain = _misfit(seen, side, None, stride)
    gain = float(1 - least / plain) if plain > 0 else 0.0
    believed = gain > LEAST_GAIN[best.shape]
    if believed and best.shape == "line":
        grain = min(_misfit(seen, side, Streaks(width, best.angle), stride) for width in STREAKS)
        believed = least < (1 - LEAST_GAIN_OVER_STREAKS) * grain
    return BlurEstimate(best if believed else None, gain)


def _ranked(
    seen: Spectrum, side: int, candidates: list[PointSpread], frequencies: int
) -> list[tuple[float, PointSpread]]:
    """Misfits and candidates, the best first."""
    stride = max(1, len(seen) // frequencies)
    return sorted(((_misfit(seen, side, psf, stride), psf) for psf in candidates), key=itemgetter(0))


def _spectrum(plane: Plane, side: int) -> Spectrum | None:
    """Mean logarithmic power of the textured blocks at the frequencies that are compared."""
    window = _window(side)
    rows, columns = (range(0, length - side + 1, side // 2) for length in plane.shape)
    blocks = np.stack([plane[row : row + side, column : column + side] for row in rows for column in columns])
    blocks = (blocks - blocks.mean(axis=(1, 2), keepdims=True)) * window
    contrast = np.square(blocks).mean(axis=(1, 2))
    used = np.argsort(-contrast, kind="stable")[: max(1, round(TEXTURED * len(blocks)))]
    used = used[contrast[used] > 1e-7]
    if not len(used):
        return None
    total = np.zeros((side, side // 2 + 1))
    for block in blocks[used]:
        total += np.log(np.square(np.abs(fft.rfft2(block))) + 1e-9)
    return np.asarray(total[_frequencies(side)[0]] / len(used), np.float32)


@cache
def _window(side: int) -> Plane:
    profile = np.hanning(side + 2)[1:-1]
    return np.outer(profile, profile).astype(np.float32)


@cache
def _frequencies(side: int) -> tuple[NDArray[np.bool_], Plane]:
    down, across = np.fft.fftfreq(side)[:, None], np.fft.rfftfreq(side)[None, :]
    radius = np.hypot(down, across)
    # the axes hold what straight edges of buildings and the borders of codec blocks leave there
    used = (radius > LOWEST) & (radius < HIGHEST) & (np.abs(down) > 1.5 / side) & (np.abs(across) > 1.5 / side)
    return used, np.maximum(radius, 1 / side).astype(np.float32)


@cache
def _seen_through_window(side: int) -> Plane:
    """Autocorrelation of the window: multiplies that of the picture, which fills the zeros of a blur a little."""
    power = np.square(np.abs(fft.rfft2(_window(side), (2 * side, 2 * side))))
    whole = fft.irfft2(power)[np.ix_(_wrapped(side), _wrapped(side))]
    return np.asarray(whole / whole[0, 0], np.float32)


def _wrapped(side: int) -> NDArray[np.int64]:
    lags = np.arange(side)
    return np.where(lags <= side // 2, lags, lags + side)


def _candidates(side: int) -> list[PointSpread]:
    found = [PointSpread("gauss", size) for size in GAUSSIANS]
    found += [PointSpread("disk", size) for size in DISKS]
    found += [PointSpread("line", size, angle) for size in LINES for angle in ANGLES]
    return [psf for psf in found if 2 * psf.reach + 3 <= side // 2]


def _turned(angle: float, side: int) -> list[PointSpread]:
    turns = (-10.0, -5.0, 5.0, 10.0)
    found = [PointSpread("line", size, (angle + turn) % 180) for size in LINES for turn in turns]
    return [psf for psf in found if 2 * psf.reach + 3 <= side // 2]


def _around(psf: PointSpread) -> list[PointSpread]:
    """The candidate and its neighbours between it and the next ones of the grid."""
    sizes = [round(psf.size * factor, 2) for factor in (0.86, 0.93, 1.0, 1.07, 1.14)]
    turns = (-10.0, -5.0, 0.0, 5.0, 10.0) if psf.shape == "line" else (0.0,)
    return [PointSpread(psf.shape, size, (psf.angle + turn) % 180) for size in sizes for turn in turns]


def _power(side: int, psf: PointSpread | Streaks | None) -> Plane:
    if psf is None:
        return np.ones((side, side // 2 + 1), np.float32)
    if isinstance(psf, Streaks):
        down, across = np.fft.fftfreq(side)[:, None], np.fft.rfftfreq(side)[None, :]
        turned = np.deg2rad(psf.angle)
        along = across * np.cos(turned) - down * np.sin(turned)
        return np.asarray(np.exp(-np.square(2 * np.pi * psf.width * along)), np.float32)
    return np.asarray(np.square(np.abs(otf(psf.kernel(), (side, side)))), np.float32)


@lru_cache(maxsize=1024)
def _expected(side: int, psf: PointSpread | Streaks | None) -> Spectrum:
    """Power that each slope leads to, without noise, at the frequencies that are compared."""
    used, radius = _frequencies(side)
    blurred = _power(side, psf)
    found = []
    for slope in SLOPES:
        power = (radius / np.float32(LOWEST)) ** np.float32(-slope) * blurred
        smeared = fft.rfft2(fft.irfft2(power, (side, side)) * _seen_through_window(side)).real
        found.append(np.maximum(smeared[used], 1e-9))
    return np.asarray(found, np.float32)


def _misfit(seen: Spectrum, side: int, psf: PointSpread | Streaks | None, stride: int) -> float:
    """Variance of what is left of the logarithmic spectrum; a variance needs no A."""
    expected, observed = _expected(side, psf)[:, ::stride], seen[::stride]
    return min(float(np.var(observed - np.log(shape + np.float32(floor)))) for shape in expected for floor in FLOORS)
