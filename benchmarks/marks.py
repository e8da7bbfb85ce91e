"""Pages whose tables are made by a command: what stands between two marks is replaced."""

from __future__ import annotations

import re
from pathlib import Path


def put_into(page: Path, name: str, text: str) -> None:
    """Replace what stands between the marks of this name."""
    marks = f"<!-- {name}: begin -->", f"<!-- {name}: end -->"
    pattern = re.compile(f"{re.escape(marks[0])}.*?{re.escape(marks[1])}", re.DOTALL)
    whole = page.read_text(encoding="utf-8")
    if not pattern.search(whole):
        raise SystemExit(f"{page} has no place marked {marks[0]} … {marks[1]}")
    page.write_text(pattern.sub(lambda _: f"{marks[0]}\n{text}\n{marks[1]}", whole), encoding="utf-8")
