"""How often, and after which wait, a call is retried."""

from __future__ import annotations

import random
from dataclasses import dataclass, field

from convergebench.errors import EditorError, Transient


@dataclass(frozen=True)
class RetryPolicy:
    """Bounded; exponential with full jitter; a provider's Retry-After is a lower bound on the wait."""

    attempts: int = 5
    first_wait: float = 1.0
    longest_wait: float = 60.0
    longest_pause: float = 3600.0
    """Seconds; a provider that asks for a longer pause is left for a later run."""
    randomness: random.Random = field(default_factory=random.Random, repr=False)

    def wait(self, attempt: int, error: EditorError) -> float:
        """Seconds to wait after this many failed attempts."""
        ceiling = min(self.longest_wait, self.first_wait * 2.0 ** (attempt - 1))
        jittered = self.randomness.uniform(0.0, ceiling)
        asked = error.retry_after if isinstance(error, Transient) else None
        # jitter is added to the provider's pause, or all waiting chains would call again at the same moment
        return jittered if asked is None else asked + self.randomness.uniform(0.0, min(1.0, ceiling))
