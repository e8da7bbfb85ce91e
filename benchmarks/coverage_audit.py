"""How often the intervals of an audit hold the truth: `rows()` for `python -m benchmarks.coverage`.

Audits are simulated whose truth is known and whose intervals are made by the audit's own functions. Damage over
content: what is on a picture spreads scores in five ways, from even to very skewed. Filters: scores of untouched images
set the threshold and go with those of their damaged copies. Failures: images differ in how hard they are, or do not.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np
import polars as pl
from scipy.special import ndtri

from convergebench.analysis.audit.confound import damage_over_content
from convergebench.analysis.audit.filter_interval import draw_thresholds, pass_interval
from convergebench.analysis.audit.settings import images_for
from convergebench.analysis.bootstrap import Bootstrap
from convergebench.analysis.trajectories import Floats

SAID = 0.95
RUNS, DRAWS = 400, 500
Random = np.random.Generator


def rows() -> list[tuple[str, int, float, float]]:
    """(what, sources, nominal, actual) of every interval that an audit prints; a minute or two."""
    return [*_effects(), *_filters(), *_failures()]


def _skewed(random: Random, size: int, width: float) -> Floats:
    """Lognormal, with mean 0 and spread 1."""
    mean, variance = np.exp(width**2 / 2), (np.exp(width**2) - 1) * np.exp(width**2)
    return np.asarray((np.exp(random.normal(0, width, size)) - mean) / np.sqrt(variance))


CONTENT: dict[str, Callable[[Random, int], Floats]] = {
    "even": lambda random, size: random.uniform(-(3**0.5), 3**0.5, size),
    "normal": lambda random, size: random.normal(size=size),
    "skewed": lambda random, size: _skewed(random, size, 0.3),
    "very skewed": lambda random, size: _skewed(random, size, 0.5),
    "heavy tails": lambda random, size: random.standard_t(5, size) / (5 / 3) ** 0.5,
}
"""Scores of untouched images, each with spread 1."""


def _effects() -> Iterator[tuple[str, int, float, float]]:
    for name, content in CONTENT.items():
        for ratio in (0.5, 2.0):
            for sources in (5, 8, 12, 20, 40):
                random = np.random.default_rng([sources, int(10 * ratio)])
                held = [_effect_held(random, content, sources, ratio) for _ in range(RUNS)]
                yield f"damage over content: {ratio:g}, {name} content", sources, SAID, float(np.mean(held))


def _effect_held(random: Random, content: Callable[[Random, int], Floats], sources: int, ratio: float) -> bool:
    names = [f"{n:03}" for n in range(sources)]
    clean = content(random, sources)
    # what is on a picture also says a little of how far damage moves its score
    gaps = -ratio + 0.8 * (0.3 * clean + 0.95 * random.normal(size=sources))
    last = pl.DataFrame({"source": names, "gap": gaps})
    band = damage_over_content(last, pl.DataFrame({"source": names, "scaled": clean}), SAID)
    return bool(band.low[0] <= ratio <= band.high[0])


class Damage(NamedTuple):
    """What becomes of an untouched score c: keeps · c − drop, and noise; editors differ by up to half a point."""

    keeps: float
    drop: float
    noise: float


DAMAGE = {"mild": Damage(1, 0.5, 0.5), "plain": Damage(1, 1.5, 0.5), "levelling": Damage(0.5, 1, 0.3)}


def _filters() -> Iterator[tuple[str, int, float, float]]:
    for percentile in (5, 10, 25, 50):
        for name, damage in DAMAGE.items():
            for editors in (1, 5):
                told = (
                    f"passes a filter: percentile {percentile}, {name} damage by {editors} editor{'s' * (editors > 1)}"
                )
                truth = _passing(damage, editors, percentile)
                for sources in (8, 12, 20, 40):
                    if sources >= images_for(percentile):
                        yield told, sources, SAID, _filter_held(damage, editors, percentile, sources, truth)


def _damaged(random: Random, clean: Floats, damage: Damage, editors: int) -> Floats:
    apart = np.linspace(-0.5, 0.5, editors) if editors > 1 else np.zeros(1)
    noise = damage.noise * random.normal(size=(clean.size, editors))
    return np.asarray(damage.keeps * clean[:, None] - damage.drop - apart + noise)


def _passing(damage: Damage, editors: int, percentile: float) -> float:
    random = np.random.default_rng(0)
    return float((_damaged(random, random.normal(size=400_000), damage, editors) >= ndtri(percentile / 100)).mean())


def _filter_held(damage: Damage, editors: int, percentile: float, sources: int, truth: float) -> float:
    random, held = np.random.default_rng([sources, editors]), 0
    owners = np.arange(sources)
    for run in range(RUNS):
        clean = random.normal(size=sources)
        scores = _damaged(random, clean, damage, editors)
        drawn = draw_thresholds(clean, owners, percentile=percentile, of=sources, draws=DRAWS, seed=run)
        share = float((scores >= np.percentile(clean, percentile)).mean())
        low, high = pass_interval(scores.ravel(), owners.repeat(editors), share, drawn, SAID)
        held += low is not None and high is not None and low - 1e-9 <= truth <= high + 1e-9
    return held / RUNS


def _failures() -> Iterator[tuple[str, int, float, float]]:
    for share in (0.05, 0.2, 0.5):
        for editors in (1, 5):
            for likeness in (0.0, 0.5, 1.0) if editors > 1 else (0.0,):
                alike = f", alike by {likeness:.0%}" if editors > 1 else ""
                told = f"fails: {share:.0%}, {editors} editor{'s' * (editors > 1)} per image{alike}"
                for sources in (5, 8, 12, 20, 40):
                    yield told, sources, SAID, _failures_held(share, editors, likeness, sources)


def _failures_held(share: float, editors: int, likeness: float, sources: int) -> float:
    """Editors fail together on an image as often as `likeness` says, else each by itself."""
    random = np.random.default_rng([sources, editors, int(100 * share), int(10 * likeness)])
    together = random.random((sources, 10 * RUNS, 1)) < likeness
    own = random.random((sources, 10 * RUNS, editors)) < share
    hits = np.where(together, own[..., :1], own).sum(axis=2).astype(np.float64)
    band = Bootstrap(confidence=SAID).share(hits, np.full_like(hits, editors))
    return float(((band.low <= share) & (share <= band.high)).mean())
