"""A study of a third party that asks: edit until the judge is content, worded by a writer if it names one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Self

from convergebench.documents import Strict
from convergebench.rubrics.rubric import load_rubric, question
from convergebench.studies.base import BaseStudy, Sources
from convergebench.types import Ask, Case, Compare, Edit, EditPair, Settings, Steps

RUBRIC = "semantics-forward"
ATTEMPTS = 2


class JudgedTable(Strict):
    """No parameters."""


@dataclass(frozen=True)
class Judged(BaseStudy):
    """Two attempts at most."""

    Parameters: ClassVar[type[JudgedTable]] = JudgedTable
    roles: ClassVar[tuple[str, ...]] = ("judge",)
    rubrics: ClassVar[tuple[str, ...]] = (RUBRIC,)

    settings: Settings = field(default_factory=Settings)
    name: str = "judged"

    @classmethod
    def of(cls, parameters: JudgedTable, settings: Settings) -> Self:
        return cls(settings)

    def cases(self, sources: Sources, pairs: Sequence[EditPair]) -> list[Case]:
        return [
            Case(f"{image.id}/{pairs[0].label}", state, image.id, image.kind, tuple(pairs[:1]))
            for image, state in sources
        ]

    def steps(self, case: Case) -> Steps:
        words = case.pair.forward
        for number in range(1, ATTEMPTS + 1):
            edited = yield Edit(case.source, words, draw=number)
            yield Compare(edited, case.source, "forward", number, number)
            payload = question(load_rubric(RUBRIC), {"instruction": words}, operation=case.pair.forward_operation)
            verdict = yield Ask("judge", (case.source, edited), payload)
            if verdict.value is not None and (verdict.value["carried_out"] or 0) > 9:
                return

    def calls(self, case: Case) -> int:
        return ATTEMPTS

    def questions(self, case: Case) -> Mapping[str, int]:
        return {"judge": ATTEMPTS}

    def edits(self, cases: Sequence[Case]) -> dict[str, dict[str, Any]]:
        return {case.label: {"forward": case.pair.forward, "category": case.category} for case in cases}


@dataclass(frozen=True)
class Written(Judged):
    """Asks a role that no study file has by itself."""

    roles: ClassVar[tuple[str, ...]] = ("judge", "scribe")
    name: str = "written"

    def questions(self, case: Case) -> Mapping[str, int]:
        return {}


@dataclass(frozen=True)
class Undeclared(Judged):
    """Asks a judge and does not say so."""

    roles: ClassVar[tuple[str, ...]] = ()
    name: str = "undeclared"
