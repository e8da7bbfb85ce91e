"""What the engine tells whoever watches. Watching never changes what is done."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass
class Progress:
    """Counters of a running stage; a display reads them, the engine writes them."""

    chains: int = 0
    chains_done: int = 0
    steps: int = 0
    """Steps that a complete run has."""
    steps_done: int = 0
    """Answered, from the journal or by a call."""
    steps_called: int = 0
    dollars: float = 0.0
    in_flight: int = 0
    retries: int = 0
    refusals: int = 0
    failures: int = 0
    note: str = ""
    """The newest thing worth telling."""
    statuses: dict[str, int] = field(default_factory=dict)
    """How chains ended."""

    def chain_ended(self, status: str) -> None:
        """Count one chain."""
        self.chains_done += 1
        self.statuses[status] = self.statuses.get(status, 0) + 1
