"""Success per edit, per first attempt and per attempt: what counts, what is missing, when there is an interval."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest

from convergebench.analysis.factory.success import success_table
from tests.analysis.factory.decided_world import BOOTSTRAP, REFUSED, UNREAD, Told, world


def rates(*told: Told, turns: str = "first") -> dict[tuple[str, str], dict[str, Any]]:
    found = world(*told)
    table = success_table(found.edits, found.attempts, BOOTSTRAP).filter(pl.col("turns") == turns)
    return {(row["group"], row["unit"]): row for row in table.to_dicts()}


def test_an_edit_that_succeeds_at_its_third_attempt_is_one_of_one_and_one_of_three() -> None:
    found = rates(Told("a", [(0.5, 0.5, 0.9)]))
    shares = {unit: found["all", unit]["share"] for unit in ("edit", "attempt", "first-attempt")}
    assert shares == {"edit": 1.0, "attempt": pytest.approx(1 / 3), "first-attempt": 0.0}


def test_a_refusal_is_a_failure() -> None:
    found = rates(Told("a", [(REFUSED, 0.9)]), Told("b", [(REFUSED, REFUSED, REFUSED)]))
    assert found["all", "attempt"]["share"] == pytest.approx(1 / 5)
    assert found["all", "edit"]["share"] == pytest.approx(1 / 2)
    assert found["all", "edit"]["n_missing"] == 0


def test_what_could_not_be_judged_is_missing_and_no_failure() -> None:
    found = rates(Told("a", [(UNREAD, 0.9)]), Told("b", [(0.5, UNREAD, 0.5)]), Told("c", unwritten=True))
    edit, attempt = found["all", "edit"], found["all", "attempt"]
    assert (edit["n"], edit["accepted"], edit["n_missing"]) == (1, 1, 2)
    assert (attempt["n"], attempt["accepted"], attempt["n_missing"]) == (3, 1, 2)


def test_rates_stand_beside_the_papers_where_it_gives_one() -> None:
    found = rates(Told("a", label="art-style"), Told("b", label="pose"))
    assert found["type:art-style", "edit"]["paper"] == pytest.approx(0.934)
    assert found["type:pose", "edit"]["paper"] is None
    assert found["category:Stylistic", "edit"]["paper"] is None


def test_later_turns_count_only_where_all_turns_are_asked_for() -> None:
    told = Told("a", [(0.9,), (0.5, 0.5, 0.5)], planned=2)
    assert rates(told)["all", "edit"]["n"] == 1
    assert rates(told, turns="all")["all", "edit"]["share"] == pytest.approx(0.5)
    assert ("type:zoom-in", "edit") not in rates(told)


def test_an_interval_needs_five_source_images_however_many_edits_there_are() -> None:
    labels = ("add-object", "zoom-in", "outpaint", "art-style", "film-grain")
    few = rates(*(Told(source, label=label) for source in "abcd" for label in labels))["all", "edit"]
    enough = rates(*(Told(source, [(0.9,) if source > "a" else (0.5,)]) for source in "abcde"))["all", "edit"]
    assert (few["n"], few["n_sources"], few["low"]) == (20, 4, None)
    assert enough["low"] < enough["share"] < enough["high"]


def test_edits_of_one_image_belong_together() -> None:
    """Eight images that all succeed or all fail tell less than forty independent edits."""
    labels = ("add-object", "zoom-in", "outpaint", "art-style", "film-grain")
    alike = [Told(s, [(0.9,) if s < "e" else (0.5,)], label=label) for s in "abcdefgh" for label in labels]
    apart = [
        Told(f"{s}{n}", [(0.9,) if s < "e" else (0.5,)], label=label)
        for s in "abcdefgh"
        for n, label in enumerate(labels)
    ]
    one, other = (rates(*told)["all", "edit"] for told in (alike, apart))
    assert one["share"] == other["share"] == 0.5
    assert one["high"] - one["low"] > 1.5 * (other["high"] - other["low"])
