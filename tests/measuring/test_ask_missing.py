"""Metrics that are asked for, over a whole run and over files outside a run, by a model on the wire."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from benchmarks.virtual_time import run_virtually
from convergebench.conductor import run_chains
from convergebench.engine.retry import RetryPolicy
from convergebench.errors import BudgetSpent, Prerequisite, StudyError, Unavailable
from convergebench.measuring.asker import asked_fingerprint
from convergebench.measuring.asking import AskingOutcome, ask_files, asker_of, fill_in
from convergebench.metrics.base import Item, Metric
from convergebench.metrics.judged._asked import AskedMetric
from convergebench.metrics.judged.from_rubric import metric_from_rubric
from convergebench.metrics.judged.judge_happened import judge_happened
from convergebench.metrics.judged.judge_side_effect import judge_side_effect
from convergebench.metrics.judged.judge_undone import judge_undone
from convergebench.metrics.judged.rubric_quality import rubric_quality
from convergebench.metrics.judged.visualquality_r1 import visualquality_r1
from convergebench.progress import Progress
from convergebench.roles import make_role
from convergebench.roles.base import Answered, Role
from convergebench.rubrics.rubric import load_rubric
from convergebench.store.run import Run
from convergebench.types import Limits
from tests.engine.parts import CASES, IMAGES, CountingEditor, ask_missing, begun, case_of, chains_of, picture, query
from tests.roles.server import (
    ChatRequest,
    ChatResponse,
    ChatServer,
    backward_reply,
    error,
    forward_reply,
    message,
    serving,
)

JUDGED = (judge_happened, judge_undone, judge_side_effect)
QUICK = RetryPolicy(first_wait=0.01, longest_wait=0.02)
ROUNDS = 2
ONE = [CASES[0]]
PRICES = {"input": 2.0, "output": 10.0}


def agreeable(received: ChatRequest, number: int) -> ChatResponse:
    """As many pictures as the question has tell which one it is."""
    return message({1: "<answer>3.5</answer>", 2: forward_reply(), 3: backward_reply()}[len(received.pictures)])


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A run of one chain of two rounds."""
    with Run.create(tmp_path / "run") as run:
        begun(run, IMAGES, ONE)
        run_chains(run, {"counting": CountingEditor()}, chains_of(ONE, ROUNDS))
    return tmp_path / "run"


def asked(
    root: Path, server: ChatServer, metrics: tuple[AskedMetric, ...] = JUDGED, *, role: str = "judge", **table: Any
) -> AskingOutcome:
    options = {name: table.pop(name) for name in ("max_cost", "progress") if name in table}
    with Run.create(root) as run:
        return ask_missing(run, metrics, {role: make_role(role, server.table(**table))}, retry=QUICK, **options)


def values(root: Path, columns: str = "metric, value, status") -> list[tuple[Any, ...]]:
    return query(
        root, f"select {columns} from measurements m join comparisons k on k.id = m.comparison order by k.step, metric"
    )


def test_every_comparison_is_asked_once_for_all_metrics_that_read_the_reply(root: Path) -> None:
    with serving(agreeable) as server:
        assert asked(root, server) == AskingOutcome(added=4 * ROUNDS)
        texts = [received.text for received in server.requests]
    assert len(texts) == 2, "the counting editor returns to where it began: round 2 shows the same pictures"
    assert sum("«add one»" in text for text in texts) == 2
    assert sum("«take one away»" in text for text in texts) == 1
    assert values(root)[:4] == [
        ("judge-happened", 0.8, "ok"),
        ("judge-side-effect", 0.2, "ok"),
        ("judge-side-effect", 0.1, "ok"),
        ("judge-undone", 0.9, "ok"),
    ]
    assert {row[0] for row in values(root, "m.align")} == {"none"}
    assert {row[0] for row in values(root, "m.detail")} == {"tiny-vision-2-0915"}


def test_a_second_measuring_asks_nothing(root: Path) -> None:
    with serving(agreeable) as server:
        asked(root, server, (judge_happened,))
        assert asked(root, server, (judge_happened,)) == AskingOutcome()
        assert len(server.requests) == 1
        assert asked(root, server, (judge_happened, judge_side_effect)).added == 2 * ROUNDS
        assert len(server.requests) == 2, "the way there is in the journal, only the way back is asked"
        asked(root, server, revision="other weights")
        assert len(server.requests) == 4, "another judge is asked anew"


def test_repeats_are_averaged_and_their_spread_is_told(root: Path) -> None:
    replies = [forward_reply(4), forward_reply(6), "no idea", forward_reply(None)]

    with serving(lambda received, number: message(replies[received.body["seed"]])) as server:
        asked(root, server, (judge_happened,), repeats=2, seed=0)
        assert len(server.requests) == 2
        assert values(root, "value, detail")[0] == (
            0.5,
            "tiny-vision-2-0915; 2 of 2 replies; standard deviation 0.141",
        )
        asked(root, server, (judge_happened,), repeats=4, seed=0)
        assert len(server.requests) == 4, "two of the four were there already"
    rows = query(root, "select distinct value, detail from measurements order by detail")
    assert rows[1][0] == 0.5
    assert rows[1][1] == ("tiny-vision-2-0915; 2 of 4 replies; standard deviation 0.141; 1 unparsable; 1 cannot-tell")


@pytest.mark.parametrize(
    ("response", "status"),
    [
        (message(forward_reply()[:30]), "unparsable"),
        (message('{"happened": true}'), "unparsable"),
        (message(forward_reply(12)), "unparsable"),
        (message(forward_reply(None)), "cannot-tell"),
        (message(None, refusal="no"), "refused"),
        (message("", finish="content_filter"), "refused"),
    ],
)
def test_no_value_is_a_row_with_its_reason_and_is_not_asked_again(
    root: Path, response: ChatResponse, status: str
) -> None:
    with serving(response) as server:
        assert asked(root, server, (judge_happened,)).added == ROUNDS
        asked(root, server, (judge_happened,))
        assert len(server.requests) == 1
    assert set(values(root, "value, status")) == {(None, status)}
    (kept,) = query(root, "select value is null, raw != '' from answers")
    assert kept == (status != "cannot-tell", 1)


def test_a_busy_server_is_asked_again_and_the_attempts_are_counted(root: Path) -> None:
    progress = Progress()
    busy = [
        error(503, "loading"),
        error(429, "slow down", Retry_After="0.05"),
        ChatResponse(body="<html>"),
        message(forward_reply()),
    ]
    with serving(busy) as server:
        assert asked(root, server, (judge_happened,), progress=progress, at_once=1).added == ROUNDS
    assert progress.retries == 3
    outcomes = query(root, "select outcome from attempts where editor = 'role:judge' order by attempt")
    assert outcomes == [("transient",), ("transient",), ("bad-reply",), ("ok",)]


def test_a_refusal_stays_one_for_a_metric_that_reads_it_later(root: Path) -> None:
    with serving(message(None, refusal="no")) as server:
        asked(root, server, (judge_happened,))
        asked(root, server, (judge_happened, judge_side_effect))
    found = query(root, "select distinct metric, status from measurements order by metric")
    assert found == [("judge-happened", "refused"), ("judge-side-effect", "refused")]


def test_what_gets_no_answer_leaves_no_row_and_is_asked_next_time(root: Path) -> None:
    with serving(error(500, "out of memory")) as server:
        ended = asked(root, server, (judge_happened,))
        assert (ended.added, ended.failed, len(server.requests)) == (0, ROUNDS, 5), "both rounds wait for one question"
    assert values(root) == []
    with serving(agreeable) as server:
        assert asked(root, server, (judge_happened,)) == AskingOutcome(added=ROUNDS)


def test_a_server_that_takes_too_long_is_given_up(root: Path) -> None:
    slow = [ChatResponse(200, {}, seconds=0.6), message(forward_reply())]
    with serving(slow) as server:
        assert asked(root, server, (judge_happened,), seconds=0.2).added == ROUNDS
    row, _ = query(root, "select outcome, error from attempts where editor = 'role:judge' order by attempt")
    assert row == ("transient", "no answer within 0.2 s")


def test_a_missing_or_wrong_key_ends_at_once_in_one_line(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("JUDGE_KEY", raising=False)
    with serving(error(401, "no")) as server:
        with pytest.raises(Prerequisite, match="JUDGE_KEY is not set"):
            asked(root, server, key="JUDGE_KEY")
        monkeypatch.setenv("JUDGE_KEY", "sk-test-0123456789abcdef")
        with pytest.raises(Prerequisite, match="it rejects the key in JUDGE_KEY"):
            asked(root, server, key="JUDGE_KEY")
    assert values(root) == []
    with serving(agreeable) as server:
        assert asked(root, server, key="JUDGE_KEY").added == 4 * ROUNDS
    everything = b"".join(path.read_bytes() for path in root.rglob("*") if path.is_file())
    assert b"0123456789abcdef" not in everything


def test_the_budget_stops_asking_and_what_was_answered_stays(tmp_path: Path) -> None:
    cases = [case_of(image, replicate) for image in IMAGES for replicate in range(2)]
    with Run.create(tmp_path / "run") as run:
        begun(run, IMAGES, cases)
        run_chains(run, {"counting": CountingEditor()}, chains_of(cases, 1))
    table: dict[str, Any] = {"dollars_per_million": PRICES, "max_tokens": 100, "at_once": 1}
    with serving(agreeable) as server:  # one question costs 0.003, and 0.013 is set aside for it
        ended = asked(tmp_path / "run", server, max_cost=0.017, **table)
        assert len(server.requests) == 2
        assert ended.stopped is not None
        assert "would exceed --max-cost $0.02" in ended.stopped
        some = ended.added
        assert 0 < some < 4 * len(cases)
        assert asked(tmp_path / "run", server, **table) == AskingOutcome(added=4 * len(cases) - some)
    with Run.create(tmp_path / "run") as run:
        assert run.journal.dollars() == pytest.approx(0.003 * len(server.requests))


def test_an_interrupted_asking_keeps_every_answer_it_got(tmp_path: Path) -> None:
    cases = [case_of(IMAGES[0], replicate) for replicate in range(6)]

    class Slow(Role):
        fingerprint, about = "slow@1", "slow"
        asked = 0

        async def ask(self, images: tuple[bytes, ...], payload: Any, *, repeat: int = 0) -> Answered:
            Slow.asked += 1
            await asyncio.sleep(10.0 * Slow.asked)
            return Answered(json.loads(forward_reply()), "", "slow")

    class Restless(CountingEditor):
        """No two chains show the same pictures."""

        async def edit(self, request: Any) -> Any:
            edited = await super().edit(request)
            return type(edited)(picture(request.seed % 251), edited.mime, edited.model)

    async def cancelled(run: Run) -> None:
        work = asyncio.ensure_future(fill_in(asker_of(run, {"judge": Slow()}), run, [judge_happened]))
        await asyncio.sleep(35.0)
        work.cancel()
        with pytest.raises(asyncio.CancelledError):
            await work

    with Run.create(tmp_path / "run") as run:
        begun(run, IMAGES, cases)
        run_chains(run, {"counting": Restless()}, chains_of(cases, 1))
        run_virtually(cancelled(run))
        (kept,) = query(tmp_path / "run", "select count(*) from answers")[0]
        assert 0 < kept < Slow.asked
        Slow.asked = 0
        run_virtually(fill_in(asker_of(run, {"judge": Slow()}), run, [judge_happened]))
    assert Slow.asked == len(cases) - kept
    assert query(tmp_path / "run", "select count(*) from measurements") == [(len(cases),)]


def test_a_role_that_goes_away_for_good_is_asked_once_and_named_as_the_reason(root: Path) -> None:
    class Gone(Role):
        fingerprint = "gone@1"
        limits = Limits(at_once=1)
        asked = 0

        async def ask(self, images: tuple[bytes, ...], payload: Mapping[str, Any], *, repeat: int = 0) -> Answered:
            self.asked += 1
            raise Unavailable("the model is gone")

    role = Gone()
    with Run.create(root) as run:
        ended = ask_missing(run, JUDGED, {"judge": role})
    assert ended == AskingOutcome(stopped="judge: the model is gone")
    assert role.asked == 1


def test_a_stop_before_the_first_question_asks_none(root: Path) -> None:
    with serving(agreeable) as server, Run.create(root) as run:
        asker = asker_of(run, {"judge": make_role("judge", server.table())})
        asker.stop(BudgetSpent("Ctrl-C"))
        assert asyncio.run(fill_in(asker, run, JUDGED)) == AskingOutcome(stopped="Ctrl-C")
        assert server.requests == []


def test_a_stop_is_told_and_loses_nothing(root: Path) -> None:
    release = threading.Event()

    def waiting(received: ChatRequest, number: int) -> ChatResponse:
        release.wait(5)
        return agreeable(received, number)

    async def stopped(run: Run, role: Role) -> AskingOutcome:
        asker = asker_of(run, {"judge": role})
        work = asyncio.ensure_future(fill_in(asker, run, JUDGED))
        while not server.requests:
            await asyncio.sleep(0.01)
        asker.stop(BudgetSpent("Ctrl-C"))
        release.set()
        return await work

    with serving(waiting) as server, Run.create(root) as run:
        ended = asyncio.run(stopped(run, make_role("judge", server.table(at_once=1))))
        assert len(server.requests) == 1
    assert ended.stopped == "Ctrl-C"
    assert query(root, "select count(*) from answers") == [(1,)]


def test_scores_below_their_scale_are_kept_as_they_are(root: Path) -> None:
    with serving(message("<think>a ruin</think><answer>0.62</answer>")) as server:
        asked(root, server, (visualquality_r1,), role="rater")
        assert len(server.requests) == 1, "the source and where it returns to are one picture"
    assert set(values(root, "metric, value, status")) == {("visualquality-r1", 0.62, "ok")}


def test_a_metric_whose_role_nobody_plays_says_what_to_write(root: Path) -> None:
    with Run.create(root) as run, pytest.raises(StudyError, match=r"asks a 'rater', .* add \[roles\.rater\]"):
        ask_missing(run, [visualquality_r1], {})


def test_the_measuring_judge_does_not_rate(root: Path) -> None:
    from convergebench.roles.measuring import MeasuringJudge

    with Run.create(root) as run, pytest.raises(StudyError, match="measuring judge does not answer 'visualquality-r1'"):
        ask_missing(run, [visualquality_r1], {"rater": MeasuringJudge()})


def test_ones_own_rubric_takes_the_place_of_a_shipped_one(root: Path, tmp_path: Path) -> None:
    text = Path(load_rubric.__code__.co_filename).parent.joinpath("data", "semantics-forward.toml").read_text()
    own = tmp_path / "mine.toml"
    own.write_text(text.replace("You compare pictures.", "You are stern.").replace("scale = [0, 10]", "scale = [0, 4]"))
    with serving(message(forward_reply(3, 1))) as server:
        asked(root, server, (judge_happened,), rubrics={"semantics-forward": str(own)})
        assert server.requests[0].body["messages"][0]["content"].startswith("You are stern.")
    assert values(root, "value")[0] == (0.75,), "as a share of its own scale"
    own.write_text(own.read_text().replace("carried_out", "done"))
    with (
        serving(message("")) as server,
        pytest.raises(StudyError, match="no number 'carried_out', which judge-happened"),
    ):
        asked(root, server, (judge_happened,), rubrics={"semantics-forward": str(own)})


def test_a_rubric_file_is_a_metric_of_its_own(root: Path, tmp_path: Path) -> None:
    own = tmp_path / "mood.toml"
    own.write_text(
        'name = "mood"\npictures = ["subject"]\ntemplate = "How merry? $reply"\n'
        '[[reply.fields]]\nname = "merry"\nscale = [0, 100]\nabout = "how merry"\n'
        '[metric]\nvalue = "merry"\nbetter = "higher"\n'
    )
    with serving(message('{"merry": 40}')) as server:
        asked(root, server, (metric_from_rubric(load_rubric(str(own)), str(own)),), role="rater")
    assert values(root)[0] == ("mood", 40.0, "ok")


def test_what_a_metric_is_follows_from_who_answers_and_how_often() -> None:
    def fingerprint(**more: Any) -> str:
        with serving(message("")) as server:
            return asked_fingerprint(judge_happened, {"judge": make_role("judge", server.table(**more))})

    same = fingerprint()
    assert fingerprint() == same
    assert len({same, fingerprint(repeats=2), fingerprint(model="other"), fingerprint(temperature=0)}) == 4


@pytest.mark.parametrize("metric", [*JUDGED, visualquality_r1, rubric_quality])
def test_an_asked_metric_is_a_metric_that_pixels_alone_cannot_fill(metric: AskedMetric) -> None:
    assert isinstance(metric, Metric)
    assert metric.facts.asks
    assert metric.facts.roles == tuple(metric.rubrics)
    for kind in metric.rubrics:
        assert set(metric.fields) <= {field.name for field in load_rubric(metric.rubrics[kind]).reply.fields}
    with pytest.raises(StudyError, match="cbench measure asks for it"):
        metric.measure([Item(None)])  # type: ignore[arg-type]


def test_loose_files_are_rated_and_judged(tmp_path: Path, write: Callable[[str, int], Path]) -> None:
    files = [write("a.png", 10), write("b.png", 20)]
    before = write("before.png", 0)
    with serving(agreeable) as server:
        roles = {name: make_role(name, server.table()) for name in ("judge", "rater")}
        rated = ask_files(files, [visualquality_r1], roles, references={})
        assert [readings["visualquality-r1"].value for readings in rated] == [3.5, 3.5]
        judged = ask_files(
            files, [judge_happened, visualquality_r1], roles, references=dict.fromkeys(files, before), instruction="add"
        )
        assert judged[0]["judge-happened"].value == 0.8
        assert len(server.requests) == 2 + 4
        speechless = ask_files(files, [judge_happened], roles, references=dict.fromkeys(files, before))
        assert speechless[0]["judge-happened"][:2] == (None, "no-instruction")
        alone = ask_files(files, [judge_happened], roles, references={}, instruction="add")
        assert alone[0]["judge-happened"][:2] == (None, "no-reference")
        with pytest.raises(StudyError, match="give a run instead of files"):
            ask_files(files, [judge_undone], roles, references={})
    with serving(error(400, "too large")) as server:
        lost = ask_files(files, [visualquality_r1], {"rater": make_role("rater", server.table())}, references={})
        assert lost[0]["visualquality-r1"].status == "no-answer"
        assert "too large" in lost[0]["visualquality-r1"].detail


@pytest.fixture
def write(tmp_path: Path) -> Callable[[str, int], Path]:
    def make(name: str, value: int) -> Path:
        (tmp_path / name).write_bytes(picture(value))
        return tmp_path / name

    return make
