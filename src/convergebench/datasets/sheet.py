"""A table in Markdown."""

from __future__ import annotations

from collections.abc import Iterable, Sequence


def sheet(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Cells on one line each, without bars of their own."""

    def line(cells: Sequence[str]) -> str:
        return "| " + " | ".join(" ".join(cell.replace("|", "\\|").split()) for cell in cells) + " |"

    return "\n".join([line(head), "|" + " --- |" * len(head), *(line(row) for row in rows)])
