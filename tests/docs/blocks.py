"""Code blocks of a page, with the marks that stand right above them."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
_FENCE = re.compile(r"(?P<marks>(?:<!-- [a-z]+: [^\n]* -->\n)*)```(?P<language>\w*)\n(?P<text>.*?)\n?```$", re.M | re.S)
_REMARK = re.compile(r"(^|\s)#\s.*$")
_MARK = re.compile(r"<!-- (?P<name>[a-z]+): (?P<value>.*?) -->")


@dataclass(frozen=True)
class Block:
    """`file`: where it belongs. `exit`: how its last command ends."""

    language: str
    text: str
    file: str | None = None
    exit: int = 0


@dataclass(frozen=True)
class Typed:
    """One command of a block, with the output shown under it if the block is a console."""

    text: str
    shown: tuple[str, ...] = ()

    @property
    def words(self) -> tuple[str, ...]:
        """As a shell splits it."""
        return tuple(shlex.split(self.text))


def blocks(page: Path) -> list[Block]:
    """Every fenced block, in order."""
    found = []
    for match in _FENCE.finditer(page.read_text(encoding="utf-8")):
        marks = {mark["name"]: mark["value"] for mark in _MARK.finditer(match["marks"])}
        found.append(Block(match["language"], match["text"], marks.get("file"), int(marks.get("exit", 0))))
    return found


def typed(text: str) -> Iterator[Typed]:
    """The commands of a console, each with its output."""
    command: str | None = None
    shown: list[str] = []
    for line in text.splitlines():
        if line.startswith("$ "):
            if command is not None:
                yield Typed(command, tuple(shown))
            command, shown = line[2:], []
        else:
            shown.append(line)
    if command is not None:
        yield Typed(command, tuple(shown))


def lines(text: str) -> Iterator[Typed]:
    """The commands of a block of shell: no output is shown; `#` begins a remark, `&&` another command."""
    for line in text.replace("\\\n", " ").splitlines():
        for command in _REMARK.sub("", line).split(" && "):
            if command.strip():
                yield Typed(" ".join(command.split()))


def agrees(shown: tuple[str, ...], said: str) -> bool:
    """Whether the output is as shown: `…` stands for anything, a line of it alone for any lines; spaces may differ."""
    parts = [r"(?:.*\n)*?" if line == "…" else f"{_pattern(line)}\n" for line in shown]
    text = "".join(f"{' '.join(line.split())}\n" for line in said.splitlines())
    return re.fullmatch("".join(parts), text) is not None if parts else True


def _pattern(line: str) -> str:
    words = " ".join(line.split()).split("…")
    return ".*".join(re.escape(word) for word in words)
