"""What the conductor reports, shown in a terminal."""

from __future__ import annotations

import os
import sys
from contextlib import AbstractContextManager, suppress
from typing import TYPE_CHECKING

from convergebench.cli.display import say, say_beside, watch
from convergebench.conductor.observer import Observer
from convergebench.progress import Progress

if TYPE_CHECKING:
    from convergebench.conductor.auditing import WrittenAudit
    from convergebench.conductor.reporting import WrittenReport


class Terminal(Observer):
    """Results on standard output, remarks on standard error, progress as a live panel or plain lines."""

    def __init__(self, *, results: bool = True) -> None:
        self.results = results
        """Whether findings are printed as they are written; not where the command prints them as JSON."""

    def say(self, line: str) -> None:
        """One line on standard output."""
        say(line)

    def note(self, line: str) -> None:
        """One line on standard error."""
        say_beside(line)

    def watch(self, stage: str, progress: Progress, *, unit: str, of: str = "chains") -> AbstractContextManager[object]:
        """The stage's counters until it ends; the last line stays."""
        return watch(stage, progress, unit=unit, of=of)

    def reported(self, report: WrittenReport) -> None:
        """The ranking, and where to look."""
        from convergebench.cli.console import PlainConsole
        from convergebench.report.terminal import print_ranking

        print_ranking(report.given, PlainConsole())
        say(
            f"\nreport  {report.page}\ntables  {report.tables}\n"
            f"next    open the report, or: cbench show {report.run} --json"
        )

    def audited(self, audit: WrittenAudit) -> None:
        """The verdicts, and where to look."""
        if not self.results:
            return
        from convergebench.cli.console import PlainConsole
        from convergebench.report.audit.terminal import print_audit

        print_audit(audit.given, PlainConsole())
        say(f"\naudit   {audit.page}\ntables  {audit.tables}\nnext    open the page: can you trust this metric?")

    def abandon(self, in_flight: int) -> None:
        """Leave as a kill would, which the journal survives: an editor's thread that hangs could not be waited for."""
        shown = "\x1b[?25h\n" if sys.stdout.isatty() else ""  # the live panel hides the cursor
        line = f"{shown}left {in_flight} calls in flight unfinished; run the same command to continue\n"
        with suppress(OSError):  # past the buffer of stdout, which may be in use at this moment
            os.write(1, line.encode())
        os._exit(130)
