"""The paper's text: its claims, its macros, and what is left of it as plain words."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path

FOLDER = Path(__file__).resolve().parent
MACRO = re.compile(r"\\N([A-Z][A-Za-z]+)")
_WORDS = {
    r"\,": " ", r"\%": "%", r"\dots": "…", r"\ ": " ", r"\&": "&", "~": " ", "---": "—", "--": "–", "``": "“",
    "''": "”", r"\ge": "≥", r"\le": "≤", "$": "",
}  # fmt: skip


def sources(folder: Path = FOLDER) -> dict[str, str]:
    """Every .tex file that is written by hand, by name, without comments."""
    found = [folder / "convergebench.tex", *sorted((folder / "sections").glob("*.tex"))]
    return {path.name: re.sub(r"(?<!\\)%.*", "", path.read_text(encoding="utf-8")) for path in found}


def argument(text: str, start: int) -> tuple[str, int]:
    """The braced argument that begins at `start`, and where it ends."""
    depth = 0
    for place in range(start, len(text)):
        escaped = place > 0 and text[place - 1] == "\\"
        depth += (text[place] == "{" and not escaped) - (text[place] == "}" and not escaped)
        if depth == 0:
            return text[start + 1 : place], place + 1
    raise ValueError(f"a brace is not closed: {text[start : start + 60]}")


def commands(text: str, name: str, arguments: int) -> Iterator[tuple[list[str], int, int]]:
    r"""Every use of `\name` with its braced arguments, and where it begins and ends."""
    for found in re.finditer(rf"\\{name}(?=\{{)", text):
        place, given = found.end(), []
        for _ in range(arguments):
            one, place = argument(text, place)
            given.append(one)
        yield given, found.start(), place


def without(text: str, name: str, arguments: int, keep: int | None = None) -> str:
    r"""The text without `\name`; `keep` says which argument stays."""
    while True:
        found = next(commands(text, name, arguments), None)
        if found is None:
            return text
        given, start, end = found
        text = text[:start] + ("" if keep is None else given[keep]) + text[end:]


def claims(folder: Path = FOLDER) -> dict[str, str]:
    r"""The id and the LaTeX of every `\claim`."""
    found: dict[str, str] = {}
    for file, text in sources(folder).items():
        for (identity, sentence), _, _ in commands(text, "claim", 2) if file != "convergebench.tex" else ():
            if identity in found:
                raise ValueError(f"{file}: the claim '{identity}' is there twice")
            found[identity] = sentence
    return found


def plain(latex: str, numbers: Mapping[str, str]) -> str:
    """A sentence as a reader sees it, with its numbers; references to figures and papers are left out."""
    text = MACRO.sub(lambda found: numbers[found[1]], latex).replace("{}", "")
    text = without(without(text, "citep", 1), "ref", 1)
    text = re.sub(r"[;,]?\s*(?:Fig\.|Table)~", "", re.sub(r"\s*\((?:Fig\.|Table)~\)", "", text))
    for name in ("ed", "emph", "texttt", "textbf"):
        text = without(text, name, 1, keep=0)
    for latex_word, word in _WORDS.items():
        text = text.replace(latex_word, word)
    return re.sub(r"\s+([.,;:])", r"\1", " ".join(text.split()))
