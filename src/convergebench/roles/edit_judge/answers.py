"""The answers to `judge-edit` and `judge-two-edits`, in the form in which a model would reply."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from math import tanh
from typing import Any, NamedTuple

from convergebench.errors import StudyError, Unmeasurable
from convergebench.images.decode import decode
from convergebench.images.frame import Frame
from convergebench.roles.edit_judge import levels
from convergebench.roles.edit_judge.compliance import EditQuestion, Verdict, compliance, edit_question
from convergebench.roles.edit_judge.criteria import preservation, same_picture, seamlessness, technical_quality
from convergebench.roles.edit_judge.evidence import evidence

WEIGHTS = (0.40, 0.25, 0.20, 0.15)
"""Of the four criteria, for the comparison of two edits."""
PLAIN = 0.15
"""Difference of two scores that is plain to see."""
KEPT = 8
_QUOTED = re.compile(r"«(.*)»", re.DOTALL)


class EditScores(NamedTuple):
    """The four criteria."""

    instruction_compliance: Verdict
    seamlessness: Verdict
    preservation_balance: Verdict
    technical_quality: Verdict

    @property
    def total(self) -> float:
        """Their weighted mean."""
        return sum(weight * verdict.value for weight, verdict in zip(WEIGHTS, self, strict=True))


def judge_edit(images: tuple[bytes, ...], payload: Mapping[str, Any]) -> dict[str, Any]:
    """The edited picture against its input, on the four criteria."""
    asked = _question(payload)
    try:
        edited, source = map(_frame, images)
        scores = score_edit(edited, source, asked)
    except (StudyError, Unmeasurable) as error:
        scores = _nothing(str(error))
    moved, kept = scores.instruction_compliance, scores.preservation_balance
    changed = [moved.why] if moved.value > 0 else []
    return {
        "changed": changed,
        "preserved": [kept.why] if kept.value >= 0.5 else [],
        "understood": f"not understood but measured, as an edit of the type '{asked.edit_type or 'unknown'}'",
        **{name: round(verdict.value, 4) for name, verdict in scores._asdict().items()},
        "reason": _reason(scores),
    }


def judge_two_edits(images: tuple[bytes, ...], payload: Mapping[str, Any]) -> dict[str, Any]:
    """Which of two edits scores higher; with the pictures swapped, exactly the opposite."""
    asked = _question(payload)
    totals = []
    for image in images[:2]:
        try:
            totals.append(score_edit(_frame(image), _frame(images[2]), asked).total)
        except (StudyError, Unmeasurable):
            totals.append(0.0)
    ahead = totals[0] - totals[1]
    # rounded before it is added, so that both orders give numbers whose sum is exactly 1
    better = 0.5 + round(tanh(abs(ahead) / PLAIN) * 1024) / 2048 * (1 if ahead >= 0 else -1)
    return {"reason": f"scores of {totals[0]:.3f} and {totals[1]:.3f}", "better": better}


def score_edit(edited: Frame, source: Frame, asked: EditQuestion) -> EditScores:
    """The four criteria; a plain fault in one of the others also lowers compliance: it is not what was asked for."""
    seen = evidence(edited, source)
    same = same_picture(seen, asked)
    if same.value == 0:
        return _nothing(f"another picture came back: {same.why}")
    done, seam = compliance(seen, asked), seamlessness(seen, asked)
    kept, sound = preservation(seen, asked), technical_quality(seen, asked)
    worst = min(levels.FAULT(verdict.value) for verdict in (seam, kept, sound))
    lowered = done.value * same.value * (0.3 + 0.7 * worst)
    return EditScores(done._replace(value=lowered), seam._replace(value=seam.value * same.value), kept, sound)


def _nothing(why: str) -> EditScores:
    return EditScores(*(Verdict(0.0, why) for _ in WEIGHTS))


def _reason(scores: EditScores) -> str:
    parts = [
        f"{name.replace('_', ' ')} {verdict.value:.2f} ({verdict.why})" for name, verdict in scores._asdict().items()
    ]
    return "measured, not seen: " + "; ".join(parts)


def _question(payload: Mapping[str, Any]) -> EditQuestion:
    quoted = _QUOTED.search(payload.get("text", ""))
    instruction = payload.get("instruction") or (quoted[1] if quoted else "")
    edit_type, scope, operation = (str(payload.get(name) or "") for name in ("edit_type", "scope", "operation"))
    return edit_question(edit_type, scope, operation, instruction)


@lru_cache(KEPT)
def _frame(data: bytes) -> Frame:
    return decode(data, what="a picture of the question", alpha="white")
