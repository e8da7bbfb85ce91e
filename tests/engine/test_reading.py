"""What editors say of their own work, read by a model on the wire or by a word list; and a judge that counts."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from convergebench.analysis.noticing import noticing, noticing_summary
from convergebench.conductor import run_chains
from convergebench.engine.retry import RetryPolicy
from convergebench.errors import StudyError
from convergebench.measuring.asker import asked_fingerprint
from convergebench.measuring.asking import AskingOutcome, ask_files
from convergebench.metrics.judged.judge_count import judge_count
from convergebench.metrics.judged.self_evaluation import self_evaluation
from convergebench.progress import Progress
from convergebench.roles import make_role, make_roles
from convergebench.store.frames import RunFrames
from convergebench.store.manifest import Manifest, write_manifest
from convergebench.store.run import Run
from convergebench.types import Case, Edited, EditPair, EditRequest
from tests.engine.parts import CASES, IMAGES, CountingEditor, ask_missing, begun, case_of, chains_of, picture, query
from tests.roles.server import ChatRequest, ChatResponse, ChatServer, error, message, serving

QUICK = RetryPolicy(first_wait=0.01, longest_wait=0.02)
TEMPLATE = (
    "Below is a reasoning summary from an image editing model. Please identify if the reasoning summary mentions that "
    "the original image is noisy, pixelated, or contains visible artifacts. Output “yes” or “no” only.\n"
)
FRUIT = EditPair("apple", "test", "preserving", ("scene",), "add one", "take one away", "add", "remove")


class Talkative(CountingEditor):
    """Says at each step what the test wants it to."""

    def __init__(self, says: Callable[[EditRequest], str | None]) -> None:
        super().__init__()
        self._says = says

    async def edit(self, request: EditRequest) -> Edited:
        return replace(await super().edit(request), reasoning=self._says(request))


def run_of(root: Path, says: Callable[[EditRequest], str | None], rounds: int = 2, *, cases: list[Case]) -> Path:
    """A run of two steps a round, each with a summary."""
    with Run.create(root) as run:
        begun(run, IMAGES, cases)
        run_chains(run, {"counting": Talkative(says)}, chains_of(cases, rounds))
    return root


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """One chain of four steps with four different summaries."""
    return run_of(tmp_path / "run", lambda request: f"Step {request.index}.\n\nAll is well. \n", cases=CASES[:1])


def read(root: Path, server: ChatServer, **table: Any) -> AskingOutcome:
    options = {name: table.pop(name) for name in ("max_cost", "progress") if name in table}
    with Run.create(root) as run:
        roles = {"reader": make_role("reader", server.table(**table))}
        return ask_missing(run, [self_evaluation], roles, retry=QUICK, **options)


def values(root: Path, columns: str = "value, status") -> list[tuple[Any, ...]]:
    return query(
        root, f"select {columns} from measurements m join comparisons k on k.id = m.comparison order by k.step"
    )


def saying(*replies: str) -> Callable[[ChatRequest, int], ChatResponse]:
    """The reply to step n of the summary is the n-th."""
    return lambda received, number: message(replies[int(received.text.split("Step ")[1][0]) - 1])


def test_a_summary_goes_over_the_wire_in_the_papers_words_and_alone(root: Path) -> None:
    with serving(message("no")) as server:
        assert read(root, server, temperature=0) == AskingOutcome(added=4)
        bodies = sorted((received.body for received in server.requests), key=lambda body: str(body["messages"]))
    assert bodies == [
        {
            "model": "tiny-vision-2",
            "messages": [{"role": "user", "content": f"{TEMPLATE}Step {step}.\n\nAll is well. \n"}],
            "temperature": 0.0,
            "max_tokens": 2048,
        }
        for step in (1, 2, 3, 4)
    ]


def test_yes_is_one_and_no_is_nought_at_each_step_alone(root: Path) -> None:
    with serving(saying("no", "Yes.", "“no”", "YES")) as server:
        read(root, server, at_once=1)
    assert values(root, "k.role, k.step, value, status, detail, align") == [
        ("step", step, value, "ok", "tiny-vision-2-0915", "none") for step, value in enumerate([0.0, 1.0, 0.0, 1.0], 1)
    ]


ODD = ("yes, it does", '{"answer": "yes"}', "**No**", "I cannot tell from this summary.")


def test_any_other_reply_is_no_value_counted_and_kept_as_it_came(root: Path) -> None:
    with serving(saying(*ODD)) as server:
        assert read(root, server).added == 4
        assert read(root, server) == AskingOutcome(), "what could not be read is not asked again"
        assert len(server.requests) == 4
    assert values(root) == [(None, "unparsable")] * 4
    assert values(root, "detail")[0] == ("tiny-vision-2-0915; 1 unparsable",)
    kept = query(root, "select value, raw from answers")
    assert sorted(kept, key=str) == sorted([(None, stated) for stated in ODD], key=str)


def test_an_empty_reply_is_asked_for_again_and_a_reply_cut_short_is_not_read(root: Path) -> None:
    progress = Progress()
    with serving([message(""), message("no")]) as server:
        assert read(root, server, at_once=1, progress=progress).added == 4
        assert (progress.retries, len(server.requests)) == (1, 5)
    assert values(root) == [(0.0, "ok")] * 4
    with serving(message("yes", finish="length")) as server:
        read(root, server, revision="terse")
    assert query(root, "select distinct status from measurements where status != 'ok'") == [("unparsable",)]


def test_repeats_are_a_share_of_yes(root: Path) -> None:
    replies = ["yes", "no", "yes", "perhaps"]
    with serving(lambda received, number: message(replies[received.body["seed"]])) as server:
        read(root, server, repeats=4, seed=0)
    value, detail = values(root, "value, detail")[0]
    assert value == pytest.approx(2 / 3)
    assert detail == "tiny-vision-2-0915; 3 of 4 replies; standard deviation 0.577; 1 unparsable"


def test_a_step_without_a_summary_is_not_asked_about(tmp_path: Path) -> None:
    stated = {1: None, 2: "", 3: "  \n ", 4: "A noisy street."}
    root = run_of(tmp_path / "run", lambda request: stated[request.index], cases=CASES[:1])
    with serving(message("yes")) as server:
        assert read(root, server).added == 4
        assert [received.text for received in server.requests] == [TEMPLATE + "A noisy street."]
    assert values(root) == [(None, "no-reasoning")] * 3 + [(1.0, "ok")]
    assert values(root, "detail")[0] == ("the editor gave no summary of its reasoning",)


def test_the_same_summary_is_read_once_wherever_it_stands(tmp_path: Path) -> None:
    root = run_of(tmp_path / "run", lambda request: "Done.", cases=CASES)
    steps = 4 * len(CASES)
    with serving(message("no")) as server:
        assert read(root, server).added == steps
        assert len(server.requests) == 1, "over all chains, images and operations"
        assert read(root, server, model="other").added == steps
        assert len(server.requests) == 2, "another reader is asked anew"
    assert query(root, "select count(*) from answers") == [(2,)]


def test_the_budget_stops_the_reader_and_the_next_time_goes_on(root: Path) -> None:
    table: dict[str, Any] = {"dollars_per_million": {"input": 2.0, "output": 10.0}, "max_tokens": 100, "at_once": 1}
    with serving(message("no")) as server:  # a question costs 0.003, and 0.013 is set aside for it
        ended = read(root, server, max_cost=0.017, **table)
        assert ended.stopped is not None
        assert (ended.added, len(server.requests)) == (2, 2)
        assert read(root, server, **table) == AskingOutcome(added=2)
        assert len(server.requests) == 4
    with Run.create(root) as run:
        assert run.journal.dollars() == pytest.approx(4 * 0.003)


def test_a_reader_who_is_away_leaves_no_row(root: Path) -> None:
    with serving(error(500, "out of memory")) as server:
        assert read(root, server).failed == 4
    assert values(root) == []


def test_without_a_model_the_word_list_reads_and_is_told_apart_from_one(tmp_path: Path) -> None:
    stated = {
        1: "A clean copy, no visible noise.",
        2: "The source is grainy.",
        3: "Noise-free.",
        4: "I will denoise it.",
    }
    root = run_of(tmp_path / "run", lambda request: stated[request.index], cases=CASES[:1])
    with Run.create(root) as run:
        assert ask_missing(run, [self_evaluation], make_roles({})) == AskingOutcome(added=4)
    assert values(root) == [(0.0, "ok"), (1.0, "ok"), (0.0, "ok"), (1.0, "ok")]
    assert {row[0] for row in values(root, "detail")} == {"word list, not a language model"}
    with serving(message("no")) as server:
        read(root, server)
    kinds = query(root, "select count(distinct fingerprint), count(*) from measurements")
    assert kinds == [(2, 8)], "the values of a word list never pass for those of a model"
    served = {"reader": make_role("reader", server.table())}
    assert asked_fingerprint(self_evaluation, served) != asked_fingerprint(self_evaluation, make_roles({}))


def test_from_summaries_to_the_step_at_which_a_run_noticed(tmp_path: Path) -> None:
    """Runs notice at steps 3 and 5, one never does; damage begins at step 2."""
    cases = [case_of(IMAGES[0], replicate) for replicate in range(3)]
    notices = {0: 3, 1: 5, 2: 99}

    def says(request: EditRequest) -> str:
        damaged = request.index >= notices[int(request.case[-1])]
        return f"Run {request.case}, step {request.index}: the picture is {'grainy' if damaged else 'clean'}."

    root = run_of(tmp_path / "run", says, rounds=3, cases=cases)
    with Run.create(root) as run:
        ask_missing(run, [self_evaluation], make_roles({}))
    write_manifest(root / "manifest.json", Manifest("run", "roundtrip", "", spec={}, fixed={}))
    frames = RunFrames(root)
    found = noticing(frames.measurements("strict"), frames.chains())
    frames.close()
    assert found.sort("replicate")["first_yes"].to_list() == [3, 5, None]
    onsets = found.select("editor", "case", pl.lit(2).alias("onset"))
    row = noticing_summary(found, onsets).filter(pl.col("source") == "first").row(0, named=True)
    assert (row["n_runs"], row["n_never"], row["mean"], row["median"], row["delay_median"]) == (3, 1, 4.0, 5, 3)


def test_a_reader_reads_runs_and_no_loose_files(tmp_path: Path) -> None:
    (tmp_path / "a.png").write_bytes(picture(1))
    with pytest.raises(StudyError, match="self-evaluation needs a round of a chain; give a run"):
        ask_files([tmp_path / "a.png"], [self_evaluation], make_roles({}), references={})


# --- counting ----------------------------------------------------------------------------------------------


def counted(root: Path, server: ChatServer) -> AskingOutcome:
    with Run.create(root) as run:
        return ask_missing(run, [judge_count], {"judge": make_role("judge", server.table())}, retry=QUICK)


def count_reply(count: float | None) -> str:
    return json.dumps({"kind": "apple", "seen": "in a row", "count": count})


def test_a_judge_counts_after_the_steps_that_were_to_add_and_no_others(tmp_path: Path) -> None:
    case = case_of(IMAGES[0], 0, FRUIT)
    root = run_of(tmp_path / "run", lambda request: None, cases=[case])
    with serving(message(count_reply(7))) as server:
        assert counted(root, server).added == 2, "two of four steps take one away"
        assert len(server.requests) == 1, "the same picture after the same words"
        (received,) = server.requests
        assert "«add one»" in received.text
        assert len(received.pictures) == 1
    assert values(root, "k.role, k.operation, k.step, value, status") == [
        ("step", "add", 1, 7.0, "ok"),
        ("step", "add", 3, 7.0, "ok"),
    ]


@pytest.mark.parametrize(
    ("reply", "status"),
    [
        (count_reply(None), "cannot-tell"),
        (count_reply(7.5), "cannot-tell"),
        (count_reply(-1), "unparsable"),
        ("7", "unparsable"),
        ("There are 7 apples.", "unparsable"),
    ],
)
def test_what_is_no_number_of_things_is_no_value(tmp_path: Path, reply: str, status: str) -> None:
    root = run_of(tmp_path / "run", lambda request: None, rounds=1, cases=[case_of(IMAGES[0], 0, FRUIT)])
    with serving(message(reply)) as server:
        counted(root, server)
    assert values(root) == [(None, status)]


def test_nobody_counts_without_a_model_and_that_is_found_out_before_anything_is_asked(root: Path) -> None:
    with pytest.raises(StudyError, match="measuring judge does not answer 'count-objects'"):
        asked_fingerprint(judge_count, make_roles({}))
    with Run.create(root) as run, pytest.raises(StudyError, match="measuring judge does not answer 'count-objects'"):
        ask_missing(run, [judge_count], make_roles({}))


@pytest.mark.parametrize("metric", [self_evaluation, judge_count])
def test_neither_is_a_measure_of_quality(metric: Any) -> None:
    assert (metric.facts.kind, metric.facts.better, metric.facts.dimension) == ("diagnostic", "neither", "none")
    assert metric.facts.roles == ("step",)
