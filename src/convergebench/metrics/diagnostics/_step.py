"""What the diagnostics of a step have in common."""

from __future__ import annotations

from convergebench.errors import Unmeasurable
from convergebench.images.align import registered
from convergebench.images.frame import Frame
from convergebench.images.registration import SURE, Registration, register
from convergebench.metrics.base import Item
from convergebench.metrics.operations import expected
from convergebench.types import CompareRole

STEP: tuple[CompareRole, ...] = ("step",)
"""Diagnostics are taken at every step, against the image it started from."""


def parent(item: Item) -> Frame:
    """The image the step started from."""
    if item.reference is None:
        raise Unmeasurable("no-reference", "there is no image to compare with")
    return item.reference


def placement(item: Item) -> Registration:
    """Where the parent's content lies in the subject.

    A step that was to mirror or turn is held against the mirrored or turned parent; if it did not, against the
    parent as it was: how far a picture slid is another question than whether it was turned.
    """
    start = parent(item)
    target = expected(start, item.operation)
    if target is not start:
        done = register(item.subject, target).confidence
        # nearly always it did, and then there is no need to look further
        if done < SURE and register(item.subject, start).confidence > done:
            target = start
    return registered(item.subject, target)
