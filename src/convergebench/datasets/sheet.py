"""Tables and untrusted texts in Markdown: a name of a run becomes no link, element or picture."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

_MARKS = re.compile(r"[\[\]`]")
_TICKS = re.compile(r"`+")


def sheet(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Cells on one line each, without bars of their own."""

    def line(cells: Sequence[str]) -> str:
        return "| " + " | ".join(" ".join(cell.replace("|", "\\|").split()) for cell in cells) + " |"

    return "\n".join([line(head), "|" + " --- |" * len(head), *(line(row) for row in rows)])


def as_text(text: object) -> str:
    """One line that reads as it is written."""
    return _MARKS.sub(r"\\\g<0>", " ".join(str(text).split()).replace("<", "&lt;"))


def as_code(text: object) -> str:
    """One line in a code span, whatever it holds."""
    line = " ".join(str(text).split())
    longest = max(map(len, _TICKS.findall(line)), default=0)
    return f"`{line}`" if not longest else f"{'`' * (longest + 1)} {line} {'`' * (longest + 1)}"
