"""The measuring judge: the judge's questions answered by our own metrics, for use without a model.

It replies in the same form as a model: `happened` and `undone` for the edit, `side-effect` for other changes; edits of
the study `factory` are judged in `roles.edit_judge`. It sees that something changed in one place, not what: "add a hat"
answered with a flower pot passes. It is always named measuring judge, so that nobody takes it for a model.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any

from convergebench.errors import StudyError, Unmeasurable
from convergebench.ids import canonical, fingerprint
from convergebench.images.decode import decode
from convergebench.images.frame import Frame
from convergebench.metrics import load_metric
from convergebench.metrics.base import Item
from convergebench.roles.base import Answered, Role
from convergebench.roles.edit_judge.levels import EDITS_VERSION
from convergebench.roles.tables import RoleTable
from convergebench.types import Limits

NAME = "measuring judge"
VERSION = 1
"""Raised whenever its replies to the same pictures would change."""
PLAIN = 10.0
"""Mean colour change (ΔE) outside the edited region that counts as severity 10."""
KEPT = 8
"""Cached decoded pictures: questions about adjacent steps share them."""


FIRST_OF_EDITS = {"version": 1, "decay": 1, "noise": 1, "blockiness": 1}
"""What edits of the study `factory` were first judged with; only a change of it is part of the fingerprint, so that the
plans of other studies stay as they are."""


class MeasuringJudge(Role):
    """Answers questions about single steps, and about edits of a known type, always the same for the same pictures."""

    about = NAME

    def __init__(self, table: RoleTable | None = None) -> None:
        used = {name: load_metric(name).facts.version for name in ("happened", "undone", "side-effect")}
        edits = {name: load_metric(name).facts.version for name in ("decay", "noise", "blockiness")}
        edits["version"] = EDITS_VERSION
        later = {} if edits == FIRST_OF_EDITS else {"edits": edits}
        self.fingerprint = fingerprint("measuring", VERSION, {**used, "plain": PLAIN, **later})
        self.limits = Limits(at_once=os.cpu_count() or 1)
        if table is not None and table.rubrics:
            raise StudyError('the measuring judge does not use rubrics; they need kind = "served"')

    def require(self, rubric: str) -> None:
        """Only the rubrics that can be measured."""
        if rubric not in _ANSWERS:
            known = ", ".join(_ANSWERS)
            raise StudyError(f"the {NAME} does not answer '{rubric}' (only {known}); use a role of kind = \"served\"")

    async def ask(self, images: tuple[bytes, ...], payload: Mapping[str, Any], *, repeat: int = 0) -> Answered:
        """The reply, measured."""
        self.require(payload["rubric"])
        value = await asyncio.to_thread(_ANSWERS[payload["rubric"]], images, payload)
        return Answered(value, canonical(value), NAME)


def _forward(images: tuple[bytes, ...], payload: Mapping[str, Any]) -> dict[str, Any]:
    operation = payload.get("operation")
    try:
        reference, subject = map(_frame, images)
    except StudyError as error:
        return {"seen": str(error), "carried_out": None, "other_changes": [], "severity": None}
    done, why = _measured("happened", Item(subject, reference, operation=operation))
    severity, changes = _severity(Item(subject, reference, operation=operation))
    carried_out = None if done is None else 10.0 * done
    return {"seen": why, "carried_out": carried_out, "other_changes": changes, "severity": severity}


def _backward(images: tuple[bytes, ...], payload: Mapping[str, Any]) -> dict[str, Any]:
    operation = payload.get("operation")
    try:
        reference, via, subject = map(_frame, images)
    except StudyError as error:
        return {"seen": str(error), "undone": None, "left": [], "other_changes": [], "severity": None}
    undone, why = _measured("undone", Item(subject, reference, via, operation))
    severity, changes = _severity(Item(subject, reference))
    left = [] if undone is None or undone > 0.95 else [f"{min(1.0, 1 - undone):.0%} of the difference"]
    # a negative value (farther away than before) counts as 0, the lowest on the form's scale
    value = None if undone is None else 10.0 * max(0.0, undone)
    return {"seen": why, "undone": value, "left": left, "other_changes": changes, "severity": severity}


def _edit(images: tuple[bytes, ...], payload: Mapping[str, Any]) -> dict[str, Any]:
    from convergebench.roles.edit_judge.answers import judge_edit, judge_two_edits
    from convergebench.roles.edit_judge.subjects import require_networks

    require_networks()
    return (judge_edit if payload["rubric"] == "judge-edit" else judge_two_edits)(images, payload)


_ANSWERS: Mapping[str, Callable[[tuple[bytes, ...], Mapping[str, Any]], dict[str, Any]]] = {
    "semantics-forward": _forward,
    "semantics-backward": _backward,
    "judge-edit": _edit,
    "judge-two-edits": _edit,
}


def _severity(item: Item) -> tuple[float | None, list[str]]:
    """How much else changed, on the form's scale and in words; without an operation, all remaining change."""
    change, why = _measured("side-effect", item)
    if change is None:
        return None, [why]
    changes = [f"colours elsewhere moved by ΔE {change:.1f}"] if change >= 0.5 else []
    return min(10.0, 10.0 * change / PLAIN), changes


def _measured(name: str, item: Item) -> tuple[float | None, str]:
    """(value, description)."""
    try:
        value = load_metric(name)(item)  # type: ignore[operator]
    except Unmeasurable as reason:
        return None, str(reason)
    return float(value), f"{name} {value:.3f}"


@lru_cache(KEPT)
def _frame(data: bytes) -> Frame:
    return decode(data, what="a picture of the question", alpha="white")
