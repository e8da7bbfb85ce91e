"""Types of single values in a study file, so that each can be stored and printed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import AfterValidator, Field

from convergebench.documents import LARGEST, fault_in
from convergebench.errors import StudyError


def _readable(value: str) -> str:
    if not value.isprintable() or value != value.strip() or not value:
        raise ValueError("should be printable, not empty, and without spaces around it")
    return value


def _printable(value: str) -> str:
    if not value.isprintable():
        raise ValueError("should be one line of printable characters")
    return value


Seed = Annotated[int, Field(ge=0, lt=LARGEST)]
"""NumPy accepts no negative seed, SQLite no larger one."""
Name = Annotated[str, Field(max_length=200), AfterValidator(_readable)]
"""A name in tables, on pages and in file names."""
Line = Annotated[str, Field(max_length=1000), AfterValidator(_printable)]
"""One line of text; may be empty."""
Position = Annotated[int, Field(ge=1, le=1_000_000)]
"""The number of a round or step."""


def require_plain(content: Mapping[str, Any], *, where: str) -> None:
    """Refuse what no table, journal or manifest could hold.

    Options of editors and roles are open to any value, so the models of the tables cannot do this for them.
    """
    fault = fault_in(content)
    if fault:
        raise StudyError(f"{where}: {fault}")
