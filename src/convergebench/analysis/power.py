"""Which differences a planned comparison can detect, and how many images the differences seen so far need."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from convergebench.analysis.paired import smallest_p, sources_needed

POWER = 0.8
LARGEST = 64.0
"""Largest difference considered, in spreads between images; beyond it only the number of images matters."""


def detectable(images: int, *, confidence: float, pairs: int) -> float | None:
    """The smallest difference, in spreads between images, found in 80 % of runs; None if none can be found."""
    low, high = 0.0, LARGEST
    if not _enough(images, high, confidence, pairs):
        return None
    for _ in range(40):
        middle = (low + high) / 2
        low, high = (low, middle) if _enough(images, middle, confidence, pairs) else (middle, high)
    return high


def plan_lines(images: int, editors: int, *, confidence: float, exact_up_to: int, permutations: int) -> list[str]:
    """Which difference this number of images detects between this number of ranked editors, for `--dry-run`."""
    if editors < 2:
        return []
    pairs = editors * (editors - 1) // 2
    count = f"{images} image{'' if images == 1 else 's'}"
    over = f", {pairs} pairs" if pairs > 1 else ""
    size = detectable(images, confidence=confidence, pairs=pairs)
    if size is None:
        least = smallest_p(images, exact_up_to=exact_up_to, permutations=permutations)
        needed = next(number for number in range(1, 1000) if _enough(number, LARGEST, confidence, pairs))
        return [
            f"{count} cannot tell editors apart, whatever comes out: the smallest p is {least:.2g}{over}; "
            f"take at least {needed}"
        ]
    return [
        f"{count} tell {editors} ranked editors apart in {POWER:.0%} of runs if they differ by {size:.2g} times the "
        f"spread between images{over}"
    ]


def seen_lines(pairwise: pl.DataFrame) -> list[str]:
    """How many images the differences seen so far need, for every pair that is not significant yet."""
    rows: Sequence[dict[str, object]] = pairwise.filter(~pl.col("significant")).to_dicts() if pairwise.height else []
    return [
        f"seen so far: {row['better']} over {row['worse']} by {row['difference']:.1f} (spread between images "
        f"{row['spread']:.1f}, {row['n_sources']} images); "
        + (f"about {row['needed']:,} images would tell" if row["needed"] else "no number of images would tell")
        for row in rows
        if row["spread"] is not None
    ]


def _enough(images: int, size: float, confidence: float, pairs: int) -> bool:
    needed = sources_needed(size, 1.0, confidence, pairs, POWER)
    return needed is not None and needed <= images
