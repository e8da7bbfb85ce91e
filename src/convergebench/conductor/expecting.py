"""Roughly how long the stages after editing take, so that the time left at the start leaves nothing out."""

from __future__ import annotations

import os

from convergebench.engine.prepared import Prepared
from convergebench.metrics import load_metric

PIXELS, NETWORK = 0.05, 1.0
"""Seconds per value and megapixel on one core: metrics computed from pixels, and networks. Within a factor of three."""
SMALLEST = 0.05
"""Megapixels below which a picture takes no less time."""
REPORT, PER_PICTURE = 4.0, 0.03
"""Seconds of any report, and for each picture of it."""


def measuring_seconds(prepared: Prepared, *, steps: int, workers: int | None = None) -> float:
    """For the metrics of the study, about one value each per step; questions to models are not counted."""
    facts = [load_metric(name).facts for name in prepared.metrics]
    each = sum(NETWORK if one.network else PIXELS for one in facts if not one.asks)
    sizes = [max(SMALLEST, image.width * image.height / 1e6) for image in prepared.sources]
    return steps * each * (sum(sizes) / max(1, len(sizes))) / (workers or os.cpu_count() or 1)


def report_seconds(steps: int) -> float:
    """For tables, plots and pages."""
    return REPORT + PER_PICTURE * steps


def seconds_after_editing(
    prepared: Prepared, *, steps: int | None = None, workers: int | None = None, report: bool = True
) -> float:
    """Of measuring and the report together."""
    count = sum(chain.study.calls(chain.case) for chain in prepared.chains) if steps is None else steps
    return measuring_seconds(prepared, steps=count, workers=workers) + (report_seconds(count) if report else 0.0)
