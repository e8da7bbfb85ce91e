"""Every constant of the audit; each is a key of `[analysis.audit]` in a study file, and is printed with the result."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import ceil
from typing import Literal

from convergebench.analysis.bootstrap import FEWEST_SOURCES

GAPS = (5, 10, 20)
"""Where the damage is plain to the eye, as Banana100 has it."""

OFTEN = 0.25
"""Share of pictures on which a metric must fail to be called often fooled; under it, it is seldom fooled or sound."""

BEYOND = 2
"""Untouched images that must lie beyond a percentile, on average, before a filter is set there."""

PI_UPPER = 55.0
"""PI is half of (10 − NRQM) + NIQE and has no upper end of its own; with NRQM at 0 and NIQE at 100 it is this."""


@dataclass(frozen=True, slots=True)
class AuditSettings:
    """How scores become verdicts."""

    gaps: tuple[int, ...] = GAPS
    """The steps whose score is held against the baseline's; empty = those of 5, 10 and 20 that chains reach, else two
    that they do reach."""
    baseline: int = 1
    """The step that all others are held against: 1, because the first step may crop."""
    by: Literal["round", "step"] = "round"
    """What is counted: whole rounds (the picture shows the source again), or every single edit."""
    ranges: Mapping[str, tuple[float, float]] = field(default_factory=lambda: {"pi": (0.0, PI_UPPER)})
    """Range of a metric in place of its typical one; PI needs one."""
    percentiles: tuple[float, ...] = (5.0, 25.0, 50.0)
    """A filter keeps what scores at least as well as this percentile of untouched images; see `images_for`."""
    damage: str = ""
    """Full-reference metric that says how damaged a picture is; empty: LPIPS, SSIM or PSNR, the one that most chains
    have, against step 1 rather than against the source."""
    enough: int = 12
    """Images without a failure that it takes to call a metric sound."""
    draws: int = 2000
    seed: int = 0
    confidence: float = 0.95


def images_for(percentile: float) -> int:
    """Untouched images that a filter at this percentile takes: 40 for the 5th, 20 for the 10th, 8 for the 25th.

    With fewer the percentile hangs on one or two images; simulated intervals then hold the truth far too seldom
    (`python -m benchmarks.coverage`).
    """
    beyond = min(percentile, 100 - percentile) / 100
    return max(FEWEST_SOURCES, ceil(BEYOND / beyond - 1e-9))
