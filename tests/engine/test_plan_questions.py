"""A forecast tells what questions cost, which come on top of edits."""

from __future__ import annotations

import pytest

from convergebench.engine.plan_questions import RoleForecast, forecast_questions, questions_of
from convergebench.measuring.measure import split_metrics
from convergebench.roles import make_role
from convergebench.roles.base import Role
from convergebench.roles.measuring import MeasuringJudge
from convergebench.roles.tables import RoleTable
from convergebench.studies.roundtrip import RoundTrip
from convergebench.types import Case
from tests.engine.parts import CASES, chains_of

PRICES = {"input": 10.0, "output": 20.0}


def judge(**options: object) -> RoleTable:
    table = {"kind": "served", "base_url": "http://127.0.0.1:9/v1", "model": "m", "repeats": 3, "max_tokens": 500}
    return RoleTable.model_validate({**table, **options})


@pytest.mark.parametrize(
    ("metrics", "questions"),
    [
        (["psnr"], 0),
        (["judge-happened"], 2 * len(CASES) * 3),
        (["judge-happened", "judge-undone"], 2 * 2 * len(CASES) * 3),
    ],
)
def test_every_comparison_that_a_metric_is_asked_about_counts_once_for_each_repeat(
    metrics: list[str], questions: int
) -> None:
    role = make_role("judge", judge(dollars_per_million=PRICES))
    found = forecast_questions(chains_of(CASES, 2), split_metrics(metrics)[1], {"judge": role})
    price = (6000 * 10.0 + 500 * 20.0) / 1e6
    assert [(row.role, row.questions) for row in found] == ([("judge", questions)] if questions else [])
    assert sum(row.dollars or 0.0 for row in found) == pytest.approx(questions * price)


def test_metrics_that_read_one_rubric_share_the_question_and_an_unknown_price_stays_unknown() -> None:
    role = make_role("judge", judge())
    one = forecast_questions(chains_of(CASES, 2), split_metrics(["judge-happened", "judge-undone"])[1], {"judge": role})
    every = ["judge-happened", "judge-undone", "judge-side-effect"]
    assert forecast_questions(chains_of(CASES, 2), split_metrics(every)[1], {"judge": role}) == one
    assert one[0].dollars is None


class Asking(RoundTrip):
    """A study that declares two questions for each of its rounds."""

    def questions(self, case: Case) -> dict[str, int]:
        return {"judge": 2 * self.rounds}


def test_a_study_declares_its_own_questions_and_one_that_asks_nothing_need_not() -> None:
    (plain,) = chains_of(CASES[:1], 3)
    (asking,) = chains_of(CASES[:1], 3, study=Asking(3))
    assert questions_of(plain) == {}
    assert questions_of(asking) == {"judge": 6}


class Uncounted(RoundTrip):
    """A study that asks a judge and does not declare how often."""

    roles = ("judge",)


@pytest.mark.parametrize(("role", "dollars"), [(MeasuringJudge(), 0.0), (make_role("judge", judge()), None)])
def test_an_unknown_number_of_questions_costs_nothing_only_if_each_is_free(role: Role, dollars: float | None) -> None:
    assert forecast_questions(chains_of(CASES, 2, study=Uncounted(2)), [], {"judge": role}) == [
        RoleForecast("judge", None, dollars)
    ]
