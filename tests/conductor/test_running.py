"""The conductor: stages in the study's order, everything told through the observer, stops without loss."""

from __future__ import annotations

import ast
import threading
import time
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

import convergebench as cb
from convergebench.api.pictures import source_images
from convergebench.conductor import Observer, audit, examine, measure, plan, report, run
from convergebench.conductor.options import AuditOptions, MeasureOptions, RunOptions
from convergebench.conductor.running import Plan
from convergebench.conductor.stages.base import Stage, StageContext
from convergebench.errors import Interrupted
from convergebench.progress import Progress
from convergebench.stopping import StopSignal, check_stop
from convergebench.store.run import Run
from convergebench.studies.roundtrip import RoundTrip
from convergebench.studies.spec import parse_spec
from tests.api.parts import PICTURES, blur

CONTENT: dict[str, Any] = {
    "study": "roundtrip",
    "editors": [{"name": "blur", "use": "tests:blur"}],
    "roundtrip": {"rounds": 1},
    "edits": {"pairs": ["flip-horizontal"]},
    "measure": {"metrics": ["ssim", "rmse"]},
    "analysis": {"draws": 100, "permutations": 99, "chain_draws": 50},
}
WORKED: list[str] = []


class Watching(Observer):
    """Keeps what it is told, in order."""

    def __init__(self) -> None:
        self.told: list[str] = []
        self.abandoned = 0

    def say(self, line: str) -> None:
        self.told.append(f"say: {line}")

    def note(self, line: str) -> None:
        self.told.append(f"note: {line}")

    def watch(self, stage: str, progress: Progress, *, unit: str, of: str = "chains") -> AbstractContextManager[object]:
        return self._watched(stage)

    @contextmanager
    def _watched(self, stage: str) -> Any:
        self.told.append(f"begin {stage}")
        yield
        self.told.append(f"end {stage}")

    def reported(self, report: Any) -> None:
        self.told.append("reported")

    def audited(self, audit: Any) -> None:
        self.told.append("audited")

    def abandon(self, in_flight: int) -> None:
        self.abandoned += 1
        assert in_flight > 0


class Early(Stage):
    """A stage of a third party that works on the open run."""

    def check(self, prepared: Any) -> list[str]:
        return [f"looks at {len(prepared.chains)} chains"]

    def __call__(self, context: StageContext) -> str | None:
        assert isinstance(context.run, Run)
        WORKED.append("early")
        return None


class Late(Stage):
    """A stage of a third party that writes pages."""

    pages = True

    def __call__(self, context: StageContext) -> str | None:
        assert (context.root / "report" / "index.html").is_file()
        with pytest.raises(cb.StudyError, match="works on the run's folder"):
            assert context.run
        WORKED.append("late")
        return "the late one had enough"


class Listening(Stage):
    """A stage of a third party that follows the chains while they grow."""

    def begin(self, context: StageContext) -> Listening | None:
        return self

    def __enter__(self) -> None:
        WORKED.append("enter")

    def __exit__(self, *error: object) -> None:
        WORKED.append("exit")

    def chain_grew(self, editor: str, case: str) -> None:
        WORKED.append(f"{editor} grew")

    def __call__(self, context: StageContext) -> str | None:
        WORKED.append("called")
        return None


class FailsToBegin(Early):
    """A stage of a third party with a slip in what it does first."""

    def begin(self, context: StageContext) -> None:
        raise KeyError("slip")


def planned(root: Path, editor: Any = blur, **changes: Any) -> Plan:
    editors = {"blur": cb.FunctionEditor(editor, "blur")}
    return plan(parse_spec({**CONTENT, **changes}), root, editors=editors, sources=source_images(PICTURES))


QUICK = RunOptions(report=False, workers=1)


def test_stages_are_walked_in_the_studys_order_and_pages_come_after_the_report(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    here = "tests.conductor.test_running"
    monkeypatch.setattr(RoundTrip, "stages", (f"{here}:Late", "measure", f"{here}:Early"))
    WORKED.clear()
    whole, watching = planned(tmp_path / "run"), Watching()
    assert whole.stage_lines == ("looks at 3 chains",)
    assert not (tmp_path / "run").exists(), "a plan makes nothing"
    outcome = run(whole, RunOptions(workers=1, plots=()), watching)
    assert WORKED == ["early", "late"]
    assert outcome.stopped == "the late one had enough"
    order = [line for line in watching.told if not line.startswith(("say", "note"))]
    stages = [f"{word} {stage}" for stage in ("editing", "measuring", "reporting") for word in ("begin", "end")]
    assert order == [*stages, "reported"]
    WORKED.clear()
    run(planned(tmp_path / "other"), QUICK, watching)
    assert WORKED == ["early"], "without a report no pages"


def test_a_stage_may_follow_the_chains_while_editors_work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(RoundTrip, "stages", (f"{__name__}:Listening",))
    WORKED.clear()
    run(planned(tmp_path / "run"), QUICK)
    assert WORKED[0] == "enter"
    assert WORKED[-2:] == ["called", "exit"]
    assert WORKED.count("blur grew") >= 3


def test_a_stage_that_fails_to_begin_is_an_error_of_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(RoundTrip, "stages", (f"{__name__}:FailsToBegin",))
    with pytest.raises(cb.ConvergeBenchError, match="the stage FailsToBegin") as caught:
        run(planned(tmp_path / "run"), QUICK)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("stage", "said"),
    [
        ("mesure", "unknown stage 'mesure'; did you mean 'measure'"),
        ("tests.conductor.test_running:Watching", "is not a Stage"),
        ("tests.conductor.test_running:Nothing", "has no 'Nothing'"),
    ],
)
def test_a_stage_that_cannot_be_walked_is_refused_before_anything_is_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, stage: str, said: str
) -> None:
    monkeypatch.setattr(RoundTrip, "stages", ("measure", stage))
    with pytest.raises(cb.ConvergeBenchError, match=said):
        planned(tmp_path / "run")
    assert not (tmp_path / "run").exists()


def test_constants_that_only_the_report_would_stumble_over_are_refused_by_the_plan(tmp_path: Path) -> None:
    with pytest.raises(cb.StudyError, match="unknown editor"):
        planned(tmp_path / "run", analysis={"floors": ["sim-jpg"]})
    with pytest.raises(cb.StudyError, match="unknown metric"):
        planned(tmp_path / "run", analysis={"audit": {"damage": "ssimm"}})


def test_nothing_is_printed_and_every_command_is_a_function(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    root = tmp_path / "run"
    outcome = run(planned(root), QUICK)
    assert (dict(outcome.statuses), outcome.stopped, outcome.failed) == ({"finished": 3}, None, "")
    measured = measure(root, ["psnr"], options=MeasureOptions(workers=1))
    assert measured.added > 0
    assert measured.table == root / "tables" / "measurements.parquet"
    assert measured.missing == {}
    assert examine(root, ["texture-loss"], workers=1).labels == 3
    written = report(root, plots=())
    assert written.page.is_file()
    audited = audit([root], AuditOptions(metrics=("piqe",), repeat=0), MeasureOptions(workers=1))
    assert audited.page.is_file()
    said = capfd.readouterr()
    assert (said.out, said.err) == ("", "")


def test_an_interrupted_run_is_not_measured_and_keeps_what_was_answered(tmp_path: Path) -> None:
    stop, begun, calls = StopSignal(), threading.Event(), []

    def slow(image: Image.Image, instruction: str) -> Image.Image:
        begun.set()
        time.sleep(0.3)
        calls.append(instruction)
        return image

    watching, ended = Watching(), []

    def work() -> None:
        with stop.current():
            ended.append(run(planned(tmp_path / "run", slow), QUICK, watching))

    thread = threading.Thread(target=work)
    thread.start()
    assert begun.wait(20)
    stop.request()
    time.sleep(0.05)
    stop.request()
    thread.join(20)
    (outcome,) = ended
    assert outcome.interrupted
    assert outcome.stopped == "Ctrl-C"
    assert watching.abandoned == 1, "the second request is the observer's business"
    assert len(calls) == 1
    assert "begin measuring" not in watching.told
    again = run(planned(tmp_path / "run", slow), QUICK)
    assert dict(again.statuses) == {"finished": 3}
    assert len(calls) == 6, "three chains of two edits, none of them twice"


def test_a_request_that_came_before_is_obeyed_and_measuring_listens_between_chains() -> None:
    stop = StopSignal()
    with stop.current():
        check_stop()
        stop.request()
        heard: list[int] = []
        with stop.listening(lambda: heard.append(1)):
            assert heard == [1]
            stop.request()
            assert heard == [1, 1]
        stop.request()
        assert heard == [1, 1]
        with pytest.raises(Interrupted):
            check_stop()
    check_stop()


def test_failures_are_noted_with_their_reason_and_an_end_in_vain_is_told(tmp_path: Path) -> None:
    def broken(image: Image.Image, instruction: str) -> Image.Image:
        raise ValueError("out of paint")

    watching = Watching()
    outcome = run(planned(tmp_path / "run", broken), QUICK, watching)
    assert outcome.failed == "no chain was finished: 3 of 3 failed"
    (line,) = [one for one in watching.told if "chains failed" in one]
    assert "ValueError: out of paint" in line


@pytest.mark.parametrize("room", ["conductor", "api"])
def test_the_rooms_below_the_command_line_neither_print_nor_know_it(room: str) -> None:
    for path in (Path(cb.__file__).parent / room).rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom | ast.Import):
                named = [node.module or ""] if isinstance(node, ast.ImportFrom) else [one.name for one in node.names]
                assert not [one for one in named if one.startswith(("typer", "rich", "convergebench.cli"))], path
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
                assert node.func.id not in ("print", "exit"), path
