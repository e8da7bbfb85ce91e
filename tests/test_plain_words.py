"""Sentences that users read are plain English: phrases that were replaced do not come back."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src" / "convergebench"

NOUNS = ("address", "aspect", "editor", "finite", "folder", "JSON", "number", "picture", "resolution", "study", "whole")
PREFERRED = {
    r"the same (command|call) goes on": "run the same command to continue; make the same call to continue",
    r"\bto go on\b|\bgo on (with|without)\b": "continue",
    r"\bnobody (knows|asks|wrote|looked|publishes|else)\b": "unknown; or name the role or the thing",
    r"\bsomebody\b": "name the role or the thing",
    r"\bonly pretends?\b": "a programmed baseline, not a model",
    r"\bfully white\b": "say what was counted",
    r"\bkeeps an image recognisable\b": "say how many rounds until the level is crossed",
    r"\bis told\b|\bare told\b|\bcould not be told\b": "is reported, is listed; undecided",
    r"\bto be had\b": "available",
    r"\b[Mm]end(ed)?\b": "fix",
    r"\b[Mm]ake room\b": "free some disk space",
    r"\b(held|hold|holds) (\w+ )?against\b": "compared with",
    r"\b(is|are) none of\b|\bthis is none\b": "is not one of",
    rf"(?<!there )\b(is|are) no ({'|'.join(NOUNS)})\b": "is not a …",
    r"\banew\b": "again",
    r"\bleave \S+ away\b": "leave it out",
    r"\b[Aa]t most so many\b|\bof so many\b": "at most this many",
    r"\bor such\b|\bor the like\b": "or similar",
    r"\bothers than\b": "any other",
    r"\bno rival\b|\ba rival\b": "a baseline, not ranked; not comparable to …",
    r"\breckoned\b": "computed, estimated",
    r"\bspoilt\b": "degraded",
    r"\bwhatever the words say\b": "ignores the instruction",
    r"\bbeside the words\b": "besides the instruction",
    r"\bwho says to have\b": "the model that the provider reported",
    r"\bforbids to hand\b|\bhanded on\b": "forbids redistribution; redistributed",
    r"\bfor want of\b": "because … ran out",
    r"\bare laid over each other\b|\blaid over the source\b": "registered to, aligned with",
    r"\bstands? (here|there)\b": "appears, is",
    r": say (?!yes\b)\w": "use …",
}


ANY = re.compile("|".join(PREFERRED))
SQL = re.compile(r"\b(create|alter) table\b")


def sentences(code: str) -> Iterator[tuple[int, str]]:
    """Line and text of every string literal of two words or more; docstrings and bare strings are not for users."""
    nodes = list(ast.walk(ast.parse(code)))
    bare = {id(node.value) for node in nodes if isinstance(node, ast.Expr)}
    inner = {id(part) for node in nodes if isinstance(node, ast.JoinedStr) for part in node.values}
    for node in nodes:
        if id(node) in bare or id(node) in inner:
            continue
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            text = node.value
        elif isinstance(node, ast.JoinedStr):
            text = "".join(str(part.value) if isinstance(part, ast.Constant) else "X" for part in node.values)
        else:
            continue
        if " " in text and "\\b" not in text and SQL.search(text) is None:  # patterns are not sentences
            yield node.lineno, " ".join(text.split())


def faults(text: str) -> list[str]:
    """One line for each replaced phrase in a text, with what to write."""
    if ANY.search(text) is None:
        return []
    found = ((re.search(pattern, text), better) for pattern, better in PREFERRED.items())
    return [f"“{hit.group()}” → {better}" for hit, better in found if hit]


def test_messages_and_help_texts_are_plain() -> None:
    found = [
        f"{path.relative_to(ROOT)}:{line}: {fault}: {text[:120]}"
        for path in sorted(SOURCE.rglob("*.py"))
        for line, text in sentences(path.read_text(encoding="utf-8"))
        for fault in faults(text)
    ]
    assert not found, "\n".join(found)


def test_help_of_commands_is_plain() -> None:
    """Docstrings of commands are their help."""
    found = []
    for path in sorted((SOURCE / "cli").glob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            said = ast.get_docstring(node) if isinstance(node, ast.FunctionDef) else None
            found += [f"{path.name}, {node.name}: {fault}" for fault in faults(said or "")]  # type: ignore[attr-defined]
    assert not found, "\n".join(found)


def test_pages_are_plain() -> None:
    pages = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
    found = [
        f"{page.relative_to(ROOT)}:{number}: {fault}"
        for page in pages
        for number, line in enumerate(page.read_text(encoding="utf-8").splitlines(), 1)
        for fault in faults(line)
    ]
    assert not found, "\n".join(found)


@pytest.mark.parametrize(
    ("code", "caught"),
    [
        ('say(f"stopped: {why}; the same command goes on")', True),
        ('raise StudyError("a price that nobody "\n    "knows")', True),
        ('raise StudyError(f"--by {by}: say round or step")', True),
        ('"""The same command goes on; nobody knows."""', False),
        ('say("run the same command to continue")', False),
        ('raise StudyError("say yes or no")', False),
    ],
)
def test_a_replaced_phrase_is_found_across_lines_and_placeholders(code: str, caught: bool) -> None:
    assert any(faults(text) for _, text in sentences(code)) == caught
