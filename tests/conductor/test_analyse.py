"""Which analyses a run gets: those of its study, and failures wherever somebody looked for them."""

from __future__ import annotations

from pathlib import Path

import pytest

from convergebench.analysis.decay_result import DecayAnalysis
from convergebench.analysis.result import Analysis
from convergebench.conductor.analyse import analyse_run, report_input
from convergebench.conductor.examining import examine
from convergebench.conductor.options import RunOptions
from convergebench.conductor.running import plan, run
from convergebench.errors import StudyError
from convergebench.studies.spec import parse_spec
from tests.engine.parts import IMAGES


def made(root: Path, study: str, **parameters: object) -> Path:
    """A measured run of two images under a simulated editor, without a report."""
    content = {
        "study": study,
        "editors": ["sim-jpeg"],
        "edits": {"pairs": ["flip-horizontal"]},
        "measure": {"metrics": ["ssim", "rmse"]},
        "analysis": {"draws": 100},
        study: parameters,
    }
    run(plan(parse_spec(content), root, sources=IMAGES), RunOptions(report=False, workers=1))
    return root


@pytest.fixture(scope="module")
def trips(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return made(tmp_path_factory.mktemp("trips") / "run", "roundtrip", rounds=2)


def test_a_round_trip_is_compared_and_its_failures_are_shown_once_somebody_looked(trips: Path) -> None:
    before = analyse_run(trips)
    assert list(before.context.results) == ["comparison"]
    assert isinstance(before.comparison, Analysis)
    examine(trips, ["colour-cast"], workers=1)
    after = analyse_run(trips)
    assert list(after.context.results) == ["comparison", "decay"]
    found = report_input(trips).result(DecayAnalysis)
    assert found is not None
    assert found.labels["mode"].unique().to_list() == ["colour-cast"]
    assert after.comparison.ranking.equals(before.comparison.ranking)


def test_where_nothing_is_undone_decay_is_analysed(tmp_path: Path) -> None:
    found = analyse_run(made(tmp_path / "run", "replicate", steps=2, runs=1))
    assert list(found.context.results) == ["comparison", "decay"]
    assert found.context.unit.many == "steps"
    assert found.notes == ()


def test_a_result_gives_its_frames_as_tables_by_name(trips: Path) -> None:
    tables = analyse_run(trips).comparison.tables()
    assert {"ranking", "curves", "half_life", "anchors", "sensitivity"} <= tables.keys()
    assert tables["ranking"]["editor"].to_list() == ["sim-jpeg"]


def test_an_alignment_that_was_not_measured_is_refused_with_what_to_type(trips: Path) -> None:
    with pytest.raises(
        StudyError, match=rf"measured under auto, not under fit; type: cbench measure {trips} --align fit"
    ):
        analyse_run(trips, "fit")
