"""What is no row is told, and the set says the same as the page."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import polars as pl

from convergebench.analysis.factory.headline import factory_sentences
from convergebench.analysis.factory.result import FactoryAnalysis
from convergebench.conductor.analyse import analyse_run
from convergebench.datasets.export import ExportOptions, export
from convergebench.roles.base import Answered
from tests.datasets.factory.made import StrictJudge, lines, make
from tests.datasets.factory.test_rows import decided
from tests.factory_run import chance


class MumblingJudge(StrictJudge):
    """As the strict one, but what it says about some pictures cannot be read."""

    async def ask(self, images: tuple[bytes, ...], payload: Mapping[str, Any], *, repeat: int = 0) -> Answered:
        answered = await super().ask(images, payload, repeat=repeat)
        if payload["rubric"] == "judge-edit" and chance("mumbled", images[0]) < 0.4:
            return Answered(None, "mm", answered.model, answered.dollars)
        return answered


def test_an_attempt_that_nobody_judged_is_not_the_worse_one_of_a_pair(tmp_path: Path) -> None:
    run = make(tmp_path / "run", judge=MumblingJudge(), sessions=0)
    attempts = decided(run, "attempt")
    accepted = {one["case"]: one["attempt"] for one in attempts if one["accepted"]}
    before = [one for one in attempts if one["attempt"] < accepted.get(one["case"], 0)]
    unjudged = [one for one in before if one["score"] is None]
    assert 0 < len(unjudged) < len(before)
    made = export(run, tmp_path / "set", ExportOptions("pico"))
    rows = lines(tmp_path / "set" / "records" / "preference.jsonl")
    assert {row["rejected_step_key"] for row in rows} == {one["state"] for one in before} - {
        one["state"] for one in unjudged
    }
    assert f"dropped {len(unjudged)} preference: the judge's reply about the rejected image could not be parsed" in (
        made.notices
    )


def test_what_the_inspector_found_damaged_is_counted(tmp_path: Path) -> None:
    run = make(tmp_path / "run", judge=StrictJudge(kind=True), quality=0.1)
    damaged = [one for one in decided(run, "inspection") if not one["fit"]]
    made = export(run, tmp_path / "set", ExportOptions("pico"))
    assert f"dropped {len(damaged)} sft: the inspector found damage in the accepted image" in made.notices
    card = (tmp_path / "set" / "README.md").read_text(encoding="utf-8")
    assert f"| `sft` | the inspector found damage in the accepted image | {len(damaged)} |" in card


def test_card_and_page_count_the_same(tmp_path: Path) -> None:
    run = make(tmp_path / "run", judge=MumblingJudge(), quality=0.1)
    found = analyse_run(run).context.results["factory"]
    assert isinstance(found, FactoryAnalysis)
    made = export(run, tmp_path / "set", ExportOptions("pico"))
    subsets = dict(found.composition.select("subset", "n").iter_rows())
    assert subsets["sft"] == len(lines(tmp_path / "set" / "records" / "sft.jsonl")), made.notices
    assert subsets["preference"] == len(lines(tmp_path / "set" / "jsonl" / "preference.jsonl"))
    pairs = len(lines(tmp_path / "set" / "records" / "preference.jsonl"))
    assert f", {pairs} preference pair" in " ".join(factory_sentences(found, 0.95))
    card = (tmp_path / "set" / "README.md").read_text(encoding="utf-8")
    row = re.search(r"\| all \| (\d+) / (\d+) \| [\d.]+% \| (\d+) / (\d+) \|", card)
    assert row is not None
    rates = found.success_by_type.filter(turns="first", group="all")
    for unit, counted in (("edit", row.groups()[:2]), ("attempt", row.groups()[2:])):
        (told,) = rates.filter(pl.col("unit") == unit).select("accepted", "n").rows()
        assert told == tuple(map(int, counted)), unit
        assert rates.filter(pl.col("unit") == unit)["n_missing"][0] > 0, "some have no verdict"
