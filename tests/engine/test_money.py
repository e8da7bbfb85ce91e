"""Every billed call is counted: whatever fails, and whenever the process is killed."""

from __future__ import annotations

import random
import shutil
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.virtual_time import run_virtually
from convergebench.conductor import run_chains
from convergebench.editors.composite.best_of import best_of
from convergebench.editors.composite.then import then
from convergebench.engine.attempt import Attempt, Price
from convergebench.engine.run import Engine
from convergebench.errors import Prerequisite, Refused, Transient
from convergebench.progress import Progress
from convergebench.store.images import ImageStore
from convergebench.store.records import Records, Unsettled
from convergebench.store.run import Run
from convergebench.types import Capabilities, EditRequest, Limits
from tests.engine.parts import CASES, IMAGES, CountingEditor, begun, chains_of, query, walk
from tests.engine.storm import FAULTS, PRICE, Provider, killed_at, weather


def journalled(root: Path) -> tuple[float, Unsettled]:
    records = Records(root / "run.sqlite")
    found = records.dollars(), records.unsettled()
    records.close()
    return found


# --- what one failed call counts at ----------------------------------------------------------------------


def failing(root: Path, error: BaseException, price: float | None = 0.5) -> list[tuple[Any, ...]]:
    def fail(request: EditRequest) -> None:
        raise error

    editor = CountingEditor(before=fail)
    editor.capabilities = Capabilities(dollars_per_call=price)
    walk(root, editor, rounds=1, cases=CASES[:1])
    return query(root, "select distinct outcome, dollars, settled from attempts")


def test_an_answer_that_never_came_whole_counts_at_its_price_and_is_marked(tmp_path: Path) -> None:
    assert failing(tmp_path / "run", Transient("cut off", unsettled=True)) == [("transient", 0.5, 0)]


def test_an_error_that_the_server_told_counts_as_it_says(tmp_path: Path) -> None:
    assert failing(tmp_path / "run", Transient("503")) == [("transient", 0.0, 1)]
    assert failing(tmp_path / "charged", Transient("504", dollars=0.1)) == [("transient", 0.1, 1)]


@pytest.mark.parametrize("dollars", [float("nan"), -1.0, "free", float("inf"), None])
def test_a_price_that_is_none_counts_as_the_price_known_before(tmp_path: Path, dollars: Any) -> None:
    assert failing(tmp_path / "run", Transient("odd", dollars=dollars)) == [("transient", 0.5, 0)]


def test_a_slip_of_foreign_code_may_have_been_billed(tmp_path: Path) -> None:
    assert failing(tmp_path / "run", ValueError("slip")) == [("error", 0.5, 0)]


def test_what_costs_nothing_is_settled_and_an_unknown_price_is_counted_as_a_call(tmp_path: Path) -> None:
    assert failing(tmp_path / "free", Transient("cut off", unsettled=True), price=0.0) == [("transient", 0.0, 1)]
    assert failing(tmp_path / "unknown", Transient("cut off", unsettled=True), price=None) == [("transient", 0.0, 0)]


# --- the row of a call is on the disk before the call is made --------------------------------------------


def test_a_call_is_journalled_at_its_price_before_it_is_made(tmp_path: Path) -> None:
    seen: list[list[tuple[Any, ...]]] = []

    def look(request: EditRequest) -> None:
        seen.append(query(tmp_path / "run", "select outcome, dollars, settled from attempts where outcome = 'unknown'"))

    walk(tmp_path / "run", CountingEditor(before=look, dollars=0.5), rounds=1, cases=CASES[:1])
    assert seen == [[("unknown", 0.5, 0)]] * 2
    assert query(tmp_path / "run", "select outcome, dollars, settled from attempts") == [("ok", 0.5, 1)] * 2


def test_the_display_counts_the_calls_in_flight(tmp_path: Path) -> None:
    seen: list[int] = []
    progress = Progress()
    editor = CountingEditor(limits=Limits(at_once=1), before=lambda request: seen.append(progress.in_flight))
    with Run.create(tmp_path / "run") as run:
        begun(run, IMAGES, CASES)
        engine = Engine(run, {editor.name: editor}, progress=progress)
        run_virtually(engine.run(chains_of(CASES, 1)))
    assert set(seen) == {1}
    assert progress.in_flight == 0


def test_free_calls_cost_no_second_write(tmp_path: Path) -> None:
    seen: list[int] = []
    editor = CountingEditor(before=lambda request: seen.append(len(query(tmp_path / "run", "select * from attempts"))))
    walk(tmp_path / "run", editor, rounds=1, cases=CASES[:1])
    assert seen == [0, 1]


# --- parts of made editors -------------------------------------------------------------------------------


def test_every_answer_of_a_part_is_a_row_with_its_price_and_the_step_adds_them_up(tmp_path: Path) -> None:
    provider = Provider()
    weather(tmp_path / "run", provider)
    rows = query(
        tmp_path / "run",
        """select step, sum(dollars), sum(part = 'inner'), sum(part = '') from attempts
           where editor = 'three' group by step""",
    )
    assert rows
    assert {row[1:] for row in rows} == {(3 * PRICE, 3, 1)}
    assert query(tmp_path / "run", "select count(*), min(model), min(raw), min(fingerprint) from parts") == [
        (3 * len(rows), "stormy", '{"id": "?"}', "inner@1")
    ]
    assert query(tmp_path / "run", "select distinct reasoning from parts") == [("?",)]
    assert journalled(tmp_path / "run") == (provider.billed, (0, 0.0))


def test_answers_of_parts_keep_their_ids_so_that_older_runs_pay_for_nothing_twice(tmp_path: Path) -> None:
    weather(tmp_path / "run", Provider())
    ids = [identity for (identity,) in query(tmp_path / "run", "select id from parts order by id")]
    assert ids[:2] == ["p1:169f1932b1de0d0e1d3a44339611a7c5", "p1:16e47afa6a3c1af1aaa6ae536245a4a7"]


def test_a_part_that_is_free_is_called_without_a_row_of_its_own(tmp_path: Path) -> None:
    inner = CountingEditor("inner")
    summary, _, _ = walk(tmp_path / "run", best_of("two", of=inner, n=2, metric="rmse"), rounds=1, cases=CASES[:1])  # type: ignore[arg-type]
    assert summary.statuses == {"finished": 1}
    assert inner.calls == 4
    assert query(tmp_path / "run", "select count(*) from parts") == [(0,)]
    assert query(tmp_path / "run", "select editor, part, outcome from attempts") == [("two", "", "ok")] * 2


def test_a_refusal_of_the_second_part_is_charged_once_beside_what_the_first_part_cost(tmp_path: Path) -> None:
    def refuse(request: EditRequest) -> None:
        raise Refused("not this one", dollars=0.25)

    first = CountingEditor("first", dollars=0.5)
    second = CountingEditor("second", dollars=0.5, before=refuse, fingerprint="second@1")
    walk(tmp_path / "run", then("both", first=first, second=second), rounds=1, cases=CASES[:1])  # type: ignore[arg-type]
    rows = query(tmp_path / "run", "select part, outcome, dollars from attempts order by part")
    assert rows == [("", "refused", 0.0), ("first", "ok", 0.5), ("second", "refused", 0.25)]


def test_the_time_of_parts_is_theirs_and_not_counted_again_for_the_whole(tmp_path: Path) -> None:
    parts = [CountingEditor(name, dollars=0.5, seconds=0.2, fingerprint=f"{name}@1") for name in ("one", "two")]
    composed = then("both", first=parts[0], second=parts[1])
    walk(tmp_path / "run", composed, rounds=1, cases=CASES[:1], virtual=False)  # type: ignore[arg-type]
    seconds = dict(query(tmp_path / "run", "select part, min(seconds) from attempts group by part"))
    assert min(seconds["one"], seconds["two"]) >= 0.2
    assert seconds[""] < 0.2


@pytest.mark.parametrize("limit", [3, 5, 7, 9])
def test_calls_of_parts_count_towards_the_limit(tmp_path: Path, limit: int) -> None:
    provider = Provider()
    weather(tmp_path / "run", provider, max_cost=limit)
    assert 0 < provider.billed <= limit
    assert journalled(tmp_path / "run")[0] == provider.billed


def test_after_a_kill_a_made_editor_asks_only_for_what_is_missing(tmp_path: Path) -> None:
    """Killed at every single call: what was answered and journalled is never paid for again."""
    whole = Provider()
    whole.at_call = lambda number: shutil.copytree(tmp_path / "calm", tmp_path / f"copy-{number}")
    weather(tmp_path / "calm", whole)
    for billed in range(1, len(whole.bills) + 1):
        copy, provider = tmp_path / f"copy-{billed}", Provider()
        answered = query(copy, "select count(*) from attempts where outcome = 'ok' and dollars > 0")[0][0]
        weather(copy, provider)
        assert len(provider.bills) == len(whole.bills) - answered
        assert billed - answered <= 8, "no more is paid twice than was in flight"
        unsettled = journalled(copy)[1]
        assert billed - answered <= unsettled.calls <= 8, "and just the calls in flight are of unknown outcome"
        assert unsettled.dollars == unsettled.calls * PRICE
        assert query(copy, "select id, image from steps order by id") == query(
            tmp_path / "calm", "select id, image from steps order by id"
        )


# --- answers of another run ------------------------------------------------------------------------------


def test_a_step_that_is_reused_keeps_what_its_killed_call_cost(tmp_path: Path) -> None:
    """Its row has the number that the first row of a reused step would have."""
    walk(tmp_path / "other", CountingEditor(dollars=0.5), rounds=1)
    steps = [step for (step,) in query(tmp_path / "other", "select id from steps")]
    with Run.create(tmp_path / "run") as run:
        run.journal.commit_now([Attempt(step, 1, "counting", Price(0.5)).intent() for step in steps])
    other = Records(tmp_path / "other" / "run.sqlite")
    editor = CountingEditor(dollars=0.5)
    walk(tmp_path / "run", editor, rounds=1, reuse=[(other, ImageStore(tmp_path / "other"))])
    other.close()
    assert editor.calls == 0
    assert journalled(tmp_path / "run") == (0.5 * len(steps), (len(steps), 0.5 * len(steps)))
    assert query(tmp_path / "run", "select count(*) from attempts where outcome = 'reused'") == [(len(steps),)]


# --- the invariant ---------------------------------------------------------------------------------------


@settings(max_examples=40, deadline=None)
@given(
    faults=st.lists(st.sampled_from(FAULTS), max_size=40),
    kills=st.lists(st.integers(1, 30), max_size=3),
    limit=st.one_of(st.none(), st.integers(1, 30)),
)
def test_in_any_storm_what_is_journalled_covers_what_was_billed_and_the_limit_holds(
    tmp_path_factory: pytest.TempPathFactory, faults: list[str], kills: list[int], limit: int | None
) -> None:
    folder = tmp_path_factory.mktemp("storm")
    root, provider = folder / "run", Provider(faults)
    for number, call in enumerate(kills):
        copy, before = folder / f"copy-{number}", list(provider.bills)
        left = list(provider.faults)
        billed = killed_at(root, copy, provider, len(before) + call, max_cost=limit)
        if billed:  # the world goes on from the moment of the kill
            del provider.bills[billed:]
            provider.faults = left[len(left) - len(provider.faults) :] if provider.faults else []
            root = copy
        spent, _ = journalled(root)
        assert spent >= provider.billed - 1e-9
    weather(root, provider, max_cost=limit)
    spent, unsettled = journalled(root)
    assert spent >= provider.billed - 1e-9
    assert unsettled.dollars <= spent
    if limit is not None:
        assert provider.billed <= limit + 1e-9


def test_the_storm_really_storms(tmp_path: Path) -> None:
    """The invariant would hold on a calm day too: here every fault is met, and calls of unknown outcome are left."""
    faults = list(FAULTS) * 3
    random.Random(5).shuffle(faults)
    provider = Provider(faults)
    for _ in range(4):
        weather(tmp_path / "run", provider)
    outcomes = {row[0] for row in query(tmp_path / "run", "select distinct outcome from attempts")}
    assert {"ok", "transient", "bad-reply", "refused", "error"} <= outcomes
    spent, unsettled = journalled(tmp_path / "run")
    assert unsettled.calls > 0
    assert spent >= provider.billed


def test_a_call_that_could_not_be_sent_costs_nothing(tmp_path: Path) -> None:
    def without_key(request: EditRequest) -> None:
        raise Prerequisite("set the key first")

    progress = Progress()
    editor = CountingEditor(before=without_key, dollars=2.0)
    with Run.create(tmp_path / "run") as run:
        begun(run, IMAGES, CASES[:1])
        with pytest.raises(Prerequisite, match="set the key first"):
            run_chains(run, {"counting": editor}, chains_of(CASES[:1], 1), progress=progress)
    assert progress.dollars == 0.0
    assert query(tmp_path / "run", "select outcome, dollars, settled from attempts") == [("error", 0.0, 1)]
