"""How a pixel metric is measured on a GPU: items checked, grouped by size and given to `metrics.gpu.pixels`.

A metric names its function there: `@metric("psnr", …, on_gpu=by_kernel("psnr"))`. Nothing here imports torch before a
GPU is used.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence

from convergebench.errors import Unmeasurable
from convergebench.images.frame import Frame
from convergebench.metrics._pair import pair
from convergebench.metrics.base import Item, OnGpu, Values
from convergebench.metrics.place import here

Pairs = Sequence[tuple[Frame, Frame]]


def by_size(items: Sequence[Item], measured: Callable[[Pairs], Sequence[float]], *, smallest: int) -> Values:
    """One value per item from a function of pairs of one size; a pair that cannot be compared has the reason."""
    found: dict[int, float | Unmeasurable] = {}
    alike: dict[tuple[int, int], list[int]] = defaultdict(list)
    pairs: dict[int, tuple[Frame, Frame]] = {}
    for index, item in enumerate(items):
        try:
            pairs[index] = pair(item, smallest=smallest)
        except Unmeasurable as reason:
            found[index] = reason
        else:
            alike[item.subject.size].append(index)
    for indices in alike.values():
        values = measured([pairs[index] for index in indices])
        found.update(zip(indices, values, strict=True))
    return [found[index] for index in range(len(items))]


def by_kernel(name: str, *, smallest: int = 1, even: bool = False) -> OnGpu:
    """The function of `metrics.gpu.pixels` with this name. `even`: odd sides are left to the processor."""

    def measure(items: Sequence[Item]) -> Values | None:
        from convergebench.metrics.gpu import pixels

        if even and any(side % 2 for item in items for side in item.subject.size):
            return None
        function = getattr(pixels, name)
        return by_size(items, lambda pairs: function(pairs, here().device), smallest=smallest)

    return measure
