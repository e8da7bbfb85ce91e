"""A study of a third party: the shortest one runs, and what is wrong with one is said before the first call."""

from __future__ import annotations

from collections.abc import Iterator
from io import StringIO
from pathlib import Path

import pytest
from rich.console import Console

from convergebench.conductor.listing import study_rows
from convergebench.conductor.options import RunOptions
from convergebench.conductor.reporting import analysed
from convergebench.conductor.running import RunOutcome, plan, run
from convergebench.errors import ConvergeBenchError, StudyError
from convergebench.report.terminal import print_ranking
from convergebench.studies.spec import parse_spec
from tests.conductor.small_study import FAULTS, POINTS
from tests.engine.parts import IMAGES, CountingEditor
from tests.installed_study import installed_studies


@pytest.fixture(autouse=True)
def _installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    with installed_studies(tmp_path, POINTS, monkeypatch):
        yield


def session(root: Path, study: str, editor: CountingEditor) -> RunOutcome:
    spec = parse_spec(
        {
            "study": study,
            "editors": [{"name": "counting", "use": "sim-identity"}],
            "measure": {"metrics": ["psnr"]},
        }
    )
    return run(plan(spec, root, editors={"counting": editor}, sources=IMAGES), RunOptions(workers=1, plots=()))


def test_cases_steps_and_calls_are_enough_for_a_study(tmp_path: Path) -> None:
    assert session(tmp_path / "run", "small", CountingEditor()).statuses == {"finished": len(IMAGES)}
    assert (tmp_path / "run" / "report" / "index.html").exists()


@pytest.mark.parametrize("name", FAULTS)
def test_a_slip_is_one_line_before_the_first_call(tmp_path: Path, name: str) -> None:
    editor = CountingEditor()
    with pytest.raises(ConvergeBenchError) as caught:
        session(tmp_path / "run", name, editor)
    assert FAULTS[name][1] in str(caught.value)
    assert "\n" not in str(caught.value)
    assert editor.calls == 0
    assert not (tmp_path / "run").exists()


def test_a_stage_that_raises_is_told_in_one_line_and_the_edits_are_kept(tmp_path: Path) -> None:
    with pytest.raises(StudyError, match=r"^the stage FailingStage failed: RuntimeError: no room left$"):
        session(tmp_path / "run", "late-stage", CountingEditor())
    editor = CountingEditor()
    with pytest.raises(StudyError, match="the stage FailingStage failed"):
        session(tmp_path / "run", "late-stage", editor)
    assert editor.calls == 0


def test_studies_that_cannot_be_used_are_listed_with_the_reason() -> None:
    questions = {row["study"]: row["question"] for row in study_rows()}
    assert questions["small"] == "The shortest study of a third party, and slips that third parties make."
    assert questions["unit"].endswith(FAULTS["unit"][1])
    assert questions["broken"] == "study 'broken' cannot be loaded: No module named 'nowhere'"
    assert questions["roundtrip"].startswith("Edit, undo, repeat")


def test_a_study_without_the_comparison_of_editors_is_said_to_have_no_ranking(tmp_path: Path) -> None:
    session(tmp_path / "run", "unranked", CountingEditor())
    shown = StringIO()
    print_ranking(analysed(tmp_path / "run"), Console(file=shown, width=120))
    assert shown.getvalue() == "No ranking: the study computes none.\n"
