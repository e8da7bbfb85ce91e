"""How often somebody may ask: token buckets, so that bursts pass and floods do not."""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable

MOST_REMEMBERED = 10_000
"""Most addresses or raters that are remembered at a time; those not seen longest are forgotten first."""


class Buckets:
    """One bucket per key: `burst` requests at once, and `rate` more each second."""

    def __init__(self, *, rate: float, burst: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._rate, self._burst, self._clock = rate, burst, clock
        self._left: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def take(self, key: str) -> bool:
        """Whether this request may pass."""
        now = self._clock()
        left, since = self._left.pop(key, (self._burst, now))
        left = min(self._burst, left + (now - since) * self._rate)
        passes = left >= 1
        self._left[key] = (left - 1 if passes else left, now)
        while len(self._left) > MOST_REMEMBERED:
            self._left.popitem(last=False)
        return passes


class RequestLimits:
    """The buckets of a server. Many raters may share an address: a class room, a proxy."""

    def __init__(self, clock: Callable[[], float] = time.monotonic, *, rate: float = 60, burst: float = 600) -> None:
        """`rate` and `burst` are for one address."""
        self.by_address = Buckets(rate=rate, burst=burst, clock=clock)
        self.by_rater = Buckets(rate=10, burst=120, clock=clock)
        self.guesses = Buckets(rate=0.2, burst=20, clock=clock)
        """Requests with a link that is none, by address; they never count against real links."""
