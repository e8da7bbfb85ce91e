"""The little Markdown that the pages need."""

from __future__ import annotations

from collections.abc import Iterable, Sequence


def table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """A table; bars and line ends inside cells are made harmless."""
    lines = [_line(head), _line(["---"] * len(head))]
    return "\n".join([*lines, *(_line([cell(value) for value in row]) for row in rows)]) + "\n"


def cell(value: object) -> str:
    """A value as it may stand in a table."""
    return " ".join(str(value).split()).replace("|", "\\|")


def code(value: object) -> str:
    """As typed; nothing for nothing."""
    return f"`{value}`" if str(value) else ""


def first_line(text: str | None) -> str:
    """The first line of a docstring, or nothing."""
    return (text or "").strip().partition("\n")[0].strip()


def _line(cells: Sequence[object]) -> str:
    return "| " + " | ".join(str(one) for one in cells) + " |"
