"""Shared code of the diagnostics of a step."""

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
    """The registration of the parent's content in the subject.

    A step that was requested to mirror or rotate is compared with the transformed parent; if it did not, with the
    parent itself: how far a picture moved is a separate question from whether it was rotated.
    """
    start = parent(item)
    target = expected(start, item.operation)
    if target is not start:
        done = register(item.subject, target).confidence
        # nearly always it did, and the second registration is not needed
        if done < SURE and register(item.subject, start).confidence > done:
            target = start
    return registered(item.subject, target)
