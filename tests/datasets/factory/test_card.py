"""The card says what is in the set, how often edits succeeded, who judged, and what it cost."""

from __future__ import annotations

import json
import re
from collections import Counter
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from convergebench.store.frames import RunFrames
from tests.datasets.factory.made import lines


@pytest.fixture(scope="module")
def card(factory_sets: Path) -> str:
    return (factory_sets / "pico" / "README.md").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def attempts(factory: Path) -> list[dict[str, Any]]:
    rows = RunFrames(factory).decisions().filter(pl.col("decision") == "attempt")
    return [{"case": row["case"], **json.loads(row["facts"])} for row in rows.iter_rows(named=True)]


def table(card: str, head: str) -> dict[str, list[str]]:
    """A table by its head: first cell → the others."""
    rows = card.split(head, 1)[1].split("\n\n", 1)[0].splitlines()[2:]
    cells = [[cell.strip() for cell in row.strip("|").split(" | ")] for row in rows]
    return {first.strip("`"): rest for first, *rest in cells}


def test_subsets_are_counted(card: str, factory_sets: Path) -> None:
    found = table(card, "| subset | rows | share |")
    for subset, file in (("sft", "sft"), ("preference", "preference"), ("multi_turn", "multi-turn")):
        assert int(found[subset][0]) == len(lines(factory_sets / "pico" / "records" / f"{file}.jsonl")) > 0
    assert sum(float(row[1].rstrip("%")) for row in found.values()) == pytest.approx(100, abs=0.2)


def test_success_is_told_per_attempt_and_per_instruction(card: str, attempts: list[dict[str, Any]]) -> None:
    first = [one for one in attempts if one["turn"] == 1]
    cases = {one["case"]: one["edit_type"] for one in first}
    good = {one["case"] for one in first if one["accepted"]}
    asked, done = Counter(cases.values()), Counter(cases[case] for case in good)
    tried = Counter(one["edit_type"] for one in first)
    found = table(card, "| edit type | instructions | per instruction | attempts | per attempt |")
    assert found.keys() == asked.keys() | {"all"}
    for kind, count in asked.items():
        assert found[kind][0] == f"{done[kind]} / {count}"
        assert found[kind][1] == f"{done[kind] / count:.1%}"
        assert found[kind][2] == f"{done[kind]} / {tried[kind]}"
        assert found[kind][3] == f"{done[kind] / tried[kind]:.1%}"
    assert found["all"][0] == f"{len(good)} / {len(cases)}"
    later = [one for one in attempts if one["turn"] > 1]
    assert f"{sum(one['accepted'] for one in later)} of {len(later)} attempts" in card


def test_the_judge_is_named_with_its_weights_and_all_its_scores(card: str, attempts: list[dict[str, Any]]) -> None:
    assert "The judge is `scripted judge` (fingerprint `scripted-judge@1`), answering as `judge-1`" in card
    assert "instruction compliance 40%, seamlessness 25%, preservation balance 20%, technical quality 15%" in card
    found = table(card, "| score | attempts |  |")
    counted = {name: int(row[0]) for name, row in found.items()}
    assert counted["0.4 to 0.5"] == sum(one["score"] < 0.5 for one in attempts)
    assert counted["0.8 to 0.9"] + counted["0.9 to 1.0"] == sum(one["score"] > 0.5 for one in attempts)
    assert sum(counted.values()) == len(attempts)


def test_the_cost_is_what_was_paid(card: str, factory: Path, factory_sets: Path) -> None:
    edits = RunFrames(factory).steps()["dollars"].sum()
    told = re.search(r"\$([\d.]+) in all, \$([\d.]+) a row: editing \$([\d.]+), .*judge \$([\d.]+)", card)
    assert told is not None
    total, each, editing, judging = map(float, told.groups())
    assert editing == pytest.approx(edits, abs=0.005)
    assert judging > 0.01 * len(lines(factory_sets / "pico" / "records" / "sft.jsonl"))
    rows = sum(len(lines(path)) for path in (factory_sets / "pico" / "records").iterdir())
    assert each == pytest.approx(total / rows, abs=1e-4)


def test_it_says_what_the_set_is_not_and_credits_its_sources(card: str) -> None:
    assert "Not judged by people" in card
    assert "Photo 0 by A. Person, CC BY 2.0. https://example.org/photos/0.jpg" in card
    assert "`local_input_image`" in card
