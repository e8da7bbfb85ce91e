"""Simulated benchmarks whose truth is known, for `benchmarks.coverage`.

A world makes the features of a score (sums over cases of two areas, and the number of cases) for many runs at once:
runs × sources × 3. Losses are lognormal, cases of one image share half of their variance, and the two areas of a case
go together, unless the world's name says otherwise.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

import numpy as np

from convergebench.analysis.score import Score
from convergebench.analysis.trajectories import Floats

Generator = np.random.Generator
World = Callable[[Generator, int, int], Floats]
"""(generator, runs, sources) → runs × sources × features."""

SCORE = Score(("ssim",), "gist")
LOSS = 0.15


def summed(quality: Floats, semantic: Floats, there: Floats | None = None) -> Floats:
    """Features from areas per case (runs × sources × cases); `there` is 0 for cases that do not exist."""
    there = np.ones_like(quality) if there is None else there
    return np.stack([(quality * there).sum(-1), (semantic * there).sum(-1), there.sum(-1)], axis=-1)


def losses(generator: Generator, shape: tuple[int, int, int], sigma: float) -> tuple[Floats, Floats]:
    """Two correlated lognormal losses per case, alike within a source; one case per source is all its own."""
    runs, sources, cases = shape
    shared = 0.5 if cases > 1 else 0.0
    own = np.sqrt(1 - shared) * generator.normal(size=shape)
    first = np.sqrt(shared) * generator.normal(size=(runs, sources, 1)) + own
    second = 0.7 * first + np.sqrt(0.51) * generator.normal(size=shape)
    return LOSS * np.exp(sigma * first - sigma**2 / 2), 0.8 * LOSS * np.exp(sigma * second - sigma**2 / 2)


def skewed(sigma: float, cases: int) -> World:
    """Lognormal losses: their skewness is 1.8, 2.9 and 6.2 for sigma 0.5, 0.7 and 1."""

    def world(generator: Generator, runs: int, sources: int) -> Floats:
        first, second = losses(generator, (runs, sources, cases), sigma)
        return summed(1 - first, 1 - second)

    return world


def even(generator: Generator, runs: int, sources: int) -> Floats:
    """Areas spread evenly to both sides."""
    return summed(*(middle + 0.05 * generator.normal(size=(runs, sources, 1)) for middle in (0.80, 0.85)))


def near_the_top(generator: Generator, runs: int, sources: int) -> Floats:
    """Areas pressed against 1."""
    quality = generator.beta(9, 1, size=(runs, sources, 1))
    return summed(quality, 0.5 * quality + 0.5 * generator.beta(19, 1, size=quality.shape))


def unequal(generator: Generator, runs: int, sources: int) -> Floats:
    """One to five cases per image."""
    first, second = losses(generator, (runs, sources, 5), 0.7)
    kept = np.arange(5) < generator.integers(1, 6, size=(runs, sources, 1))
    return summed(1 - first, 1 - second, kept.astype(np.float64))


def half_done(generator: Generator, runs: int, sources: int) -> Floats:
    """Seven edits per image, some done and undone in no round or in some, which multiplies the area."""
    first, second = losses(generator, (runs, sources, 7), 0.5)
    willing = generator.beta(2, 1, size=(runs, sources, 1))
    done = generator.binomial(5, np.where(generator.random(first.shape) < willing, 0.95, 0.1)) / 5
    return summed((1 - first) * done, (1 - second) * done)


def wrecked(generator: Generator, runs: int, sources: int) -> Floats:
    """Every fourth image is wrecked, the others hardly change."""
    broken = generator.random((runs, sources, 1)) < 0.25
    wobble = 0.02 * generator.normal(size=broken.shape)
    return summed(np.where(broken, 0.6, 0.97) + wobble, np.where(broken, 0.7, 0.98) + wobble / 2)


USUAL: dict[str, World] = {
    "even": even,
    "near the top": near_the_top,
    "skewed losses, 1 case per image": skewed(0.7, 1),
    "skewed losses, 5 cases per image": skewed(0.7, 5),
    "1 to 5 cases per image": unequal,
    "edits done in part": half_done,
}
EXTREME: dict[str, World] = {
    "very skewed losses": skewed(1.0, 1),
    "every fourth image wrecked": wrecked,
}


@lru_cache(maxsize=32)
def truth(world: World) -> float:
    """The score over very many images."""
    totals = sum(world(np.random.default_rng(part), 1, 100_000)[0].sum(axis=0) for part in range(10))
    return float(SCORE.value(np.asarray(totals)))


def rivals(generator: Generator, runs: int, sources: int, worse: float) -> tuple[Floats, Floats]:
    """Two editors on the same images, three cases each; the second loses `worse` times as much."""
    image = generator.normal(size=(runs, sources, 1))
    found = []
    for factor in (1.0, worse):
        first, second = losses(generator, (runs, sources, 3), 0.5)
        alike = factor * np.exp(0.3 * image - 0.045)
        found.append(summed(1 - alike * first, 1 - alike * second))
    return found[0], found[1]


def hits(generator: Generator, shape: tuple[int, int], cases: int, share: float, agreement: float) -> Floats:
    """How many cases of each source have it, with this correlation between cases of one source (beta-binomial)."""
    if not agreement:
        return generator.binomial(cases, share, size=shape).astype(np.float64)
    scale = (1 - agreement) / agreement
    return generator.binomial(cases, generator.beta(share * scale, (1 - share) * scale, size=shape)).astype(np.float64)
