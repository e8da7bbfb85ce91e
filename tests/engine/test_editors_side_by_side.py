"""Several editors in one run: what ends one of them, and what they share."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from benchmarks.virtual_time import run_virtually
from convergebench.conductor.prepare import require_supported
from convergebench.engine.run import Engine, RunSummary
from convergebench.errors import EditorError, StudyError, Transient, Unavailable
from convergebench.ids import seed_from
from convergebench.progress import Progress
from convergebench.store.run import Run
from convergebench.studies.roundtrip import RoundTrip
from convergebench.types import Capabilities, Edited, EditRequest, Limits, Settings
from tests.engine.parts import CASES, IMAGES, CountingEditor, begun, chains_of, query, walk


def together(root: Path, editors: list[CountingEditor], rounds: int = 3, **options: Any) -> tuple[RunSummary, float]:
    with Run.create(root) as run:
        begun(run, IMAGES, CASES)
        engine = Engine(run, {editor.name: editor for editor in editors}, progress=Progress(), **options)
        chains = [chain for editor in editors for chain in chains_of(CASES, rounds, editor.name)]
        return run_virtually(engine.run(chains))


def statuses(root: Path) -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    for editor, status in query(root, "select editor, status from chains"):
        found.setdefault(editor, set()).add(status)
    return found


def test_an_editor_whose_credit_is_spent_ends_alone(tmp_path: Path) -> None:
    calls = 0

    def spent(request: EditRequest) -> None:
        nonlocal calls
        calls += 1
        if calls > 5:
            raise Unavailable("the account has nothing left", dollars=0.0)

    poor = CountingEditor("poor", before=spent, fingerprint="poor@1")
    rich = CountingEditor("rich", fingerprint="rich@1")
    summary, _ = together(tmp_path / "run", [poor, rich])
    assert summary.stopped == "poor: the account has nothing left"
    assert statuses(tmp_path / "run")["rich"] == {"finished"}
    assert statuses(tmp_path / "run")["poor"] <= {"stopped", "open"}
    assert rich.calls == len(CASES) * 6
    assert poor.calls <= 5 + poor.limits.at_once
    outcomes = dict(query(tmp_path / "run", "select outcome, count(*) from attempts where editor = 'poor' group by 1"))
    assert outcomes["ok"] == 5


def test_the_next_run_goes_on_where_the_credit_ended(tmp_path: Path) -> None:
    def spent(request: EditRequest) -> None:
        if request.index > 2:
            raise Unavailable("no credit")

    walk(tmp_path / "run", CountingEditor(before=spent), rounds=3)
    again = CountingEditor()
    summary, _, _ = walk(tmp_path / "run", again, rounds=3)
    assert summary.statuses == {"finished": len(CASES)}
    assert again.calls == len(CASES) * 4


def test_a_wrong_request_ends_its_chain_without_another_try(tmp_path: Path) -> None:
    def wrong(request: EditRequest) -> None:
        if request.case == CASES[0].id:
            raise EditorError("400: the image is odd")

    editor = CountingEditor(before=wrong)
    summary, _, _ = walk(tmp_path / "run", editor, rounds=2)
    assert summary.statuses == {"finished": len(CASES) - 1, "failed": 1}
    assert sum(request.case == CASES[0].id for request in editor.requests) == 1
    assert query(tmp_path / "run", "select error from attempts where outcome = 'error'") == [("400: the image is odd",)]


@pytest.mark.parametrize(("accounts", "waits"), [(("key", "key"), True), (("key", "other"), False), (("", ""), False)])
def test_a_pause_holds_for_all_editors_of_an_account(tmp_path: Path, accounts: tuple[str, str], waits: bool) -> None:
    def busy_once(request: EditRequest) -> None:
        if request.attempt == 1 and request.index == 1 and request.case == CASES[0].id:
            raise Transient("429", retry_after=500.0)

    times: list[float] = []
    one = CountingEditor("one", limits=Limits(1, account=accounts[0]), before=busy_once, fingerprint="one@1")
    two = CountingEditor(
        "two",
        limits=Limits(1, account=accounts[1]),
        seconds=1.0,
        before=lambda request: times.append(asyncio.get_running_loop().time()),
        fingerprint="two@1",
    )
    together(tmp_path / "run", [one, two], rounds=1)
    assert len(times) == len(CASES) * 2
    assert (max(times) > 500) == waits, "calls that were under way come home; no further one begins before its time"


def test_a_pause_longer_than_a_run_can_wait_stops_all_editors_of_the_account(tmp_path: Path) -> None:
    def spent(request: EditRequest) -> None:
        raise Transient("429", retry_after=90_000.0)

    limits = Limits(1, account="key")
    one = CountingEditor("one", limits=limits, before=spent, fingerprint="one@1")
    two = CountingEditor("two", limits=limits, seconds=1.0, fingerprint="two@1")
    free = CountingEditor("free", limits=Limits(1, account="other"), fingerprint="free@1")
    summary, seconds = together(tmp_path / "run", [one, two, free], rounds=1)
    assert seconds < 3600
    assert statuses(tmp_path / "run")["free"] == {"finished"}
    assert statuses(tmp_path / "run")["two"] == {"open"}
    assert summary.stopped == "one asks to wait 90,000 s, for all of its account"


def test_editors_on_one_machine_share_its_cores(tmp_path: Path) -> None:
    busy = most = 0

    class Heavy(CountingEditor):
        async def edit(self, request: EditRequest) -> Edited:
            nonlocal busy, most
            busy += 1
            most = max(most, busy)
            try:
                return await super().edit(request)
            finally:
                busy -= 1

    limits = Limits(2, account="this processor", together=2)
    editors: list[CountingEditor] = [
        Heavy(name, limits=limits, seconds=1.0, fingerprint=f"{name}@1") for name in ("one", "two", "three")
    ]
    together(tmp_path / "run", editors, rounds=1)
    assert most == 2


def test_a_price_that_nobody_knows_cannot_be_kept_under_a_limit(tmp_path: Path) -> None:
    editor = CountingEditor()
    editor.capabilities = Capabilities(dollars_per_call=None)
    with pytest.raises(StudyError, match=r"the price of counting is unknown; .*dollars = …"):
        walk(tmp_path / "run", editor, max_cost=1.0)
    summary, _, _ = walk(tmp_path / "run", editor, rounds=1)
    assert summary.statuses == {"finished": len(CASES)}


def test_a_call_that_was_dearer_than_its_price_stops_no_editor_that_is_free(tmp_path: Path) -> None:
    class Dear(CountingEditor):
        async def edit(self, request: EditRequest) -> Edited:
            return replace(await super().edit(request), dollars=0.2)

    dear = Dear("dear", dollars=0.1, limits=Limits(1), fingerprint="dear@1")
    free = CountingEditor("free", seconds=5.0, fingerprint="free@1")
    summary, _ = together(tmp_path / "run", [dear, free], rounds=2, max_cost=0.15)
    assert statuses(tmp_path / "run")["free"] == {"finished"}
    assert summary.stopped == "the next call ($0.1000) would exceed --max-cost $0.15: $0.2000 spent, $0.0000 in flight"


def test_a_price_follows_the_resolution_and_the_turns(tmp_path: Path) -> None:
    able = Capabilities(
        sessions=True,
        resolutions=("1K", "4K"),
        dollars_per_call=0.1,
        dollars_by_resolution={"1K": 0.1, "4K": 0.4},
        dollars_per_turn=0.01,
    )
    assert able.dollars(Settings(resolution="4K")) == pytest.approx(0.4)
    assert able.dollars(Settings(resolution="1K", session="single"), 9) == pytest.approx(0.19)
    assert able.dollars(Settings(), 9) == pytest.approx(0.1)


# --- settings ------------------------------------------------------------------------------------------


def test_resolutions_take_turns_and_are_part_of_each_step(tmp_path: Path) -> None:
    editor = CountingEditor()
    study = RoundTrip(3, settings=Settings(interleaved=("1K", "2K", "4K")))
    walk(tmp_path / "run", editor, rounds=3, study=study, cases=CASES[:1])
    assert [request.settings.resolution for request in editor.requests] == ["1K", "2K", "4K", "1K", "2K", "4K"]
    assert [request.settings.interleaved for request in editor.requests] == [()] * 6


def test_a_single_session_hands_over_every_earlier_turn(tmp_path: Path) -> None:
    editor = CountingEditor()
    study = RoundTrip(2, settings=Settings(session="single"))
    walk(tmp_path / "run", editor, rounds=2, study=study, cases=CASES[:1])
    lengths = [len(request.history) for request in editor.requests]
    assert lengths == [0, 1, 2, 3]
    last = editor.requests[-1]
    assert [turn.instruction for turn in last.history] == ["add one", "take one away", "add one"]
    assert last.history[0].image == editor.requests[0].image
    assert last.history[0].answer == editor.requests[1].image
    assert last.history[-1].answer == last.image


def test_a_session_goes_on_after_a_stop_with_its_whole_history(tmp_path: Path) -> None:
    study = RoundTrip(2, settings=Settings(session="single"))

    def stop(request: EditRequest) -> None:
        if request.index == 3:
            raise Unavailable("later")

    walk(tmp_path / "run", CountingEditor(before=stop), rounds=2, study=study, cases=CASES[:1])
    again = CountingEditor()
    walk(tmp_path / "run", again, rounds=2, study=study, cases=CASES[:1])
    assert [len(request.history) for request in again.requests] == [2, 3]


def test_a_seed_is_recorded_only_where_it_was_taken(tmp_path: Path) -> None:
    with_seed, without = (
        CountingEditor("with", fingerprint="with@1"),
        CountingEditor("without", fingerprint="without@1"),
    )
    with_seed.capabilities = Capabilities(seed=True)
    together(tmp_path / "run", [with_seed, without], rounds=1)
    seeds = dict(query(tmp_path / "run", "select editor, max(seed) from steps group by 1"))
    assert seeds["with"] is not None
    assert seeds["without"] is None


def test_seeds_follow_from_the_step_alone_so_that_a_study_without_one_can_be_repeated(tmp_path: Path) -> None:
    editor = CountingEditor()
    editor.capabilities = Capabilities(seed=True)
    walk(tmp_path / "run", editor, rounds=2, cases=CASES[:1])
    steps = query(tmp_path / "run", "select id, seed from steps")
    assert len(steps) == 4
    assert {seed for _, seed in steps} == {seed_from(key, 0) for key, _ in steps}


ABLE = Capabilities(
    seed=True, temperature=True, resolutions=("1K", "2K"), aspects=("16:9",), sessions=True, reasoning=True
)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        (Settings(seed=3), "takes no seed"),
        (Settings(seed_policy="fixed"), "takes no seed"),
        (Settings(temperature=0.4), "takes no temperature"),
        (Settings(resolution="1K"), "takes no resolution '1K'"),
        (Settings(interleaved=("1K", "2K")), "takes no resolution '1K'"),
        (Settings(aspect="16:9"), "takes no aspect '16:9'"),
        (Settings(session="single"), "keeps no session"),
        (Settings(reasoning=True), "gives no summary of its reasoning"),
    ],
)
def test_a_setting_that_is_not_understood_is_refused_before_the_first_call(settings: Settings, message: str) -> None:
    editor = CountingEditor()
    with pytest.raises(StudyError, match=message):
        require_supported(editor, "counting", settings)
    editor.capabilities = ABLE
    require_supported(editor, "counting", settings)


def test_an_editor_that_does_not_know_what_it_cost_ends_its_chain_and_not_the_run(tmp_path: Path) -> None:
    class Vague(CountingEditor):
        async def edit(self, request: EditRequest) -> Edited:
            return replace(await super().edit(request), dollars=float("nan"))

    summary, _, _ = walk(tmp_path / "run", Vague(), rounds=1)
    assert summary.statuses == {"failed": len(CASES)}


@pytest.mark.parametrize(
    ("odd", "message"),
    [
        ({"raw": {"id": 1}}, "raw as dict"),
        ({"reasoning": ["first", "then"]}, "reasoning as list"),
        ({"model": 5}, "model as int"),
        ({"used": None}, "used as NoneType"),
        ({"used": {(1, 2): "a"}}, "not JSON"),
        ({"image": "text"}, "image as str"),
    ],
)
def test_an_odd_answer_ends_its_chain_is_paid_for_and_harms_no_other_editor(
    tmp_path: Path, odd: dict[str, Any], message: str
) -> None:
    class Odd(CountingEditor):
        async def edit(self, request: EditRequest) -> Edited:
            return replace(await super().edit(request), **odd)

    strange = Odd("strange", dollars=0.5, fingerprint="strange@1")
    good = CountingEditor("sound", fingerprint="sound@1")
    together(tmp_path / "run", [strange, good], rounds=1)
    assert statuses(tmp_path / "run") == {"strange": {"failed"}, "sound": {"finished"}}
    rows = query(tmp_path / "run", "select distinct outcome, dollars, error from attempts where editor = 'strange'")
    assert [(outcome, dollars) for outcome, dollars, _ in rows] == [("error", 0.5)]
    assert message in rows[0][2]


def test_an_image_that_one_editor_cannot_take_ends_a_chain_and_not_the_run(tmp_path: Path) -> None:
    def wrong(request: EditRequest) -> None:
        if request.case == CASES[0].id and request.index == 2:
            raise StudyError("images of 31 MB are too large")

    picky = CountingEditor("picky", before=wrong, fingerprint="picky@1")
    good = CountingEditor("sound", fingerprint="sound@1")
    summary, _ = together(tmp_path / "run", [picky, good], rounds=2)
    assert summary.statuses == {"finished": 2 * len(CASES) - 1, "failed": 1}
    (row,) = query(tmp_path / "run", "select detail from chains where status = 'failed'")
    assert row == ("images of 31 MB are too large",)


def test_an_editor_that_cannot_close_takes_nothing_away(tmp_path: Path) -> None:
    closed: list[str] = []

    class Plain(CountingEditor):
        def close(self) -> None:
            closed.append(self.name)

    class Broken(CountingEditor):
        async def close(self) -> None:
            raise RuntimeError("no")

    editors = [Broken("broken", fingerprint="broken@1"), Plain("plain", fingerprint="plain@1")]
    summary, _ = together(tmp_path / "run", editors, rounds=1)
    assert summary.statuses == {"finished": 2 * len(CASES)}
    assert closed == ["plain"]
