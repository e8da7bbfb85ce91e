"""Constants of the audit that study files cannot change; `convergebench.studies.analysis_settings` has the others."""

from __future__ import annotations

from math import ceil

from convergebench.analysis.bootstrap import FEWEST_SOURCES

GAPS = (5, 10, 20)
"""Steps at which the damage is plainly visible, as in Banana100."""

OFTEN = 0.25
"""Share of failures from which a metric is called often fooled; below it is seldom fooled or sound."""

BEYOND = 2
"""Untouched images needed beyond a percentile, on average, to set a filter there."""

RANGES = {"pi": (0.0, 55.0)}
"""PI is half of (10 − NRQM) + NIQE and has no upper end of its own; with NRQM at 0 and NIQE at 100 it is 55."""


def images_for(percentile: float) -> int:
    """Untouched images needed for a filter at this percentile: 40 for the 5th, 20 for the 10th, 8 for the 25th.

    With fewer, the percentile depends on one or two images and simulated intervals cover too seldom
    (`python -m benchmarks.coverage`).
    """
    beyond = min(percentile, 100 - percentile) / 100
    return max(FEWEST_SOURCES, ceil(BEYOND / beyond - 1e-9))
