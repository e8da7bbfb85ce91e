"""`cbench factory plan`: what a factory makes and costs, told before anything is paid, and held against the bill."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from benchmarks.factory import compared, survival, walk
from benchmarks.factory_world import InstantEditor, ScriptedRole, prepared_factory
from convergebench.conductor.factory_plan import FactoryForecast, assumed, forecast_factory, pilot_of
from convergebench.engine.prepared import Prepared
from convergebench.errors import StudyError
from convergebench.store.frames import RunFrames
from tests.cli.inside import run_inside
from tests.factory_run import ROLES, factory_run

PRICES = {"detector": 0.002, "writer": 0.01, "rewriter": 0.001, "judge": 0.02, "inspector": 0.003}


def paid_roles() -> dict[str, ScriptedRole]:
    return {name: ScriptedRole(name, dollars=PRICES[name]) for name in ROLES}


def planned(images: int, **parameters: Any) -> Prepared:
    return prepared_factory(images, InstantEditor(dollars=0.04), paid_roles(), per_image=2, **parameters)


def spent(root: Path) -> float:
    frames = RunFrames(root)
    total = float(frames.spending()["dollars"].sum())
    frames.close()
    return total


def run_with_prices(root: Path, count: int, **parameters: Any) -> None:
    factory_run(root, count=count, editor=InstantEditor(dollars=0.04), roles=paid_roles(), per_image=2, **parameters)


def test_a_forecast_from_a_pilot_is_within_a_tenth_of_the_bill(tmp_path: Path) -> None:
    parameters = {"sessions": 0.3, "judged": 2, "pairwise": True}
    run_with_prices(tmp_path / "pilot", 40, **parameters)
    found = forecast_factory(planned(150, **parameters), pilot_of(tmp_path / "pilot", 3))
    run_with_prices(tmp_path / "whole", 150, **parameters)
    assert found.dollars == pytest.approx(spent(tmp_path / "whole"), rel=0.10)


def test_what_is_made_is_forecast_too(tmp_path: Path) -> None:
    run_with_prices(tmp_path / "pilot", 60, sessions=0.3)
    found = forecast_factory(planned(60, sessions=0.3), pilot_of(tmp_path / "pilot", 3))
    frames = RunFrames(tmp_path / "pilot")
    ends = [json.loads(text) for kind, text in frames.decisions().select("decision", "facts").rows() if kind == "end"]
    frames.close()
    assert found.accepted == pytest.approx(sum(end["outcome"] == "accepted" for end in ends), rel=0.08)
    whole = sum(end["turns_fit"] == end["turns_planned"] > 1 for end in ends)
    assert found.whole_sessions == pytest.approx(whole, abs=6)


def test_an_assumed_share_gives_the_geometric_number_of_tries() -> None:
    found = assumed(0.5, 3)
    assert found.pooled.tries == pytest.approx(1 + 0.5 + 0.25)
    assert found.pooled.success == pytest.approx(0.875)


def test_expected_is_never_more_than_the_most() -> None:
    found: FactoryForecast = forecast_factory(planned(30, sessions=0.5, pairwise=True), assumed(0.2, 3))
    for row in found.rows:
        assert row.most is not None
        assert row.calls <= row.most + 1e-9, row.name
        assert (row.dollars or 0) <= (row.most_dollars or 0) + 1e-9, row.name


def test_a_certain_editor_needs_one_attempt_each() -> None:
    found = forecast_factory(planned(30, sessions=0), assumed(1.0, 3))
    editor = next(row for row in found.rows if row.name == "instant")
    assert editor.calls == pytest.approx(60)
    assert found.preferences == pytest.approx(0)
    assert found.dollars == pytest.approx(60 * (0.04 + 0.01 + 0.001 + 0.02), rel=0.01)


@pytest.mark.parametrize("success", [0.0, -0.5, 1.5])
def test_a_share_that_is_none_is_refused(success: float) -> None:
    with pytest.raises(StudyError, match="above 0 and up to 1"):
        assumed(success, 3)


def test_a_pilot_with_other_attempts_tells_nothing(tmp_path: Path) -> None:
    factory_run(tmp_path / "pilot", count=2, attempts=2)
    with pytest.raises(StudyError, match="had 2 attempts"):
        pilot_of(tmp_path / "pilot", 3)


def test_nothing_is_lost_or_doubled_under_kills_and_faults() -> None:
    found = survival(60, seed=3)
    assert found["kills"] >= 3
    assert (found["lost"], found["added"]) == (0, 0)
    assert found["decisions"] > 100
    assert found["billed"] <= found["journalled"] + 1e-9


def test_two_runs_that_differ_are_told_apart(tmp_path: Path) -> None:
    walk(tmp_path / "one", 4)
    walk(tmp_path / "two", 4, faults=0.5)
    assert compared(tmp_path / "one", tmp_path / "two")["lost"] > 0


STUDY = """
study = "factory"
editors = ["sim-perfect"]
[images]
suite = "quick"
[factory]
per_image = 2
"""


def test_the_command_prints_rows_dollars_and_where_shares_come_from(tmp_path: Path) -> None:
    (tmp_path / "made.toml").write_text(STUDY)
    done = run_inside(["factory", "plan", "made.toml", "--success", "0.5"], tmp_path, dict(os.environ))
    assert done.returncode == 0, done.stderr
    assert "24 cases: 12 images" in done.stdout
    assert "50% of attempts are accepted" in done.stdout
    assert "costs about $0.00" in done.stdout
    as_json = run_inside(["factory", "plan", "made.toml", "--json"], tmp_path, dict(os.environ))
    assert json.loads(as_json.stdout)["cases"] == 24


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--success", "2"], "above 0 and up to 1"),
        (["--success", "0.5", "--from", "pilot"], "use only one of them"),
        (["--from", "nowhere"], "nowhere"),
    ],
)
def test_mistakes_are_one_line(tmp_path: Path, arguments: list[str], message: str) -> None:
    (tmp_path / "made.toml").write_text(STUDY)
    done = run_inside(["factory", "plan", "made.toml", *arguments], tmp_path, dict(os.environ))
    assert done.returncode == 2
    assert message in done.stderr
    assert done.stderr.strip().count("\n") == 0


def test_another_study_is_sent_to_its_own_forecast(tmp_path: Path) -> None:
    (tmp_path / "made.toml").write_text('study = "roundtrip"\neditors = ["sim-perfect"]\n')
    done = run_inside(["factory", "plan", "made.toml"], tmp_path, dict(os.environ))
    assert "cbench run made.toml --dry-run" in done.stderr


def test_edit_types_are_listed(tmp_path: Path) -> None:
    done = run_inside(["list", "edit-types", "--json"], tmp_path, dict(os.environ))
    rows = json.loads(done.stdout)
    assert len(rows) == 35
    assert len({row["category"] for row in rows}) == 8
