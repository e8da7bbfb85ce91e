"""Cells of CSV files that people open in a spreadsheet: what came from outside must not become a formula there."""

from __future__ import annotations

import re
from typing import Any

FORMULA = r"'*[=+\-@\t\r]"
"""How a text begins that a spreadsheet would work out, or that only its mark keeps from it."""
_FORMULA, _GUARDED = re.compile(FORMULA), re.compile("'" + FORMULA)


def guarded(cell: Any) -> Any:
    """With an apostrophe before a text that looks like a formula; numbers are what they are."""
    return f"'{cell}" if isinstance(cell, str) and _FORMULA.match(cell) else cell


def unguarded(cell: str) -> str:
    """As it was before."""
    return cell[1:] if _GUARDED.match(cell) else cell
