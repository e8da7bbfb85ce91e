"""Did the step do what it was requested to do?

A mirroring or turning is exact: with d the RMSE after fitting sizes, T the transform and p the parent, the value is
d(image, p) / (d(image, p) + d(image, T(p))), 1 for exactly done and 0 for nothing done. Adding, removing or changing
something is a change in one place beyond what happened everywhere: (inside − outside) / (inside + outside) of the mean
change, 0 if there is no such place. Removing colour is the share of the mean chroma that is gone; adding
colour is c / (c + 4) with c the mean chroma, ½ where it is just noticeable. Whether a picture was well decomposed into
patches and edges or well rebuilt from them cannot be measured this way and has no value.
"""

from __future__ import annotations

from convergebench.errors import Unmeasurable
from convergebench.images.frame import Frame
from convergebench.metrics._lab import mean_lab
from convergebench.metrics._region import changed_region
from convergebench.metrics.adherence._distance import distance
from convergebench.metrics.base import Item, metric
from convergebench.metrics.operations import expected, is_geometric
from convergebench.types import Operation

COLOURFUL = 4.0
"""Mean chroma (ΔE) at which a picture that was grey counts as half coloured; rounding and codecs leave under 1."""
UNCHECKED = ("patches", "edges", "rebuild")
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
        raise Unmeasurable("nothing-asked", "a copy was requested; there is no edit to look for")
    if is_geometric(item.operation):
        return transformed(item.subject, item.reference, item.operation)
    if item.operation in UNCHECKED:
        raise Unmeasurable("not-checkable", f"no rule can check whether '{item.operation}' was done")
    if item.operation in ("monochrome", "colourise"):
        return _coloured(item.subject, item.reference, item.operation)
    region = changed_region(item.subject, item.reference)
    if region is None:
        return 0.0
    return max(0.0, (region.inside - region.outside) / (region.inside + region.outside))


def _coloured(subject: Frame, parent: Frame, operation: Operation) -> float:
    """How far colour was removed or added."""
    after, before = mean_lab(subject).chroma, mean_lab(parent).chroma
    if operation == "colourise":
        if before >= COLOURFUL:
            raise Unmeasurable("already-coloured", f"the image had colour before (mean chroma {before:.1f})")
        return after / (after + COLOURFUL)
    if before < 1:
        raise Unmeasurable("already-grey", f"the image had no colour to remove (mean chroma {before:.2f})")
    return max(0.0, 1 - after / before)


def transformed(subject: Frame, parent: Frame, operation: Operation | None) -> float:
    """How much nearer the subject is to the transformed parent than to the parent, from 0 to 1."""
    target = expected(parent, operation)
    if distance(target, parent) < SYMMETRIC:
        raise Unmeasurable("symmetric", "the image and its transform are the same")
    from_parent, from_target = distance(subject, parent), distance(subject, target)
    return from_parent / (from_parent + from_target)
