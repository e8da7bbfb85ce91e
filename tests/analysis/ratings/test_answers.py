"""Which rows of the table `ratings` count, and that nothing that others wrote in them does harm."""

from __future__ import annotations

import json
from typing import Any

import polars as pl
import pytest

from convergebench.analysis.ratings.answers import PeopleAnswers, read_answers

CHAINS = pl.DataFrame(
    [
        {"editor": editor, "case": f"{picture}/LF3/0", "source": picture}
        for editor in ("one", "two")
        for picture in ("a.mixed", "a.motion-blur", "b.mixed")
    ]
)
COLUMNS = ("editor", "case", "step", "image", "question", "value", "rater", "source", "detail", "made")


def row(detail: Any = "{}", **changes: Any) -> dict[str, Any]:
    standard = ("one", "a.mixed/LF3/0", 1, "i", "score", 4.0, "ann", "person", "", "2026")
    text = detail if isinstance(detail, str) else json.dumps(detail)
    return {**dict(zip(COLUMNS, standard, strict=True)), "detail": text, **changes}


def read(*rows: dict[str, Any], **images: Any) -> PeopleAnswers:
    schema = {"value": pl.Float64, "step": pl.Int64}
    return read_answers(pl.DataFrame(list(rows), schema_overrides=schema), CHAINS, images=images.get("images"))


def against(editor: object = "two", case: object = "a.mixed/LF3/0") -> dict[str, Any]:
    return {"against": {"editor": editor, "case": case, "step": 1, "image": "j"}}


def test_a_persons_answer_counts_with_its_picture() -> None:
    (one,) = read(row({"showing": 1, "seconds": 3.5})).scores.to_dicts()
    assert one["rater"] == "ann"
    assert (one["question"], one["editor"], one["value"], one["seconds"]) == ("score", "one", 4.0, 3.5)
    assert (one["source"], one["item"], one["showing"]) == ("a.mixed", "a.mixed/LF3/0 1", 1)


def test_copies_of_one_photograph_belong_together() -> None:
    images = {"a.mixed": {"clean": "a"}, "a.motion-blur": {"clean": "a"}, "b.mixed": {"clean": ""}}
    found = read(row(), row(case="a.motion-blur/LF3/0"), row(case="b.mixed/LF3/0"), images=images).scores
    assert found["source"].to_list() == ["a", "a", "b.mixed"]
    assert found["item"].n_unique() == 3


@pytest.mark.parametrize(
    "changes",
    [
        {"source": "role"},
        {"question": "instruction_compliance"},
        {"value": None},
        {"value": 6.0},
        {"value": -1.0},
        {"value": float("nan")},
        {"value": float("inf")},
        {"editor": "nobody"},
        {"case": "elsewhere/LF3/0"},
        {"question": "detail", "value": 4.0},
        {"question": "preference", "value": 1.0},
        {"question": "preference", "value": 0.3, "detail": json.dumps(against())},
    ],
)
def test_what_is_no_answer_does_not_count(changes: dict[str, Any]) -> None:
    found = read(row(**changes))
    assert not found.scores.height
    assert not found.pairs.height
    assert not found.raters


def test_the_latest_answer_counts_and_cannot_say_takes_one_back() -> None:
    changed = read(row(value=1.0), row(value=5.0, made="2027"))
    assert changed.scores["value"].to_list() == [5.0]
    assert not read(row(value=1.0), row(value=None, made="2027")).scores.height


def test_a_second_showing_is_an_answer_of_its_own() -> None:
    found = read(row(value=1.0), row({"showing": 2}, value=5.0))
    assert found.scores.sort("showing")["value"].to_list() == [1.0, 5.0]
    assert found.first().scores["value"].to_list() == [1.0]


def test_attention_items_are_never_taken_for_results() -> None:
    found = read(
        row({"attention": {"least": 3}}, editor="clean", value=2.0),
        row({"attention": {"most": 2}}, editor="input", value=2.0),
        row({}, editor="clean", case="b.mixed/LF3/0", value=5.0),
        row({"attention": {"least": 3}}, value=5.0),
    )
    assert not found.scores.height
    assert found.attention["failed"].to_list() == [True, False, False]


def test_one_control_picture_may_come_at_several_places() -> None:
    places = [row({"attention": {"least": 3}, "position": place}, editor="clean", value=2.0) for place in (4, 9)]
    assert read(*places).attention.height == 2


def test_an_attention_pair_may_have_the_control_on_either_side() -> None:
    pair = row({**against("input"), "attention": {"least": 1}}, editor="clean", question="preference", value=0.5)
    swapped = row({**against("clean"), "attention": {"most": 0}}, editor="input", question="preference", value=0.0)
    found = read(pair, swapped, row(against("clean"), question="preference", value=1.0))
    assert found.attention["failed"].to_list() == [True, False]
    assert not found.pairs.height


def test_a_pair_is_of_two_methods_on_one_photograph() -> None:
    images = {"a.mixed": {"clean": "a"}, "a.motion-blur": {"clean": "a"}}
    good = row(against(), question="preference", value=1.0)
    assert read(good).pairs.select("left", "right", "value").row(0) == ("one", "two", 1.0)
    for other in (against("one"), against("nobody"), against(case="b.mixed/LF3/0"), against(case="elsewhere"), {}):
        assert not read(row(other, question="preference", value=1.0), images=images).pairs.height


def test_one_picture_may_be_shown_beside_several() -> None:
    chains = pl.concat([CHAINS, CHAINS.filter(editor="two").with_columns(pl.lit("three").alias("editor"))])
    rows = [row(against(other), question="preference", value=1.0) for other in ("two", "three")]
    assert read_answers(pl.DataFrame(rows), chains).pairs["right"].to_list() == ["two", "three"]


@pytest.mark.parametrize(
    "detail",
    [
        *("", "{", "null", "[]", "3", '"{}"', "[" * 100_000, '{"showing": "2"}', '{"showing": true}'),
        *('{"seconds": 1e999}', '{"seconds": "fast"}', '{"attention": "yes"}', '{"attention": {"least": "x"}}'),
        *('{"against": 7}', '{"against": {"editor": ["clean"], "case": {}}}', '{"seconds": ' + "9" * 400 + "}"),
    ],
)
@pytest.mark.parametrize("question", ["score", "preference"])
def test_details_that_cannot_be_read_are_as_if_they_were_not_there(detail: str, question: str) -> None:
    found = read(row(detail, question=question, value=1.0))
    assert not found.pairs.height
    if question == "score":
        counted = found.scores.height == 1 and found.scores["showing"][0] == 1 and found.scores["seconds"][0] is None
        assert counted or detail == '{"attention": {"least": "x"}}'


def test_a_run_without_ratings_has_no_answers() -> None:
    for ratings, chains in ((pl.DataFrame(), CHAINS), (pl.DataFrame([row()]), pl.DataFrame())):
        found = read_answers(ratings, chains)
        assert not found.raters
        assert found.scores.columns == read(row()).scores.columns
