"""What a step did to the rest of the picture."""

from __future__ import annotations

import cv2
import numpy as np

from convergebench.errors import Unmeasurable
from convergebench.metrics._lab import lab
from convergebench.metrics._region import changed_region
from convergebench.metrics.base import Item, metric
from convergebench.metrics.diagnostics._step import STEP, parent
from convergebench.metrics.operations import expected


@metric(
    "side-effect",
    kind="diagnostic",
    better="lower",
    range=(0.0, 200.0),
    unit="ΔE",
    roles=STEP,
    self_value=0.0,
    aligned=False,
)
def side_effect(item: Item) -> float:
    """Mean colour change (CIE76) outside the edited region; over the whole image for mirroring and rotating."""
    start = expected(parent(item), item.operation)
    if item.subject.size != start.size:
        raise Unmeasurable("size", f"{item.subject.width}×{item.subject.height} vs {start.width}×{start.height}")
    change = sum(np.square(one - other) for one, other in zip(lab(item.subject), lab(start), strict=True))
    distance = np.sqrt(change)
    region = changed_region(item.subject, start) if start is item.reference else None
    if region is None:
        return float(distance.mean())
    inside = cv2.resize(region.mask.astype(np.uint8), start.size, interpolation=cv2.INTER_NEAREST)
    outside = distance[inside == 0]
    if not outside.size:
        raise Unmeasurable("all-edited", "the whole image counts as edited")
    return float(outside.mean())
