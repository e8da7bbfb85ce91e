"""The shortest study of a third party, and slips that third parties make."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from convergebench.conductor.stages.base import Stage, StageContext
from convergebench.studies.base import BaseStudy, Sources
from convergebench.types import Case, Compare, Edit, EditPair, Settings, Steps


@dataclass(frozen=True)
class Small(BaseStudy):
    """One copy of every image."""

    settings: Settings = field(default_factory=Settings)
    name: str = "small"

    def cases(self, sources: Sources, pairs: Sequence[EditPair]) -> list[Case]:
        return [Case(image.id, state, image.id, image.kind) for image, state in sources]

    def steps(self, case: Case) -> Steps:
        copy = yield Edit(case.source, "Copy it.")
        yield Compare(copy, case.source, "return", 1, 1)

    def calls(self, case: Case) -> int:
        return 1


class FailingStage(Stage):
    """Raises when its turn has come."""

    def __call__(self, context: StageContext) -> str | None:
        raise RuntimeError("no room\nleft")


def _fail(*given: object) -> Any:
    raise RuntimeError("no room\nleft")


def _without_end(self: Small, case: Case) -> Steps:
    while True:
        yield Edit(case.source, "Copy it.")


def _only_comparisons(self: Small, case: Case) -> Steps:
    while True:
        yield Compare(case.source, case.source, "return", 1, 1)


def _same_id(self: Small, sources: Sources, pairs: Sequence[EditPair]) -> list[Case]:
    return [Case("one", state, image.id, image.kind) for image, state in sources]


FAULTS: Mapping[str, tuple[dict[str, Any], str]] = {
    "stage": ({"stages": ("mesure",)}, "unknown stage 'mesure'; did you mean 'measure'?"),
    "section": ({"sections": ("rankng",)}, "unknown section 'rankng'; did you mean 'ranking'?"),
    "part": ({"analyses": ("comparision",)}, "unknown analysis 'comparision'; did you mean 'comparison'?"),
    "export": ({"exports": ("measurments",)}, "unknown export 'measurments'; did you mean 'measurements'?"),
    "one-name": ({"sections": "ranking"}, "sections should be a tuple of names; a single one is written"),
    "unit": ({"unit": "attempt"}, "unit should be a convergebench.studies.units.Unit"),
    "abstract": ({"calls": BaseStudy.calls}, "it does not define calls"),
    "other-name": ({"name": "other"}, "calls itself 'other'; its name should be 'other-name'"),
    "cases": ({"cases": _fail}, "failed: RuntimeError: no room left"),
    "case-ids": ({"cases": _same_id}, "gives two cases the id 'one'"),
    "no-case": ({"cases": lambda *given: ["one"]}, "cases() returned a str instead of a Case"),
    "calls": ({"calls": lambda *given: None}, "calls() returned a NoneType instead of a int"),
    "questions": ({"questions": _fail}, "failed: RuntimeError: no room left"),
    "edits": ({}, "'edits' is a key of every study file; choose another name"),
    "words": ({"edits": lambda *given: 5}, "edits() returned a int instead of a Mapping"),
    "endless": ({"steps": _without_end}, "it makes more edits than its calls() declares (1)"),
    "comparing": ({"steps": _only_comparisons}, "it yielded 100000 comparisons or decisions in a row"),
    "raising-stage": ({"stages": (f"{__name__}:_fail",)}, "failed: RuntimeError: no room left"),
}
"""Name → what is declared, and what is said before the first call."""


def _study(name: str, declared: Mapping[str, Any]) -> type[Small]:
    own = {"name": name, **declared, "__annotations__": {"name": str}, "__module__": __name__}
    return dataclass(frozen=True)(type("Faulty", (Small,), own))


for _name, (_declared, _) in FAULTS.items():
    globals()[f"study_{_name}".replace("-", "_")] = _study(_name, _declared)
late_stage = _study("late-stage", {"stages": (f"{__name__}:FailingStage",)})
unranked = _study("unranked", {"analyses": ("decay",)})
POINTS = "".join(f"{name} = {__name__}:study_{name.replace('-', '_')}\n" for name in FAULTS)
POINTS += f"small = {__name__}:Small\nlate-stage = {__name__}:late_stage\nunranked = {__name__}:unranked\n"
POINTS += "broken = nowhere:Study\n"
