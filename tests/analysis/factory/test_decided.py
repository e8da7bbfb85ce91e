"""Decisions become rows: one per edit, attempt and session, and the stages of the funnel."""

from __future__ import annotations

import polars as pl
import pytest

from convergebench.analysis.factory.funnel import funnel_table
from convergebench.store.frames import ANSWERS, STEPS
from tests.analysis.factory.decided_world import REFUSED, UNREAD, Told, World, world


def edit(found: World, turn: int = 1) -> dict[str, object]:
    (row,) = found.edits.filter(pl.col("turn") == turn).to_dicts()
    return row


def test_an_edit_has_the_scores_of_the_attempt_that_was_accepted() -> None:
    row = edit(world(Told("a", [(0.5, 0.6, 0.8)])))
    assert (row["outcome"], row["accepted_at"], row["attempts"], row["position"]) == ("accepted", 3, 3, 3)
    assert row["score"] == pytest.approx(0.8)
    assert row["long"] == "Please do add-object."


def test_a_discarded_edit_has_the_scores_of_its_best_attempt() -> None:
    row = edit(world(Told("a", [(0.5, 0.6, 0.4)])))
    assert (row["outcome"], row["accepted_at"], row["position"]) == ("discarded", None, 2)
    assert row["score"] == pytest.approx(0.6)


def test_refusals_are_attempts_without_a_picture_and_unread_replies_are_pictures_without_a_score() -> None:
    found = world(Told("a", [(REFUSED, UNREAD, 0.9)]))
    row = edit(found)
    assert (row["attempts"], row["delivered"], row["judged"]) == (3, 2, 1)
    assert found.attempts["refused"].to_list() == ["not allowed", None, None]
    assert found.attempts["score"].is_null().to_list() == [True, True, False]


def test_a_type_that_took_the_place_of_another_is_the_one_that_counts() -> None:
    row = edit(world(Told("a", label="restyle-text", instead="zoom-in")))
    assert (row["assigned"], row["edit_type"], row["category"]) == ("restyle-text", "zoom-in", "Scale")


def test_a_chain_without_any_decision_is_an_open_case_and_never_a_failure() -> None:
    row = edit(world(Told("a", [], open=True)))
    assert (row["outcome"], row["attempts"], row["edit_type"]) == ("open", 0, "add-object")


def test_turns_of_a_session_are_edits_of_their_own() -> None:
    found = world(Told("a", [(0.9,), (0.5, 0.8)], planned=3, damaged=True))
    assert found.edits["edit_type"].to_list() == ["add-object", "zoom-in"]
    assert found.edits["fit"].to_list() == [True, False]
    assert found.edits["session"].all()
    (row,) = found.sessions.to_dicts()
    assert (row["planned"], row["done"], row["fit"], row["ended"], row["whole"]) == (3, 2, 1, "damaged", False)


def test_an_attempt_has_the_dollars_of_its_step_and_of_the_judge_who_looked_at_it() -> None:
    place = {"editor": "ours", "case": "a/add-object/0"}
    steps = pl.DataFrame([{**place, "index": at, "dollars": 0.04} for at in (1, 2)], schema=STEPS)
    asked = [("judge", 1, 0.01), ("judge", 1, 0.02), ("judge", 2, 0.01), ("writer", 1, 9.0)]
    answers = pl.DataFrame(
        [{**place, "role": role, "position": at, "dollars": paid} for role, at, paid in asked], schema=ANSWERS
    )
    found = world(Told("a", [(0.5, 0.9)]), steps=steps, answers=answers)
    assert found.attempts["dollars"].to_list() == [0.04, 0.04]
    assert found.attempts["judge_dollars"].to_list() == pytest.approx([0.03, 0.01])


def stages(found: World, track: str) -> dict[str, int]:
    table = funnel_table(found.edits, found.sessions, 3).filter(pl.col("track") == track)
    return dict(table.select("stage", "n").iter_rows())


def test_the_funnel_counts_every_stage_and_every_way_out() -> None:
    found = world(
        Told("a", [(0.9,)]),
        Told("b", [(0.5, 0.9)]),
        Told("c", [(0.5, 0.5, 0.5)]),
        Told("d", [(REFUSED, REFUSED, REFUSED)]),
        Told("e", [(UNREAD, UNREAD, UNREAD)]),
        Told("f", unwritten=True),
        Told("g", [], open=True),
        Told("h", label="restyle-text", instead="zoom-in"),
    )
    assert stages(found, "edits") == {
        "cases": 8, "another type": 1, "instruction written": 6, "edit delivered": 5, "judged": 4, "accepted": 3,
        "at attempt 1": 2, "at attempt 2": 1, "at attempt 3": 0, "discarded": 3, "unwritten": 1,
        "no type fits": 0, "unfinished": 1,
    }  # fmt: skip


def test_a_funnel_never_widens() -> None:
    found = world(Told("a", [(0.9,), (0.9,)], planned=2), Told("b", [(0.9,), (0.5,)], planned=4), Told("c", [(0.5,)]))
    table = funnel_table(found.edits, found.sessions, 3).filter(~pl.col("aside"))
    for _, part in table.group_by("track", maintain_order=True):
        assert part["n"].to_list() == sorted(part["n"].to_list(), reverse=True)


def test_sessions_are_counted_from_planned_to_whole() -> None:
    found = world(
        Told("a", [(0.9,), (0.9,)], planned=2),
        Told("b", [(0.9,), (0.9,), (0.5, 0.5, 0.5)], planned=3),
        Told("c", [(0.9,)], planned=2, damaged=True),
        Told("d", [(0.5,)], planned=2),
    )
    assert stages(found, "sessions") == {
        "planned": 4, "turn 1 accepted": 3, "turn 2 accepted": 2, "whole": 1, "turn 3 accepted": 0,
        "stopped by the inspector": 1, "stopped by a failed edit": 2, "later turns accepted": 2,
    }  # fmt: skip
    shares = {row["stage"]: row["share"] for row in funnel_table(found.edits, found.sessions, 3).iter_rows(named=True)}
    assert shares["later turns accepted"] == pytest.approx(2 / 3), "of those begun, not of the sessions"
    assert shares["turn 3 accepted"] == 0.0
    assert shares["at attempt 1"] == 1.0, "of the accepted"
