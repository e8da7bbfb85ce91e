"""A model's summary of what it thought, split into its titled sections.

Providers write such summaries as paragraphs under bold titles or headings; open models put their parts between tags. A
section tells either of making the picture or of looking at it; a model that makes one, looks, and makes another inside
one call shows more than one round.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

Phase = Literal["generation", "evaluation"]

_TITLE = re.compile(
    r"""
    ^[ \t]*\#{1,6}[ \t]+(?P<heading>[^\n]+)$
    # parts that a provider sends one by one arrive without a line between them: `… is done.**Next title**`
    | (?:^[ \t]*|(?<=[.!?…:)\]]))\*\*(?P<bold>[^*\n]+?)\*\*:?[ \t]*$
    | <(?P<tag>think(?:ing)?|reasoning|plan|recaption|critique)>
    """,
    re.MULTILINE | re.VERBOSE,
)
_CLOSING = re.compile(r"</(?:think(?:ing)?|reasoning|plan|recaption|critique)>")
_EVALUATION = re.compile(
    r"\b(evaluat|assess|check(?:s|ed|ing)?\b|verif|review|inspect|examin|confirm|compar|critiqu"
    r"|analy[sz]ing the (?:result|output)|judg|validat|scrutin|look(?:ing)? (?:over|at the (?:result|output)))",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Section:
    """One titled part; text before the first title has none."""

    title: str
    text: str
    phase: Phase


def sections(summary: str | None) -> tuple[Section, ...]:
    """The parts in order; a summary without titles is one part."""
    if summary is None or not summary.strip():
        return ()
    summary = "\n".join(summary.splitlines())
    marks = list(_TITLE.finditer(summary))
    begins = [*(mark.start() for mark in marks), len(summary)]
    found = [_section("", summary[: begins[0]])]
    for mark, end in zip(marks, begins[1:], strict=True):
        # what closes a heading is taken off here: a pattern for it takes ages over a line of blanks
        title = mark["bold"] or mark["tag"] or mark["heading"].rstrip(" \t#")
        found.append(_section(title.strip().rstrip(":"), summary[mark.end() : end]))
    return tuple(part for part in found if part.title or part.text)


def _section(title: str, text: str) -> Section:
    # the title says what a section is about; only one without a title is judged by its words
    text = _CLOSING.sub("", text).strip()
    return Section(title, text, "evaluation" if _EVALUATION.search(title or text[:200]) else "generation")


def rounds(parts: Iterable[Section]) -> int:
    """How often the model made a picture: runs of generation sections, parted by evaluation."""
    count, before = 0, ""
    for part in parts:
        count += part.phase == "generation" and before != "generation"
        before = part.phase
    return count
