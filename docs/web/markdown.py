"""What CommonMark reads and Python-Markdown does not: lists right under a paragraph, tables right under a comment."""

from __future__ import annotations

import re

from docs.web.repository import outside_code

_ITEM = re.compile(r"(?:- |\* |\d+\. )")
_FILE = re.compile(r"^<!-- file: (?P<file>.+?) -->\n(?:<!-- .*? -->\n)*```(?P<language>\w+)$", re.M)


def spaced(text: str) -> str:
    """The text with the empty lines that Python-Markdown needs before lists and around comments."""
    return outside_code(text, _spaced)


def _spaced(part: str) -> str:
    lines: list[str] = []
    for line in part.split("\n"):
        before = lines[-1] if lines else ""
        opens_list = _ITEM.match(line) and before.strip() and not _ITEM.match(before) and not before.startswith(" ")
        under_comment = line.startswith("|") and before.startswith("<!--")
        lines += ["", line] if opens_list or under_comment else [line]
    return "\n".join(lines)


def titled(text: str) -> str:
    """Blocks that belong into a file, with its name above them."""
    return _FILE.sub(r'```\g<language> title="\g<file>"', text)
