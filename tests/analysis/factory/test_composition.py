"""Subsets, contents of instructions, and cost."""

from __future__ import annotations

import polars as pl
import pytest

from convergebench.analysis.factory.composition import OTHER, buckets_of, composition_table, content_table
from convergebench.analysis.factory.costs import cost_table
from convergebench.store.frames import ANSWERS, SPENDING
from tests.analysis.factory.decided_world import BOOTSTRAP, REFUSED, Told, world


def test_every_accepted_first_edit_is_an_example_and_some_are_pairs_and_sessions_too() -> None:
    found = world(
        Told("a"),
        Told("b", [(0.5, 0.9)]),
        Told("c", [(REFUSED, 0.9)]),
        Told("d", [(0.9,), (0.5, 0.9)], planned=2),
        Told("e", [(0.9,), (0.5, 0.5, 0.5)], planned=2),
        Told("f", [(0.5, 0.5, 0.5)]),
    )
    table = composition_table(found.edits, found.attempts, found.sessions)
    assert dict(table.select("subset", "n").iter_rows()) == {"sft": 5, "multi-turn": 1, "preference": 1}
    assert table["share"].sum() == pytest.approx(1)
    assert dict(table.select("subset", "paper_share").iter_rows()) == {
        "sft": pytest.approx(0.668), "multi-turn": pytest.approx(0.187), "preference": pytest.approx(0.145)
    }  # fmt: skip


@pytest.mark.parametrize(
    ("instruction", "buckets"),
    [
        ("Add a small brown dog beside the woman.", ["people", "animals"]),
        ("Make it WINTER, with clouds.", ["sky, weather and season"]),
        ("Recolour the carpet", ["rooms and furniture"]),
        ("Do something else entirely", [OTHER]),
    ],
)
def test_instructions_go_into_every_bucket_that_they_name(instruction: str, buckets: list[str]) -> None:
    assert buckets_of(instruction) == buckets


def test_words_inside_other_words_do_not_count() -> None:
    assert buckets_of("Caring category, scattered") == [OTHER]


def test_contents_are_counted_over_all_instructions() -> None:
    found = world(*(Told(source, label=label) for source in "abcdef" for label in ("zoom-in", "art-style")))
    rows = {row["bucket"]: row for row in content_table(found.edits, BOOTSTRAP).to_dicts()}
    assert (rows["framing"]["n"], rows["framing"]["share"], rows["framing"]["n_instructions"]) == (6, 0.5, 12)
    assert rows["framing"]["low"] < 0.5 < rows["framing"]["high"]


def spending(**dollars: float) -> pl.DataFrame:
    rows = [{"editor": name.replace("role_", "role:"), "calls": 10, "dollars": paid} for name, paid in dollars.items()]
    return pl.DataFrame([{**row, "unknown_calls": 0, "unknown_dollars": 0.0} for row in rows], schema=SPENDING)


def test_an_accepted_edit_pays_for_the_failed_ones_and_for_every_role() -> None:
    found = world(Told("a", [(0.5, 0.9)]), Told("b", [(0.5, 0.5, 0.5)]))
    table = cost_table(found.edits, pl.DataFrame(schema=ANSWERS), spending(ours=4.0, role_judge=1.0))
    costs = {row["part"]: row["per_accepted"] for row in table.to_dicts()}
    assert costs == {"editor": 4.0, "judge": 1.0, "all": 5.0}


def test_with_several_editors_questions_belong_to_the_chain_they_were_asked_in() -> None:
    found = world(Told("a"), Told("a", editor="theirs"))
    asked = [{"editor": who, "role": "judge", "dollars": paid} for who, paid in (("ours", 0.3), ("theirs", 0.1))]
    answers = pl.DataFrame([{key: row.get(key) for key in ANSWERS} for row in asked], schema=ANSWERS)
    table = cost_table(found.edits, answers, spending(ours=1.0, theirs=2.0, role_judge=0.5))
    costs = {(row["editor"], row["part"]): row["dollars"] for row in table.to_dicts()}
    assert costs["ours", "all"] == pytest.approx(1.3)
    assert costs["theirs", "all"] == pytest.approx(2.1)
    assert costs["all", "all"] == pytest.approx(3.5), "a failed call of the judge is in no chain"


def test_nothing_accepted_has_no_price() -> None:
    found = world(Told("a", [(0.5, 0.5, 0.5)]))
    table = cost_table(found.edits, pl.DataFrame(schema=ANSWERS), spending(ours=1.0))
    assert table["per_accepted"].is_null().all()
