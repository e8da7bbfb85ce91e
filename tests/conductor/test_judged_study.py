"""A study that asks roles: who answers belongs to what its numbers mean, and is looked for before the first call."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from convergebench.cli.forecasting import print_forecast
from convergebench.conductor.options import RunOptions
from convergebench.conductor.running import RunOutcome, plan, run
from convergebench.errors import ChangedMeaning, Prerequisite, StudyError
from convergebench.roles import defaults
from convergebench.rubrics import rubric
from convergebench.store.frames import RunFrames
from convergebench.store.manifest import read_manifest
from convergebench.studies.spec import parse_spec
from tests.conductor.judged_study import ATTEMPTS, RUBRIC, Judged
from tests.engine.parts import IMAGES, CountingEditor, query
from tests.installed_study import installed_studies
from tests.roles.server import ChatServer, forward_reply, message, serving

MODULE = "tests.conductor.judged_study"
POINTS = f"judged = {MODULE}:Judged\nwritten = {MODULE}:Written\nundeclared = {MODULE}:Undeclared\n"


@pytest.fixture(autouse=True)
def _installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    with installed_studies(tmp_path, POINTS, monkeypatch):
        yield


@pytest.fixture
def server() -> Iterator[ChatServer]:
    with serving(message(forward_reply(carried_out=10))) as found:
        yield found


def session(
    root: Path, editor: CountingEditor, *, study: str = "judged", limit: int = 0, metric: str = "psnr", **roles: Any
) -> RunOutcome:
    """One `cbench run` over two images with one edit each; the judge measures unless another is given."""
    spec = parse_spec(
        {
            "study": study,
            "editors": [{"name": "counting", "use": "sim-identity"}],
            "images": {"limit": limit},
            "edits": {"pairs": ["red-ball"]},
            "measure": {"metrics": [metric]},
            "roles": roles,
        }
    )
    planned = plan(spec, root, editors={"counting": editor}, sources=IMAGES)
    return run(planned, RunOptions(report=False, workers=1))


def answers(root: Path) -> list[tuple[Any, ...]]:
    frames = RunFrames(root)
    found = frames.answers().select("editor", "case", "source", "position", "role").rows()
    frames.close()
    return found


def served(server: ChatServer, **more: Any) -> dict[str, Any]:
    return server.table(**more).model_dump(mode="json")


def test_a_judge_that_was_swapped_after_half_of_the_chains_is_changed_meaning(
    tmp_path: Path, server: ChatServer
) -> None:
    root = tmp_path / "run"
    assert session(root, CountingEditor(), limit=1).statuses == {"finished": 1}
    editor = CountingEditor()
    with pytest.raises(ChangedMeaning, match=r"\n  role judge: measuring@1:\w+ → served@1:\w+"):
        session(root, editor, judge=served(server))
    assert (editor.calls, len(server.requests)) == (0, 0)
    assert query(root, "select count(*) from answers") == [(ATTEMPTS,)], "the finished chain keeps its verdicts"


def test_the_same_judge_goes_on_and_asks_nothing_again(tmp_path: Path, server: ChatServer) -> None:
    root = tmp_path / "run"
    session(root, CountingEditor(), limit=1, judge=served(server))
    asked = len(server.requests)
    editor = CountingEditor()
    assert session(root, editor, judge=served(server)).statuses == {"finished": 2}
    assert (editor.calls, len(server.requests), asked) == (1, 2, 1)
    facts = read_manifest(root / "manifest.json").roles["judge"]
    assert facts["fingerprint"].startswith("served@1:")
    assert facts["about"].startswith("tiny-vision-2 at http://127.0.0.1:")


def test_another_wording_of_its_question_is_changed_meaning(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    session(tmp_path / "run", CountingEditor(), limit=1)
    worded = rubric.load_rubric(RUBRIC)
    monkeypatch.setattr(rubric, "_shipped", lambda name: worded.model_copy(update={"version": worded.version + 1}))
    with pytest.raises(ChangedMeaning, match="setting rubrics, semantics-forward: "):
        session(tmp_path / "run", CountingEditor())


def test_a_rubric_is_kept_under_its_name_and_not_under_the_place_of_its_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "own.toml"
    file.write_bytes((rubric.DATA / f"{RUBRIC}.toml").read_bytes())
    monkeypatch.setattr(Judged, "rubrics", (str(file),))
    session(tmp_path / "run", CountingEditor(), limit=1)
    assert read_manifest(tmp_path / "run" / "manifest.json").fixed["rubrics"].keys() == {RUBRIC}


def test_answers_carry_editor_case_and_position(tmp_path: Path) -> None:
    session(tmp_path / "run", CountingEditor(), limit=1)
    own = [("counting", "first/red-ball", "first", number, "judge") for number in range(1, ATTEMPTS + 1)]
    assert answers(tmp_path / "run") == own
    session(tmp_path / "measured", CountingEditor(), limit=1, metric="judge-happened")
    assert answers(tmp_path / "measured") == [own[0], *own], "both pictures are equal, so the metric asks once"


def test_a_role_that_nobody_plays_is_found_before_the_first_call(tmp_path: Path) -> None:
    editor = CountingEditor()
    with pytest.raises(StudyError, match=r"the study 'written' asks a 'scribe', but none is configured.*roles\.scribe"):
        session(tmp_path / "run", editor, study="written")
    assert editor.calls == 0
    assert not (tmp_path / "run").exists()


def test_a_role_without_its_key_is_found_before_the_first_call(
    tmp_path: Path, server: ChatServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("CONVERGEBENCH_JUDGE_KEY", raising=False)
    editor = CountingEditor()
    with pytest.raises(Prerequisite, match="CONVERGEBENCH_JUDGE_KEY"):
        session(tmp_path / "run", editor, judge=served(server, key="CONVERGEBENCH_JUDGE_KEY"))
    assert (editor.calls, len(server.requests)) == (0, 0)


def test_a_role_that_the_study_asks_and_does_not_declare_is_found_before_the_first_call(tmp_path: Path) -> None:
    editor = CountingEditor()
    with pytest.raises(StudyError, match="the study 'undeclared' asks a 'judge', which its class does not declare"):
        session(tmp_path / "run", editor, study="undeclared")
    assert editor.calls == 0


def test_a_study_may_ask_a_role_of_its_own_name_and_a_slip_in_a_name_is_one_line(
    tmp_path: Path, server: ChatServer
) -> None:
    done = session(tmp_path / "run", CountingEditor(), study="written", scribe=served(server))
    assert done.statuses == {"finished": 2}
    assert read_manifest(tmp_path / "run" / "manifest.json").roles.keys() == {"judge", "scribe"}
    with pytest.raises(
        StudyError, match=r"\[roles\.jugde\]: no study or metric asks a 'jugde'; did you mean 'judge'\?"
    ):
        session(tmp_path / "other", CountingEditor(), jugde=served(server))


@pytest.mark.parametrize(
    ("study", "line"),
    [
        ("judged", "on top: at most 4 questions to the judge, $0.32"),
        ("written", "on top: an unknown number of questions to the judge, at an unknown price"),
    ],
)
def test_a_forecast_counts_the_questions_of_the_study_or_says_that_it_cannot(
    tmp_path: Path, study: str, line: str, capsys: pytest.CaptureFixture[str], server: ChatServer
) -> None:
    price = {"input": 10.0, "output": 10.0}
    judge = served(server, max_tokens=2000, dollars_per_million=price, key="CONVERGEBENCH_JUDGE_KEY")
    content = {"study": study, "editors": ["sim-jpeg"], "edits": {"pairs": ["red-ball"]}, "roles": {"judge": judge}}
    planned = plan(parse_spec(content), tmp_path, sources=IMAGES, roles={"scribe": defaults()["judge"]})
    print_forecast(tmp_path, planned.prepared)
    printed = capsys.readouterr().out.splitlines()
    assert line in printed
    assert any(one.startswith("before the judge can answer: ") for one in printed)
