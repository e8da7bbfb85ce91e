"""What a run until decided has decided: the question, and every comparison with its interval."""

from __future__ import annotations

from typing import Any

from convergebench.analysis.sequential.decide import PairFinding
from convergebench.analysis.sequential.question import UntilQuestion
from convergebench.analysis.sequential.result import UntilAnalysis
from convergebench.analysis.sequential.wording import METHODS, signed
from convergebench.report.page import Page
from convergebench.report.sections.base import TemplateSection
from convergebench.report.wording import count, p_value

VERDICTS = {"ahead": "{one} is ahead", "behind": "{other} is ahead", "open": "not decided"}


def until_section(page: Page) -> dict[str, Any] | None:
    """The question, the comparisons, and how the interval narrowed; None for a run of all images."""
    found = page.given.result(UntilAnalysis)
    if found is None:
        return None
    question = found.decision.question
    return {
        "sentence": found.headline[-1],
        "question": question,
        "method": METHODS[question.method],
        "confidence": f"{100 * (1 - question.error):.3g}",
        "pairs": len(question.pairs),
        "rows": [_row(one, question, found) for one in found.decision.findings],
    }


def _row(one: PairFinding, question: UntilQuestion, found: UntilAnalysis) -> dict[str, str]:
    alike = f"no difference of {question.difference:g} or more"
    verdict = VERDICTS.get(one.verdict, alike).format(one=one.one, other=one.other)
    looks = found.until_looks.filter(one=one.one, other=one.other).to_dicts()
    shown = [look for look in looks if look["images"] in (len(looks) // 4, len(looks) // 2, 3 * len(looks) // 4)]
    before = "; ".join(f"{look['images']}: {signed(look['low'])} to {signed(look['high'])}" for look in shown)
    apart = [f"{one.partial} with rounds left"] if one.partial else []
    apart += [f"{one.missing} without a value"] if one.missing else []
    return {
        "one": one.one,
        "other": one.other,
        "verdict": verdict + (f", by less than {question.difference:g}" if one.within and one.loser else ""),
        "difference": "–" if one.difference is None else signed(one.difference),
        "interval": f"{signed(one.low)} to {signed(one.high)}",
        "p": p_value(one.p),
        "images": count(one.images, "image") + (f" ({', '.join(apart)})" if apart else ""),
        "before": before,
    }


UNTIL = TemplateSection("until", "What was decided", "until.html", until_section, key="until")
