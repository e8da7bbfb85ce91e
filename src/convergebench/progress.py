"""Counters of a running stage, and the line that shows them. Watching never changes what is done."""

from __future__ import annotations

from collections import deque
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
    unpaced: int = 0
    """Of the steps left, those of a slower kind that has not begun: nothing done so far tells their pace."""
    then: str = ""
    """What comes after this stage: `measuring and the report`."""
    then_seconds: float | None = None
    """Roughly how long that takes, where it can be told."""

    def chain_ended(self, status: str) -> None:
        """Count one chain."""
        self.chains_done += 1
        self.statuses[status] = self.statuses.get(status, 0) + 1


WINDOW = 20.0
"""Seconds over which the recent pace is taken."""
FIRST_SECONDS, FIRST_STEPS = 3.0, 3
"""A time left is told only after so much work: the first steps are often slower or faster than the rest."""


class Pace:
    """How fast a stage goes since it is watched, and of late; the slower of the two says how long it still takes.

    Fast work often comes first: an average over all of it would promise an end that never comes.
    """

    def __init__(self, progress: Progress) -> None:
        self._begun = progress.steps_called
        self._seen: deque[tuple[float, int]] = deque([(0.0, 0)])

    def remaining(self, progress: Progress, seconds: float) -> float | None:
        """Seconds that this stage still takes, at least; None when it is done or nothing can be told yet."""
        called = progress.steps_called - self._begun
        self._seen.append((seconds, called))
        while len(self._seen) > 2 and self._seen[1][0] <= seconds - WINDOW:
            self._seen.popleft()
        left = progress.steps - progress.steps_done - progress.unpaced
        if left <= 0 or called < FIRST_STEPS or seconds < FIRST_SECONDS:
            return None
        then, before = self._seen[0]
        recent = (seconds - then) / max(1, called - before)
        return left * max(seconds / called, recent)

    def rate(self, progress: Progress, seconds: float) -> float:
        """Steps per second since the stage is watched."""
        return (progress.steps_called - self._begun) / seconds if seconds > 0 else 0.0


def progress_line(
    stage: str, progress: Progress, unit: str, seconds: float, of: str = "chains", pace: Pace | None = None
) -> str:
    """`editing 1,024/5,200 steps · 51/260 chains · 87.3 steps/s · $0.00 · 0:48 left · 2 failures`."""
    parts = [f"{stage:<9} {progress.steps_done:,}/{progress.steps:,} {unit}"]
    parts.append(f"{progress.chains_done:,}/{progress.chains:,} {of}")
    rate = pace.rate(progress, seconds) if pace else progress.steps_called / seconds if seconds > 0 else 0.0
    parts.append(f"{rate:.1f} {unit}/s")
    if progress.dollars:
        parts.append(f"${progress.dollars:,.4f}")
    parts.append(_time_left(progress, seconds, pace))
    for count, word in (
        (progress.retries, "retries"),
        (progress.refusals, "refusals"),
        (progress.failures, "failures"),
    ):
        if count:
            parts.append(f"{count:,} {word}")
    return " · ".join(parts)


def _time_left(progress: Progress, seconds: float, pace: Pace | None) -> str:
    left = pace.remaining(progress, seconds) if pace else remaining(progress, seconds)
    if progress.steps_done >= progress.steps:
        return f"{clock(seconds)} taken"
    if left is None:
        told = f"{clock(seconds)} taken" if pace is None or not progress.steps else "time left not known yet"
    else:
        told = f"{'more than ' if progress.unpaced else ''}{clock(left)} left"
    if not progress.then:
        return told
    rest = f" (about {duration(progress.then_seconds)})" if progress.then_seconds else ""
    return f"{told}, then {progress.then}{rest}"


def remaining(progress: Progress, seconds: float) -> float | None:
    """Seconds still to go at the pace so far, or None when done or not yet known."""
    left = progress.steps - progress.steps_done
    return None if left <= 0 or progress.steps_called == 0 else seconds * left / progress.steps_called


def duration(seconds: float) -> str:
    """`under 1 s`, `20 s`, `4 min`, `3.5 h`: as exact as a forecast can be."""
    if seconds < 1:
        return "under 1 s"
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:,.0f} min" if seconds < 90 * 60 else f"{seconds / 3600:,.1f} h"


def clock(seconds: float) -> str:
    """`0:07`, `12:30`, `3:05:00`."""
    whole = round(seconds)
    hours, minutes = whole // 3600, whole % 3600 // 60
    return f"{hours}:{minutes:02}:{whole % 60:02}" if hours else f"{minutes}:{whole % 60:02}"
