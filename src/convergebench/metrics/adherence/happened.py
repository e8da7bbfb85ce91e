"""Did the step do what it was asked to?

A mirroring or turning is exact: with d the RMSE after fitting sizes, T the transform and p the parent, the value is
d(image, p) / (d(image, p) + d(image, T(p))), 1 for exactly done and 0 for nothing done. Adding, removing or changing
something is a change in one place beyond what happened everywhere: (inside − outside) / (inside + outside) of the mean
change, 0 if there is no such place.
"""

from __future__ import annotations

from convergebench.errors import Unmeasurable
from convergebench.images.frame import Frame
from convergebench.metrics._region import changed_region
from convergebench.metrics.adherence._distance import distance
from convergebench.metrics.base import Item, metric
from convergebench.metrics.operations import expected, is_geometric
from convergebench.types import Operation

SYMMETRIC = 1 / 255
"""RMSE under which an image and its mirror image are the same."""


@metric(
    "happened",
    kind="adherence",
    better="higher",
    range=(0.0, 1.0),
    roles=("forward",),
    self_value=0.0,
    aligned=False,
)
def happened(item: Item) -> float:
    """Whether the edit was done: 1 done and nothing else, 0 nothing done."""
    if item.reference is None:
        raise Unmeasurable("no-reference", "there is no image to compare with")
    if item.operation == "replicate":
        raise Unmeasurable("nothing-asked", "a copy was asked for; no edit to look for")
    if is_geometric(item.operation):
        return transformed(item.subject, item.reference, item.operation)
    region = changed_region(item.subject, item.reference)
    if region is None:
        return 0.0
    return max(0.0, (region.inside - region.outside) / (region.inside + region.outside))


def transformed(subject: Frame, parent: Frame, operation: Operation | None) -> float:
    """How much nearer the subject is to the transformed parent than to the parent, from 0 to 1."""
    target = expected(parent, operation)
    if distance(target, parent) < SYMMETRIC:
        raise Unmeasurable("symmetric", "the image and its transform are the same")
    from_parent, from_target = distance(subject, parent), distance(subject, target)
    return from_parent / (from_parent + from_target)
