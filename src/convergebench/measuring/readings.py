"""The readings of one metric; what goes wrong in it is one line."""

from __future__ import annotations

import math
from collections.abc import Sequence

from convergebench.errors import ConvergeBenchError, StudyError
from convergebench.metrics.base import Item, Metric, Reading


def readings_of(metric: Metric, items: Sequence[Item], what: str = "") -> list[Reading]:
    """The metric's readings; an exception becomes a `StudyError`, and no row, so that a fixed metric fills the gap."""
    try:
        return [_finite(reading) for reading in metric.measure(items)]
    except ConvergeBenchError:  # e.g. missing weights, with the command that installs them
        raise
    except Exception as error:
        raise StudyError(
            f"metric '{metric.facts.name}' failed on {what or items[0].subject.id}: {type(error).__name__}: {error}; "
            "what was measured is kept. Fix the metric, or measure without it"
        ) from error


def _finite(reading: Reading) -> Reading:
    """NaN becomes a missing value; infinity (PSNR of an unchanged image) is a value."""
    if reading.value is None or not math.isnan(reading.value):
        return reading
    return Reading(None, "not-finite", "the metric gave no number")
