"""A model's reasoning summary, split into its titled sections.

Providers write such summaries as paragraphs under bold titles or headings; open models put sections between tags. A
section is about generating the image or about evaluating it; a model that generates, evaluates and generates again
within one call shows more than one round.
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
    """One section; text before the first title has an empty title."""

    title: str
    text: str
    phase: Phase


def sections(summary: str | None) -> tuple[Section, ...]:
    """The sections in order; a summary without titles is one section."""
    if summary is None or not summary.strip():
        return ()
    summary = "\n".join(summary.splitlines())
    marks = list(_TITLE.finditer(summary))
    starts = [*(mark.start() for mark in marks), len(summary)]
    found = [_section("", summary[: starts[0]])]
    for mark, end in zip(marks, starts[1:], strict=True):
        # a heading's closing # are removed here: a pattern for them is very slow on a line of blanks
        title = mark["bold"] or mark["tag"] or mark["heading"].rstrip(" \t#")
        found.append(_section(title.strip().rstrip(":"), summary[mark.end() : end]))
    return tuple(part for part in found if part.title or part.text)


def _section(title: str, text: str) -> Section:
    # only a section without a title is classified by its text
    text = _CLOSING.sub("", text).strip()
    return Section(title, text, "evaluation" if _EVALUATION.search(title or text[:200]) else "generation")


def rounds(parts: Iterable[Section]) -> int:
    """How many images the model generated: runs of generation sections, separated by evaluation."""
    count, previous = 0, ""
    for part in parts:
        count += part.phase == "generation" and previous != "generation"
        previous = part.phase
    return count
