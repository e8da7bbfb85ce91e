"""What to say when something breaks that no part of the package foresaw: a damaged run, or a defect of ours.

Reading a damaged run can fail in any line that uses what was read. So the run is looked at when something has failed:
if it is damaged, that is the reason to tell; if not, the failure is a defect, and what a developer needs to mend it is
written to a file.
"""

from __future__ import annotations

import os
import tempfile
import traceback
from collections.abc import Iterator, Sequence
from pathlib import Path

from convergebench.redaction import redact

DAMAGED, DEFECT = 2, 70
"""Exit codes; the second is what sysexits.h has for an error of the program itself."""


def explain(error: BaseException, words: Sequence[str]) -> tuple[str, int]:
    """One line about a failure of this command, and the exit code."""
    for run in _runs(words):
        first, more = _damage(run)
        if first:
            others = f" (and {more} more problems)" if more else ""
            return (
                f"error: {run} is damaged: {first}{others}; this command changed nothing that was intact. List all "
                f"problems with: cbench verify {run}, rebuild the run with: cbench recover {run}",
                DAMAGED,
            )
    reason = " ".join(f"{type(error).__name__}: {error}".split())[:300]
    return (
        f"error: {reason}; this is a bug in convergebench. Please report it with {_written(error)} "
        "(--debug shows it here)",
        DEFECT,
    )


def _runs(words: Sequence[str]) -> Iterator[Path]:
    """The runs that a command names, and those that it opened without their being named."""
    from convergebench.store.run import OPENED, is_run

    named = [word.partition("=")[2] if word.startswith("--") else word for word in words]
    for path in dict.fromkeys([*(Path(word) for word in named if word), *OPENED]):
        try:
            if path.is_dir() and is_run(path):
                yield path
        except (OSError, ValueError):  # no name that a file can have
            continue


def _damage(run: Path) -> tuple[str, int]:
    """The first problem of a run and how many follow."""
    from convergebench.cli.verifying import all_problems

    try:
        found = all_problems(run)
    except Exception as error:  # it cannot even be looked at
        return " ".join(str(error).split()) or type(error).__name__, 0
    return (found[0], len(found) - 1) if found else ("", 0)


def _written(error: BaseException) -> str:
    """The file with the traceback; keys are taken out of it."""
    text = redact("".join(traceback.format_exception(error)))
    try:
        handle, name = tempfile.mkstemp(prefix="convergebench-", suffix=".log")
        with os.fdopen(handle, "w", encoding="utf-8", errors="replace") as file:
            file.write(text)
    except OSError:
        return "what --debug shows"
    return name
