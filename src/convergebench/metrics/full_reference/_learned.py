"""Run a network on items: check pairs, group them by size, compute reference features once per reference.

Torch is imported only when there is a pair to compare.
"""

from __future__ import annotations

from collections.abc import Sequence

from convergebench.errors import Unmeasurable
from convergebench.images.frame import Frame
from convergebench.metrics._torch import full_precision, torch_for
from convergebench.metrics.base import Item
from convergebench.metrics.on_gpu import by_size
from convergebench.metrics.place import here


def distances(items: Sequence[Item], name: str, *, smallest: int) -> list[float | Unmeasurable]:
    """One distance per item by the network of that name; images are compared at the size they have."""
    return by_size(items, lambda pairs: measured(pairs, name), smallest=smallest)


def measured(pairs: Sequence[tuple[Frame, Frame]], name: str) -> list[float]:
    """All pairs are of one size."""
    torch_for("learned")
    from convergebench.metrics.full_reference._networks import network

    place = here()
    with full_precision():
        ready = network(name, place)
        kept = [reference.derived((name, place), ready.keep) for _, reference in pairs]
        return ready.distances([subject for subject, _ in pairs], kept)
