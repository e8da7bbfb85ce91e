"""The replay engine: what is paid for once is never paid for again, and nothing is lost."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from convergebench.engine.retry import RetryPolicy
from convergebench.errors import BadReply, Refused, Transient
from convergebench.store.images import ImageStore
from convergebench.store.journal import Journal
from convergebench.studies.roundtrip import RoundTrip
from convergebench.types import Edited, EditPair, EditRequest, Limits
from tests.engine.parts import CASES, IMAGES, CountingEditor, case_of, picture, query, walk


def test_a_finished_study_has_every_step_and_every_comparison(tmp_path: Path) -> None:
    editor = CountingEditor()
    summary, _, progress = walk(tmp_path / "run", editor, rounds=5)
    assert editor.calls == progress.steps_called == len(CASES) * 10
    assert summary.statuses == {"finished": len(CASES)}
    (steps,) = query(tmp_path / "run", "select count(*) from steps")[0]
    roles = dict(query(tmp_path / "run", "select role, count(*) from comparisons group by role"))
    assert steps == len(CASES) * 10
    per_chain = {"source": 1, "forward": 5, "backward": 5, "step": 10, "return": 5, "lag": 1 + 2 + 3 + 4 + 5}
    assert roles == {role: count * len(CASES) for role, count in per_chain.items()}


def test_rerun_of_a_finished_study_calls_nothing(tmp_path: Path) -> None:
    walk(tmp_path / "run", CountingEditor())
    again = CountingEditor()
    walk(tmp_path / "run", again)
    assert again.calls == 0


def test_more_rounds_call_only_for_the_new_steps(tmp_path: Path) -> None:
    walk(tmp_path / "run", CountingEditor(), rounds=5)
    longer = CountingEditor()
    walk(tmp_path / "run", longer, rounds=8)
    assert longer.calls == len(CASES) * 6


def test_more_replicates_call_only_for_the_new_cases(tmp_path: Path) -> None:
    walk(tmp_path / "run", CountingEditor(), cases=CASES[:1])
    wider = CountingEditor()
    walk(tmp_path / "run", wider, cases=CASES)
    assert wider.calls == (len(CASES) - 1) * 10


def test_an_editor_that_returns_its_input_is_asked_again(tmp_path: Path) -> None:
    """Keyed on pixels, a step that changes nothing would be answered from the journal for ever after."""

    class Unmoved(CountingEditor):
        async def edit(self, request: EditRequest) -> Edited:
            self.requests.append(request)
            return Edited(request.image, "image/png", "unmoved")

    editor = Unmoved()
    walk(tmp_path / "run", editor, rounds=4)
    assert editor.calls == len(CASES) * 8
    assert len({(request.case, request.seed) for request in editor.requests}) == editor.calls


def test_seeds_are_fixed_by_the_step_and_differ_between_steps_and_replicates(tmp_path: Path) -> None:
    first, second = CountingEditor(), CountingEditor()
    walk(tmp_path / "one", first)
    walk(tmp_path / "two", second)
    assert {(r.case, r.index, r.seed) for r in first.requests} == {(r.case, r.index, r.seed) for r in second.requests}
    assert len({request.seed for request in first.requests}) == first.calls


def test_chains_that_begin_alike_share_the_call_in_flight(tmp_path: Path) -> None:
    """Two pairs with the same forward words start with one and the same step."""
    twin = EditPair("twin", "test", "preserving", ("scene",), "add one", "take it off", "change", "change")
    cases = [case_of(IMAGES[0]), case_of(IMAGES[0], pair=twin)]
    editor = CountingEditor(seconds=1.0)
    walk(tmp_path / "run", editor, rounds=1, cases=cases)
    assert editor.calls == 3


def test_calls_in_flight_stay_within_the_editors_limit(tmp_path: Path) -> None:
    editor = CountingEditor(seconds=1.0, limits=Limits(at_once=3))
    walk(tmp_path / "run", editor, cases=[case_of(IMAGES[0], replicate) for replicate in range(12)], rounds=2)
    assert editor.most_in_flight == 3


def test_calls_per_minute_stay_within_the_editors_limit(tmp_path: Path) -> None:
    editor = CountingEditor(limits=Limits(at_once=100, per_minute=60))
    _, seconds, _ = walk(tmp_path / "run", editor, rounds=5)
    assert seconds == pytest.approx(editor.calls - 1, abs=0.01)


def test_independent_chains_run_at_once(tmp_path: Path) -> None:
    editor = CountingEditor(seconds=10.0, limits=Limits(at_once=4))
    _, seconds, _ = walk(tmp_path / "run", editor, rounds=5)
    assert seconds == pytest.approx(100.0)


def test_transient_errors_are_retried_and_every_attempt_is_a_row(tmp_path: Path) -> None:
    def sometimes(request: EditRequest) -> None:
        if request.attempt <= 2 and request.index == 3:
            raise Transient("503 busy")

    editor = CountingEditor(before=sometimes)
    summary, _, progress = walk(tmp_path / "run", editor, rounds=2)
    assert summary.statuses == {"finished": len(CASES)}
    assert progress.retries == 2 * len(CASES)
    outcomes = dict(query(tmp_path / "run", "select outcome, count(*) from attempts group by outcome"))
    assert outcomes == {"ok": len(CASES) * 4, "transient": 2 * len(CASES)}


def test_retry_after_is_honoured(tmp_path: Path) -> None:
    def once(request: EditRequest) -> None:
        if request.attempt == 1 and request.index == 1:
            raise Transient("429", retry_after=120.0)

    _, seconds, _ = walk(tmp_path / "run", CountingEditor(before=once), rounds=1)
    assert 120.0 <= seconds < 125.0


def test_retries_are_bounded_and_the_next_run_tries_again(tmp_path: Path) -> None:
    def never(request: EditRequest) -> None:
        raise Transient("503 busy")

    editor = CountingEditor(before=never)
    summary, _, _ = walk(tmp_path / "run", editor, cases=CASES[:1], retry=RetryPolicy(attempts=3))
    assert editor.calls == 3
    assert summary.statuses == {"failed": 1}
    healed = CountingEditor()
    summary, _, _ = walk(tmp_path / "run", healed, cases=CASES[:1])
    assert summary.statuses == {"finished": 1}
    assert healed.requests[0].attempt == 4


def test_waits_grow_are_jittered_and_bounded() -> None:
    policy = RetryPolicy(first_wait=1.0, longest_wait=60.0, randomness=random.Random(0))
    error = Transient("busy")
    assert all(policy.wait(3, error) <= 4.0 for _ in range(200))
    assert all(policy.wait(30, error) <= 60.0 for _ in range(200))
    assert len({policy.wait(3, error) for _ in range(50)}) == 50


def test_a_refusal_is_an_outcome_and_is_not_asked_again(tmp_path: Path) -> None:
    def refuse(request: EditRequest) -> None:
        if request.case == CASES[0].id and request.index == 4:
            raise Refused("not allowed", reason="SAFETY")

    summary, _, _ = walk(tmp_path / "run", CountingEditor(before=refuse))
    assert summary.statuses == {"finished": len(CASES) - 1, "refused": 1}
    ((status, detail, rounds),) = query(
        tmp_path / "run", f"select status, detail, rounds from chains where \"case\" = '{CASES[0].id}'"
    )
    assert (status, rounds) == ("refused", 1)
    assert "SAFETY" in detail
    again = CountingEditor()
    walk(tmp_path / "run", again)
    assert again.calls == 0


def test_bytes_that_are_no_whole_image_are_a_bad_reply(tmp_path: Path) -> None:
    class Torn(CountingEditor):
        async def edit(self, request: EditRequest) -> Edited:
            edited = await super().edit(request)
            return (
                Edited(edited.image[: len(edited.image) // 2], "image/png", "torn") if request.attempt == 1 else edited
            )

    summary, _, _ = walk(tmp_path / "run", Torn(), rounds=1, cases=CASES[:1])
    assert summary.statuses == {"finished": 1}
    outcomes = dict(query(tmp_path / "run", "select outcome, count(*) from attempts group by outcome"))
    assert outcomes == {"ok": 2, "bad-reply": 2}


def test_a_bug_in_an_editor_ends_its_chain_and_not_the_run(tmp_path: Path) -> None:
    def slip(request: EditRequest) -> None:
        if request.case == CASES[0].id:
            raise KeyError("candidates")

    summary, _, _ = walk(tmp_path / "run", CountingEditor(before=slip))
    assert summary.statuses == {"finished": len(CASES) - 1, "failed": 1}


def test_an_editor_that_always_fails_is_given_up(tmp_path: Path) -> None:
    def never(request: EditRequest) -> None:
        raise BadReply("no image")

    cases = [case_of(IMAGES[0], replicate) for replicate in range(100)]
    editor = CountingEditor(before=never)
    summary, _, _ = walk(tmp_path / "run", editor, cases=cases)
    assert editor.calls < 60
    assert summary.stopped is not None
    assert "25 times in a row" in summary.stopped


def test_the_budget_stops_before_the_call_that_would_exceed_it(tmp_path: Path) -> None:
    editor = CountingEditor(dollars=0.10, seconds=1.0)
    summary, _, progress = walk(tmp_path / "run", editor, max_cost=1.05)
    assert editor.calls == 10
    assert progress.dollars == pytest.approx(1.0)
    assert summary.stopped is not None
    assert "--max-cost" in summary.stopped
    rest = CountingEditor(dollars=0.10)
    summary, _, progress = walk(tmp_path / "run", rest, max_cost=100.0)
    assert rest.calls == len(CASES) * 10 - 10
    assert progress.dollars == pytest.approx(len(CASES) * 10 * 0.10)


def test_reuse_answers_from_another_run_without_calling(tmp_path: Path) -> None:
    walk(tmp_path / "old", CountingEditor(dollars=0.1))
    journal, images = Journal(tmp_path / "old" / "run.sqlite"), ImageStore(tmp_path / "old")
    editor = CountingEditor(dollars=0.1)
    summary, _, progress = walk(tmp_path / "new", editor, rounds=6, reuse=[(journal, images)])
    journal.close()
    assert editor.calls == len(CASES) * 2
    assert progress.dollars == pytest.approx(len(CASES) * 2 * 0.1)
    assert summary.statuses == {"finished": len(CASES)}
    outcomes = dict(query(tmp_path / "new", "select outcome, count(*) from attempts group by outcome"))
    assert outcomes == {"ok": len(CASES) * 2, "reused": len(CASES) * 10}


def test_another_fingerprint_is_another_editor(tmp_path: Path) -> None:
    walk(tmp_path / "run", CountingEditor())
    changed = CountingEditor(fingerprint="counting@2")
    walk(tmp_path / "run", changed)
    assert changed.calls == len(CASES) * 10


def test_the_images_on_disk_are_the_bytes_as_received(tmp_path: Path) -> None:
    walk(tmp_path / "run", CountingEditor(), rounds=1, cases=CASES[:1])
    files = {path.read_bytes() for path in (tmp_path / "run" / "images").rglob("*.png")}
    assert {picture(50), picture(51)} <= files


def test_nested_undo_asks_in_the_order_a_b_b_a() -> None:
    inner = EditPair("inner", "test", "preserving", ("scene",), "b", "undo b", "change", "change")
    outer = EditPair("outer", "test", "preserving", ("scene",), "a", "undo a", "change", "change")
    case = case_of(IMAGES[0])
    case = type(case)(case.id, case.source, case.source_id, case.kind, (outer, inner))
    for order, expected in {
        "nested": ["a", "b", "undo b", "undo a"],
        "crossed": ["a", "b", "undo a", "undo b"],
    }.items():
        words = RoundTrip(rounds=1, order=order).steps(case)  # type: ignore[arg-type]
        asked, answer = [], None
        try:
            while True:
                word = words.send(answer)
                answer = None
                if hasattr(word, "instruction"):
                    asked.append(word.instruction)
                    answer = case.source
        except StopIteration:
            pass
        assert asked == expected
