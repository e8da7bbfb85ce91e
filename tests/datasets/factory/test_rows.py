"""The rows of a factory run are what the study decided: no more, no less."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from convergebench.datasets.export import ExportOptions, export
from convergebench.store.frames import RunFrames
from tests.datasets.factory.made import Lazy, Recoded, SameAgain, StrictJudge, lines, make
from tests.factory_run import InstantEditor


def decided(run: Path, kind: str) -> list[dict[str, Any]]:
    """Facts of one kind of decision, with their chain."""
    rows = RunFrames(run).decisions().filter(pl.col("decision") == kind)
    return [{"case": row["case"], **json.loads(row["facts"])} for row in rows.iter_rows(named=True)]


def test_every_accepted_first_turn_is_an_example_with_the_judges_scores(factory: Path, factory_sets: Path) -> None:
    accepted = {one["case"]: one for one in decided(factory, "attempt") if one["accepted"] and one["turn"] == 1}
    rows = {row["case_id"]: row for row in lines(factory_sets / "pico" / "records" / "sft.jsonl")}
    assert rows.keys() == accepted.keys()
    for case, row in rows.items():
        told = accepted[case]
        assert row["step_key"] == told["state"]
        assert row["score"] == pytest.approx(told["score"])
        assert row["attempt"] == told["attempt"]
        assert row["seamlessness"] == told["seamlessness"]
        assert row["judge_model"] == "judge-1"
        assert row["model_id"] == "instant-1"
        assert row["source_credit"].endswith("CC BY 2.0")
        # every attempt was edited for 4 cents and judged for one, and so was the writing for nothing
        assert row["cost"] == pytest.approx(0.05 * told["attempt"])
        assert row["seed"] is not None


def test_pairs_are_the_rejected_attempts_before_an_accepted_one(factory: Path, factory_sets: Path) -> None:
    attempts = decided(factory, "attempt")
    accepted = {(one["case"], one["turn"]): one for one in attempts if one["accepted"]}
    expected = {
        (one["state"], accepted[one["case"], one["turn"]]["state"])
        for one in attempts
        if not one["accepted"] and (one["case"], one["turn"]) in accepted
    }
    rows = lines(factory_sets / "pico" / "records" / "preference.jsonl")
    assert {(row["rejected_step_key"], row["chosen_step_key"]) for row in rows} == expected
    assert len(rows) == len(expected) > 5
    assert all(row["margin"] == pytest.approx(0.5) for row in rows), "0.9 against 0.4"
    discarded = [one for one in attempts if (one["case"], one["turn"]) not in accepted]
    assert discarded, "the run has instructions that nobody carried out"
    compared = {one["rejected"]: one for one in decided(factory, "pair")}
    for row in rows:
        told = compared[row["rejected_step_key"]]
        assert row["chosen_wins"] == pytest.approx((told["chosen_first"] + told["chosen_second"]) / 2)


def test_only_whole_sessions_are_sessions(factory: Path, factory_sets: Path) -> None:
    planned = {one["case"]: one for one in decided(factory, "end") if one["turns_planned"] > 1}
    whole = {case for case, one in planned.items() if one["turns_fit"] == one["turns_planned"]}
    rows = lines(factory_sets / "pico" / "records" / "multi-turn.jsonl")
    assert {row["case_id"] for row in rows} == whole
    assert 0 < len(whole) < len(planned), "some ended early"
    examples = {row["case_id"] for row in lines(factory_sets / "pico" / "records" / "sft.jsonl")}
    assert whole < examples, "the first turn of a session is an example too"
    for row in rows:
        turns = planned[row["case_id"]]["turns_planned"]
        assert [len(row[name]) for name in ("prompts", "scores", "turn_sha256", "output_images")] == [turns] * 4
    card = (factory_sets / "pico" / "README.md").read_text(encoding="utf-8")
    assert f"| the session ended before its last planned turn | {len(planned) - len(whole)} |" in card


def test_a_picture_that_the_inspector_found_damaged_is_no_example(tmp_path: Path) -> None:
    run = make(tmp_path / "run", judge=StrictJudge(kind=True), quality=0.1)
    damaged = {one["case"] for one in decided(run, "inspection") if not one["fit"]}
    every = {one["case"] for one in decided(run, "end")}
    export(run, tmp_path / "set", ExportOptions("pico"))
    assert {row["case_id"] for row in lines(tmp_path / "set" / "records" / "sft.jsonl")} == every - damaged
    assert damaged
    assert not (tmp_path / "set" / "jsonl" / "multi-turn.jsonl").exists()


def test_an_edit_that_changed_nothing_is_no_example(tmp_path: Path) -> None:
    run = make(tmp_path / "run", {"instant": Lazy()}, judge=StrictJudge(kind=True), sessions=0)
    made = export(run, tmp_path / "set", ExportOptions("pico"))
    rows = lines(tmp_path / "set" / "records" / "sft.jsonl")
    accepted = [one for one in decided(run, "attempt") if one["accepted"]]
    (told,) = [notice for notice in made.notices if "left its image unchanged" in notice]
    dropped = int(told.split()[1])
    assert dropped > 2
    assert len(rows) == len(accepted) - dropped
    sources = {row["source_sha256"] for row in rows}
    assert not any(row["sha256"] in sources for row in rows)


def test_a_refused_attempt_has_no_picture_and_is_in_no_pair(tmp_path: Path) -> None:
    run = make(tmp_path / "run", {"instant": Lazy()}, judge=StrictJudge(kind=True), sessions=0)
    refused = [one for one in decided(run, "attempt") if one.get("refused")]
    assert refused
    export(run, tmp_path / "set", ExportOptions("pico"))
    assert not (tmp_path / "set" / "jsonl" / "preference.jsonl").exists()
    attempts = pl.read_csv(tmp_path / "set" / "tables" / "attempts.csv")
    assert attempts.filter(pl.col("refused").is_not_null()).height == len(refused)
    assert f"{len(refused)} attempts were refused" in (tmp_path / "set" / "README.md").read_text(encoding="utf-8")


def test_what_looks_like_another_row_of_its_source_and_type_is_dropped(tmp_path: Path) -> None:
    editors = {
        "first": SameAgain("first"),
        "recoded": Recoded("recoded"),
        "same": SameAgain(),
        "unlike": InstantEditor(),
    }
    run = make(tmp_path / "run", editors, judge=StrictJudge(kind=True), sessions=0)
    made = export(run, tmp_path / "set", ExportOptions("pico"))
    rows = lines(tmp_path / "set" / "records" / "sft.jsonl")
    count = {name: sum(row["editor"] == name for row in rows) for name in editors}
    assert (count["first"], count["recoded"], count["same"]) == (18, 0, 0)
    assert 16 <= count["unlike"] <= 18, "its patch may by chance be where the others' is"
    identical, alike = (notice for notice in made.notices if notice.startswith("dropped"))
    assert identical.endswith("another row has the same files")
    assert "looks the same" in alike
    dropped = [int(notice.split()[1]) for notice in (identical, alike)]
    assert min(dropped) >= 18
    assert sum(dropped) == 4 * 18 - len(rows)
    assert len({row["sha256"] for row in rows}) == len(rows)


def test_a_pair_of_equal_pictures_is_dropped(tmp_path: Path) -> None:
    class Moody(StrictJudge):
        """Changes its mind about one and the same picture."""

        def value(self, images: Any, payload: Any, repeat: int) -> dict[str, Any]:
            told = super().value(images, payload, repeat)
            if payload["rubric"] == "judge-edit":
                self.asked_about = getattr(self, "asked_about", 0) + 1
                told |= dict.fromkeys(told.keys() & {"instruction_compliance"}, float(self.asked_about % 2 == 0))
            return told

    run = make(tmp_path / "run", {"instant": SameAgain()}, judge=Moody(kind=True), sessions=0)
    again = [one for one in decided(run, "attempt") if one["attempt"] > 1 and one["accepted"]]
    assert again
    made = export(run, tmp_path / "set", ExportOptions("pico"))
    assert any("are the same" in notice for notice in made.notices)
    assert not (tmp_path / "set" / "jsonl" / "preference.jsonl").exists()


def test_hashes_are_those_of_the_files(factory_sets: Path) -> None:
    root = factory_sets / "pico"
    for row in lines(root / "records" / "sft.jsonl"):
        assert hashlib.sha256((root / row["output_image"]).read_bytes()).hexdigest() == row["sha256"]
        assert hashlib.sha256((root / row["local_input_image"]).read_bytes()).hexdigest() == row["source_sha256"]
    for row in lines(root / "records" / "preference.jsonl"):
        for side in ("chosen", "rejected"):
            found = hashlib.sha256((root / row[f"{side}_image"]).read_bytes()).hexdigest()
            assert found == row[f"{side}_sha256"]
