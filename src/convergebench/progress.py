"""Counters of a running stage, and the line that shows them. Watching never changes what is done."""

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


def progress_line(stage: str, progress: Progress, unit: str, seconds: float, of: str = "chains") -> str:
    """`editing 1,024/5,200 steps · 51/260 chains · 87.3 steps/s · $0.00 · 0:48 left · 2 failures`."""
    parts = [f"{stage:<9} {progress.steps_done:,}/{progress.steps:,} {unit}"]
    parts.append(f"{progress.chains_done:,}/{progress.chains:,} {of}")
    rate = progress.steps_called / seconds if seconds > 0 else 0.0
    parts.append(f"{rate:.1f} {unit}/s")
    if progress.dollars:
        parts.append(f"${progress.dollars:,.4f}")
    left = remaining(progress, seconds)
    parts.append(f"{clock(left)} left" if left else f"{clock(seconds)} taken")
    for count, word in (
        (progress.retries, "retries"),
        (progress.refusals, "refusals"),
        (progress.failures, "failures"),
    ):
        if count:
            parts.append(f"{count:,} {word}")
    return " · ".join(parts)


def remaining(progress: Progress, seconds: float) -> float | None:
    """Seconds still to go at the pace so far, or None when done or not yet known."""
    left = progress.steps - progress.steps_done
    return None if left <= 0 or progress.steps_called == 0 else seconds * left / progress.steps_called


def clock(seconds: float) -> str:
    """`0:07`, `12:30`, `3:05:00`."""
    whole = round(seconds)
    hours, minutes = whole // 3600, whole % 3600 // 60
    return f"{hours}:{minutes:02}:{whole % 60:02}" if hours else f"{minutes}:{whole % 60:02}"
