"""A short memory of what was worked out about two images together.

What belongs to one image is remembered on its `Frame`. What belongs to two must not be: each image of a chain would
hold the one before it, and no image would ever be let go.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from threading import Lock
from typing import Any, TypeVar

from convergebench.images.frame import Frame

T = TypeVar("T")

KEPT = 3
"""Pairs remembered; each holds two frames with their planes, so few."""

_memory: OrderedDict[tuple[Frame, Frame], dict[object, Any]] = OrderedDict()
_lock = Lock()


def paired(subject: Frame, reference: Frame, key: object, make: Callable[[], T]) -> T:
    """What `make` gives for this pair, worked out on the first call only while the pair is among the last few."""
    with _lock:
        known = _memory.setdefault((subject, reference), {})
        _memory.move_to_end((subject, reference))
        while len(_memory) > KEPT:
            _memory.popitem(last=False)
    if key not in known:
        known[key] = make()
    value: T = known[key]
    return value
