"""The analysis of a real run: its tables add up, its sentences have numbers, ratings that are stored are used."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from convergebench.analysis.factory.headline import NOTHING, factory_sentences
from convergebench.analysis.factory.result import SCHEMAS, FactoryAnalysis
from convergebench.conductor.analyse import analyse_run
from convergebench.store.connection import connect
from convergebench.store.frames import RunFrames
from tests.analysis.factory.decided_world import Told, world
from tests.factory_run import factory_run


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("factory") / "run"
    factory_run(folder, count=12, judged=3, pairwise=True, threshold=0.8, sessions=0.5)
    return folder


def analysed(root: Path) -> FactoryAnalysis:
    run = analyse_run(root)
    assert run.notes == ()
    found = run.context.results["factory"]
    assert isinstance(found, FactoryAnalysis)
    return found


@pytest.fixture(scope="module")
def found(root: Path) -> FactoryAnalysis:
    return analysed(root)


def test_every_table_has_the_columns_that_are_declared(found: FactoryAnalysis) -> None:
    assert {name: dict(frame.schema) for name, frame in found.tables().items()} == SCHEMAS


def test_counts_are_those_of_the_stored_decisions(root: Path, found: FactoryAnalysis) -> None:
    frames = RunFrames(root)
    kinds = dict(frames.decisions().group_by("decision").len().iter_rows())
    frames.close()
    assert found.attempts.height == kinds["attempt"]
    assert found.edits.filter(pl.col("long").is_not_null()).height == kinds["instruction"]
    assert found.judge_pairs["n_pairs"].sum() == kinds["pair"]
    assert found.edits["attempts"].sum() == kinds["attempt"]
    assert found.edits.filter(pl.col("turn") == 1).height == kinds["end"] == 48


def test_the_stages_add_up(found: FactoryAnalysis) -> None:
    n = dict(found.funnel.filter(pl.col("track") == "edits").select("stage", "n").iter_rows())
    assert sum(n[f"at attempt {number}"] for number in (1, 2, 3)) == n["accepted"]
    assert n["accepted"] + n["discarded"] + n["unwritten"] + n["unfinished"] == n["cases"]
    types = found.success_by_type.filter(pl.col("turns") == "first", pl.col("unit") == "edit")
    for kind in ("type:", "category:"):
        assert types.filter(pl.col("group").str.starts_with(kind))["accepted"].sum() == n["accepted"]
    histogram = found.judge_histograms.filter(pl.col("of") == "score")
    assert histogram["n"].sum() == found.attempts["score"].count()
    assert histogram["accepted"].sum() == found.attempts["accepted"].sum()


def test_the_first_sentence_has_the_share_its_uncertainty_and_the_number_of_edits(found: FactoryAnalysis) -> None:
    (row,) = found.success_by_type.filter(
        pl.col("turns") == "first", pl.col("unit") == "edit", pl.col("group") == "all"
    ).to_dicts()
    first = found.headline[0]
    assert first.startswith(f"The judge accepts {100 * row['share']:.0f}% of {row['n']} edits by instant (95%: ")
    assert any("sessions" in sentence for sentence in found.headline)
    assert any("standard deviation" in sentence for sentence in found.headline)


def test_the_runs_own_rule_gives_its_own_set(found: FactoryAnalysis) -> None:
    own = found.sweeps.filter("chosen")
    assert own["sweep"].to_list() == ["threshold", "weights", "compliance"]
    assert own["jaccard"].to_list() == [1.0, 1.0, 1.0]


def test_the_same_run_gives_the_same_tables(root: Path, found: FactoryAnalysis) -> None:
    again = analysed(root)
    assert all(frame.equals(again.tables()[name]) for name, frame in found.tables().items())


def test_ratings_of_the_run_are_held_against_its_judge(root: Path, found: FactoryAnalysis) -> None:
    assert found.judge_agreement.height == 0
    images = analyse_run(root).context.steps.select("case", "index", "image")
    database = connect(root / "run.sqlite")
    try:
        ids = dict(database.execute("select file, id from images"))
        for number, row in enumerate(found.attempts.to_dicts()):
            (image,) = images.filter(pl.col("case") == row["case"], pl.col("index") == row["position"])["image"]
            values = (f"r1:{number}", "instant", row["case"], row["position"], ids[image], row["score"] ** 2)
            database.execute(
                """insert into ratings (id, editor, "case", step, image, question, value, rater, source, detail, made)
                   values (?, ?, ?, ?, ?, 'score', ?, 'anna', 'person', '', '2026-01-01')""",
                values,
            )
        database.commit()
        rated = analysed(root).judge_agreement
        value = dict(rated.select("measure", "value").iter_rows())
        assert value["spearman"] == pytest.approx(1), "squares are in the same order"
        assert 0 < value["krippendorff alpha"] < 1
        assert rated["n"].to_list() == [found.attempts.height] * 4
    finally:
        database.execute("delete from ratings")
        database.commit()
        database.close()


def test_a_run_without_a_case_says_so(found: FactoryAnalysis) -> None:
    nothing = FactoryAnalysis((), 0.7, 1, **{name: frame.clear() for name, frame in found.tables().items()})
    assert factory_sentences(nothing, 0.95) == (NOTHING,)


def test_decisions_of_a_received_run_that_are_no_objects_are_left_out() -> None:
    found = world(Told("a", more=[("attempt", [])]))  # type: ignore[list-item]
    assert found.attempts.height == 1
