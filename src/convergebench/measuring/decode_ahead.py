"""Decoding images in threads before they are asked for; decoders let other threads run."""

from __future__ import annotations

from collections import OrderedDict, deque
from collections.abc import Callable, Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

from convergebench.images.frame import Pixels

AHEAD = 2
"""Images per thread that are decoded and wait; more would only fill the memory."""


class DecodeAhead:
    """Gives the pixels of images that are asked for roughly in `order`; errors come with the image they are about."""

    def __init__(self, order: Iterable[str], read: Callable[[str], Pixels], *, threads: int) -> None:
        self._order, self._read = deque(dict.fromkeys(order)), read
        self._pool = ThreadPoolExecutor(threads)
        self._limit = AHEAD * threads
        self._under_way: OrderedDict[str, Future[Pixels]] = OrderedDict()

    def __enter__(self) -> DecodeAhead:
        self._fill()
        return self

    def __exit__(self, *_: Any) -> None:
        self._pool.shutdown(cancel_futures=True)

    def get(self, identity: str) -> Pixels:
        """The pixels of an image."""
        found = self._under_way.pop(identity, None)
        if found is None and len(self._under_way) >= self._limit:
            self._under_way.popitem(last=False)[1].cancel()  # it was not needed: its values were known already
        self._fill()
        return self._read(identity) if found is None else found.result()

    def _fill(self) -> None:
        while self._order and len(self._under_way) < self._limit:
            identity = self._order.popleft()
            self._under_way[identity] = self._pool.submit(self._read, identity)
