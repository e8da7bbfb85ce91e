"""The little Markdown that the pages need."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from pathlib import Path


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


def fill(page: Path, name: str, block: str) -> None:
    """Put a block between the page's two marks of this name."""
    marks = re.compile(f"(<!-- {name} -->\n).*?(<!-- /{name} -->)", re.DOTALL)
    filled, found = marks.subn(lambda mark: mark[1] + block + mark[2], page.read_text(encoding="utf-8"))
    if found != 1:
        raise SystemExit(f"{page} needs the marks <!-- {name} --> and <!-- /{name} --> once each")
    page.write_text(filled, encoding="utf-8")


def _line(cells: Sequence[object]) -> str:
    return "| " + " | ".join(str(one) for one in cells) + " |"
