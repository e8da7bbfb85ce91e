"""What a caller of the conductor sees: lines, progress, and pages as they are written."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING

from convergebench.progress import Progress

if TYPE_CHECKING:
    from convergebench.conductor.auditing import WrittenAudit
    from convergebench.conductor.reporting import WrittenReport


class Observer:
    """Receives what the conductor reports and shows nothing; override what should be shown."""

    def say(self, line: str) -> None:
        """One line of the result."""

    def note(self, line: str) -> None:
        """One remark beside the result."""

    def watch(self, stage: str, progress: Progress, *, unit: str, of: str = "chains") -> AbstractContextManager[object]:
        """Show the counters of a stage until the context ends."""
        return nullcontext()

    def reported(self, report: WrittenReport) -> None:
        """A run's report is written."""

    def audited(self, audit: WrittenAudit) -> None:
        """An audit is written."""

    def abandon(self, in_flight: int) -> None:
        """A second request to stop came while calls were still in flight."""
        raise KeyboardInterrupt
