"""A regular pattern over the picture: blocks of 8 pixels as JPEG leaves them, patches of 16, fine waves.

Where: the flatter half of 64-pixel squares of the source. Two signs, both from power spectra averaged over the squares
as logarithms (so that no square dominates): each frequency is compared with the median of those around it, and that
with the source, so that its own bookshelves and tiled walls do not count.

*Waves*: a frequency of luma stands out by 1.6 (a factor of 5) more than in the source, and its power has grown
threefold in six squares of ten: ripples along one outline do not spread that far. *Seams*: patches that do not quite
match have no single frequency, but steps between neighbouring pixels are larger at every eighth or sixteenth pixel.
So the size of these steps is analysed along each axis, and all harmonics of a period must stand out together,
by 1.2 on average.

A fixed power is added before logarithms are taken, so that invisible patterns of less than about a tenth of a level
cannot stand out. Both thresholds lie above what pictures saved once as JPEG at 90 or better show.

Cannot see: patterns in the busier half of the picture alone, periods over 32 pixels or under 4 (seams) or 2 (waves),
seams that do not run along the axes. A step that is larger than its source is reduced first; periods are given in its
own pixels.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from convergebench.failures._aligned_pair import AlignedPair, Tile, aligned_to_source
from convergebench.failures._onset import StepScore, find_onset
from convergebench.failures._spectrum import frequencies, power, ring, soft, to_planes
from convergebench.failures.base import ChainView, Examination, detector
from convergebench.images.frame import Frame, Plane

WAVES, SEAMS = 1.6, 1.2
"""Growth of the prominence, in natural logarithms of power, that counts."""
REACHES, THREEFOLD = 0.6, float(np.log(3))
"""Share of the squares in which a wave must have grown, and by how much."""
SIDE, MOST = 64, 64
FEWEST = 6
PERIODS = (4, 5, 6, 7, 8, 10, 12, 14, 16, 20, 24, 28, 32)
"""Of seams, in pixels."""
LONGEST = 34.0
"""Longest period in pixels; longer waves are shading."""
UNSEEN = np.array([10.0, 3.0, 3.0], dtype=np.float32)[:, None, None]
"""Power added to waves and to both kinds of steps: that of an amplitude of 0.15 level, or steps of 0.1 level."""
AROUND = 9
"""Side of the square of frequencies that one is compared with."""
BLUR = 3.0
CLIPPED, AT_LEAST = 3.0, 6.0
"""Spreads beyond which a pixel is clipped as an outline, and levels that never are."""
_FROM_MEDIAN = 1.4826


class _Pattern(NamedTuple):
    score: float
    waves: float
    seams: float
    period: float
    angle: float
    """Direction in which the pattern repeats, in degrees from horizontal."""
    kind: str
    place: tuple[int, int, int]
    """Plane and frequency that show it; locates the square where it is strongest."""


@detector(
    "lattice",
    level="noise",
    title="Lattice",
    rule=(
        "in the flatter half of the picture a frequency stands out from those around it by a factor of 5 more than in "
        "the source, or all harmonics of a period of seams by a factor of 3.3, for three steps in a row"
    ),
    paper="",
)
def lattice(chain: ChainView) -> Examination:
    """A periodic pattern, such as blocks of 8 or patches of 16 pixels, that the source does not have."""

    def measure(index: int) -> StepScore | None:
        pair = aligned_to_source(chain, index)
        tiles = [] if pair is None else pair.tiles(SIDE, MOST)
        if pair is None or len(tiles) < FEWEST:
            return None
        flat, before, usual = _flat(pair, tiles)
        after = np.log(_spectra(pair.step, flat) + UNSEEN)
        found = _pattern(after, before, usual)
        period = found.period * pair.scale
        plane, down, across = found.place
        where = flat[int((after - before)[:, plane, down, across].argmax())]
        numbers = {"waves": found.waves, "seams": found.seams}
        if found.score >= 1:
            numbers |= {"period": period, "direction": found.angle}
        return StepScore(
            found.score,
            numbers,
            f"a pattern of {found.kind} every {period:.1f} pixels {_direction(found.angle)} stands out by a factor of "
            f"{np.exp(max(found.waves, found.seams)):.0f} more than in the source",
            pair.box(where, around=2.0),
        )

    return find_onset(chain, measure)


def _direction(angle: float) -> str:
    if angle <= 10 or angle >= 170:
        return "across"
    if 80 <= angle <= 100:
        return "down"
    return f"at {angle:.0f}°"


def _flat(pair: AlignedPair, tiles: list[Tile]) -> tuple[list[Tile], Plane, Plane]:
    """The flatter half of the squares, the source's log spectra there, and their prominence."""

    def make(source: Frame) -> tuple[list[Tile], Plane, Plane]:
        spectra = _spectra(source, tiles)
        busy = spectra[:, 0][:, ring(spectra.shape[-2], 0.06, 0.5)].mean(axis=-1)
        order = np.argsort(busy)[: max(FEWEST, len(tiles) // 2)]
        logarithms = np.log(spectra[order] + UNSEEN)
        return [tiles[place] for place in order], logarithms, np.maximum(_prominence(logarithms.mean(axis=0)), 0)

    return pair.source.derived(("lattice", tuple(tiles)), make)


def _spectra(frame: Frame, tiles: list[Tile]) -> Plane:
    """Tiles × (luma, steps across, steps down) × frequencies."""
    luma = to_planes(np.stack([tile.of(frame.pixels) for tile in tiles]))[:, 0]
    rest = luma - soft(luma, BLUR)
    spread = _FROM_MEDIAN * np.median(np.abs(rest), axis=(-2, -1), keepdims=True)
    bound = np.maximum(AT_LEAST, CLIPPED * spread)
    across = np.abs(np.diff(luma, axis=2, append=luma[:, :, -1:]))
    down = np.abs(np.diff(luma, axis=1, append=luma[:, -1:]))
    return np.stack([power(np.clip(rest, -bound, bound)), power(_capped(across)), power(_capped(down))], axis=1)


def _capped(steps: Plane) -> Plane:
    """Steps clipped to a multiple of their median: one outline must not outweigh a hundred seams."""
    usual = np.median(steps, axis=(-2, -1), keepdims=True)
    return np.minimum(steps, np.maximum(AT_LEAST, 4 * usual))


def _pattern(after: Plane, before: Plane, usual: Plane) -> _Pattern:
    grown = _prominence(after.mean(axis=0)) - usual
    side = grown.shape[1]
    down, across = frequencies(side)
    radius = np.hypot(down, across)
    waves = np.where((radius >= 1 / LONGEST) & (radius <= 0.5), grown[0], 0)
    top = np.unravel_index(int(waves.argmax()), waves.shape)
    reach = float(((after - before)[:, 0, top[0], top[1]] > THREEFOLD).mean())
    wave = float(waves[top]) if reach >= REACHES else 0.0
    rows = grown[1, 0], grown[2, : side // 2 + 1, 0]
    seams = [_comb(row, side) for row in rows]
    axis = int(seams[1].strength > seams[0].strength)
    seam = seams[axis]
    if wave / WAVES >= seam.mean / SEAMS:
        angle = float(np.degrees(np.arctan2(down[top], across[top])) % 180)
        place = (0, int(top[0]), int(top[1]))
        return _Pattern(wave / WAVES, wave, seam.mean, 1 / max(1 / side, float(radius[top])), angle, "waves", place)
    first = round(side / seam.period)
    place = (1, 0, first) if axis == 0 else (2, first, 0)
    return _Pattern(seam.mean / SEAMS, wave, seam.mean, seam.period, 90.0 * axis, "seams", place)


def _prominence(logarithms: Plane) -> Plane:
    """Each frequency over the median of those around it."""
    side = logarithms.shape[1]
    # add the mirrored half plane: the axes would have no neighbours on one side
    mirrored = np.roll(logarithms[:, ::-1], 1, axis=1)[:, :, side // 2 - 1 : 0 : -1]
    whole = np.concatenate([logarithms, mirrored], axis=2)
    padded = np.pad(whole, ((0, 0), (AROUND // 2, AROUND // 2), (AROUND // 2, AROUND // 2)), mode="wrap")
    windows = sliding_window_view(padded, (AROUND, AROUND), axis=(1, 2)).reshape(*whole.shape, AROUND**2)
    middle = AROUND**2 // 2
    around = np.partition(windows, middle, axis=-1)[..., middle]  # half the time of SciPy's median filter
    return np.asarray((whole - around)[:, :, : side // 2 + 1], np.float32)


class _Seams(NamedTuple):
    strength: float
    mean: float
    period: float


def _comb(row: Plane, side: int) -> _Seams:
    """The period whose harmonics stand out most clearly together."""
    found = []
    for period in PERIODS:
        harmonics = sorted({round(side * number / period) for number in range(1, period // 2 + 1)})
        heights = row[[place for place in harmonics if 2 <= place <= side // 2]]
        if heights.size >= 2:
            # more harmonics at the same height are better evidence, so 8 wins over 4
            found.append(_Seams(float(heights.mean() * np.sqrt(heights.size)), float(heights.mean()), float(period)))
    return max(found)
