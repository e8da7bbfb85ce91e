"""A small cache of values that depend on two images.

Values of one image are cached on its `Frame`. Values of two must not be: each image of a chain would hold a reference
to the one before it, and none would ever be freed.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from threading import Lock
from typing import Any, TypeVar

from convergebench.images.frame import Frame

T = TypeVar("T")

KEPT = 3
"""Pairs in the cache; few, since each holds two frames with their planes."""

_memory: OrderedDict[tuple[Frame, Frame], dict[object, Any]] = OrderedDict()
_lock = Lock()


def per_pair(subject: Frame, reference: Frame, key: object, make: Callable[[], T]) -> T:
    """The result of `make` for this pair, cached while the pair is among the last few used."""
    with _lock:
        known = _memory.setdefault((subject, reference), {})
        _memory.move_to_end((subject, reference))
        while len(_memory) > KEPT:
            _memory.popitem(last=False)
    if key not in known:
        known[key] = make()
    value: T = known[key]
    return value
