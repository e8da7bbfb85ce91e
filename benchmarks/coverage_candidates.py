"""Intervals that were tried for the score before one was chosen: python -m benchmarks.coverage_candidates [--quick]

Prints, per world and number of sources, how often each holds the truth (it should be 95 %) and, behind the stroke, the
median width. `corrected-t` is the one in use; it is computed here by the tool itself.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator

import numpy as np
from scipy.special import ndtr, ndtri, stdtrit

from benchmarks.coverage_worlds import EXTREME, SCORE, USUAL, truth
from convergebench.analysis.bootstrap import Bootstrap
from convergebench.analysis.trajectories import Floats

SOURCES = (5, 8, 12, 30)
DRAWS = 1000
TAIL = np.array([0.025, 0.975])


def candidates(features: Floats) -> Iterator[tuple[str, Floats]]:
    """Name and ends (runs × 2) of every interval; features are runs × sources × features."""
    sources = features.shape[1]
    totals = features.sum(axis=1)
    estimate, left_out = SCORE.value(totals), SCORE.value(totals[:, None, :] - features)
    drawn = SCORE.value(np.einsum("dn,rnf->rdf", weights(sources), features, optimize=True))
    expanded = ndtr(np.sqrt(sources / (sources - 1)) * stdtrit(sources - 1, TAIL))
    yield "percentile", quantiles(drawn, TAIL)
    yield "expanded", quantiles(drawn, expanded)
    yield "BCa, expanded", quantiles(drawn, accelerated(estimate, drawn, left_out, expanded))
    away = (sources - 1) * (left_out.mean(axis=1, keepdims=True) - left_out)
    error = np.sqrt((away**2).sum(axis=1) / (sources * (sources - 1)))[:, None]
    student, middle = stdtrit(sources - 1, TAIL), estimate[:, None]
    yield "jackknife t", middle + error * student
    loss = np.maximum(100 - middle, 1e-12)
    yield "t of log loss", 100 - loss * np.exp(-student * error / loss)
    yield "bootstrap t", middle - error * bootstrap_t(away)[:, ::-1]
    skewness = (away**3).mean(axis=1) / np.maximum((away**2).mean(axis=1), 1e-300) ** 1.5
    bend = np.where(np.abs(skewness) < 1e-6, 1e-6, skewness)[:, None] / np.sqrt(sources)
    yield "Hall's t", middle - error * 3 / bend * (np.cbrt(1 + bend * (student[::-1] - bend / 6)) - 1)
    bands = [Bootstrap().statistic(each, SCORE.value, bounds=(0, 100)) for each in features]
    yield "corrected-t", np.array([(band.low[0], band.high[0]) for band in bands])


def weights(sources: int) -> Floats:
    """The same draws for all runs."""
    generator = np.random.default_rng(sources)
    return generator.multinomial(sources, np.full(sources, 1 / sources), size=DRAWS).astype(np.float64)


def quantiles(drawn: Floats, levels: Floats) -> Floats:
    """Of each row of draws, at the same or at its own two levels."""
    place = np.broadcast_to(levels, (drawn.shape[0], 2)) * (DRAWS - 1)
    below = np.clip(np.floor(place).astype(np.int64), 0, DRAWS - 2)
    ordered = np.sort(drawn, axis=1)
    low, high = (np.take_along_axis(ordered, index, axis=1) for index in (below, below + 1))
    return np.asarray(low + (high - low) * (place - below))


def accelerated(estimate: Floats, drawn: Floats, left_out: Floats, levels: Floats) -> Floats:
    """The levels of BCa (Efron 1987)."""
    below = (drawn < estimate[:, None]).mean(axis=1)
    bias = ndtri(np.clip(below, 1 / (DRAWS + 1), DRAWS / (DRAWS + 1)))[:, None]
    away = left_out.mean(axis=1, keepdims=True) - left_out
    scale = np.maximum((away**2).sum(axis=1), 1e-300) ** 1.5
    shifted = bias + ndtri(levels)
    return np.asarray(ndtr(bias + shifted / (1 - ((away**3).sum(axis=1) / (6 * scale))[:, None] * shifted)))


def bootstrap_t(away: Floats) -> Floats:
    """Quantiles of t over draws of the influences; draws without spread count as 0."""
    sources = away.shape[1]
    drawn = away @ weights(sources).T / sources
    variance = np.maximum((away**2) @ weights(sources).T / sources - drawn**2, 0) / (sources - 1)
    enough = variance > 1e-12 * (away**2).mean(axis=1, keepdims=True)
    return quantiles(np.divide(drawn, np.sqrt(variance), out=np.zeros_like(drawn), where=enough), TAIL)


def main(arguments: list[str]) -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.coverage_candidates", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="few runs of each world")
    runs = 300 if parser.parse_args(arguments).quick else 3000
    for number, (name, world) in enumerate({**USUAL, **EXTREME}.items()):
        for sources in SOURCES:
            features, real = world(np.random.default_rng([number, sources]), runs, sources), truth(world)
            cells = {}
            for kind, ends in candidates(features):
                low, high = np.maximum(ends[:, 0], 0), np.minimum(ends[:, 1], 100)
                cells[kind] = f"{100 * ((low <= real) & (real <= high)).mean():.1f} / {np.median(high - low):.1f}"
            if not number and sources == SOURCES[0]:
                print("|".join(["| world | sources ", *(f" {kind} " for kind in cells), ""]))
                print("|---|---:|" + "---:|" * len(cells))
            print("|".join([f"| {name} | {sources} ", *(f" {cell} " for cell in cells.values()), ""]), flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
