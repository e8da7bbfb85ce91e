"""Flags that several commands have, checked alike."""

from __future__ import annotations

from pathlib import Path

MOST_WORKERS = 1024
"""Processes for measuring; more than this is a slip of the keyboard."""


def require_names(*paths: Path) -> None:
    """Names that go into the manifest and the journal: Unicode, which names of files need not be."""
    from convergebench.documents import fault_in
    from convergebench.errors import StudyError

    for path in paths:
        fault = fault_in(str(path))
        if fault:
            raise StudyError(f"{str(path)!a}: {fault}; choose another name")


def dollars(value: float | None) -> float | None:
    """`--max-cost`: a number; NaN would never be exceeded, and who wants no limit leaves the flag out."""
    from math import isfinite

    from convergebench.errors import StudyError

    if value is not None and not isfinite(value):
        raise StudyError(f"--max-cost {value}: give a number of dollars, such as 5, or leave it out for no limit")
    return value
