"""The part `ratings` from rows to sentences: it says who is best only where the test does."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import polars as pl
import pytest

from benchmarks.rating_world import Kind, Mode, RatingWorld, ratings, study
from convergebench.analysis.parts import AnalysisContext
from convergebench.analysis.ratings.analyse import ratings as analysed
from convergebench.analysis.ratings.result import SCHEMAS, RatingsAnalysis

CLEAR = RatingWorld(means=(4.0, 2.5, 1.5))


def result(
    kinds: list[Kind], pictures: int = 10, *, world: RatingWorld = CLEAR, mode: Mode = "score", seed: int = 0
) -> RatingsAnalysis:
    rows = ratings(np.random.default_rng(seed), kinds, pictures, world=world, mode=mode)
    return analysed(study(rows, pictures, len(world.means)))


def honest(count: int) -> list[Kind]:
    return ["honest"] * count


def test_the_best_method_is_named_with_its_mean_and_interval() -> None:
    first = result(honest(10)).headline[0]
    assert first.startswith("People rate method-1 best: ")
    assert "of 5 (95%: " in first
    assert first.endswith("; 10 raters, 10 photographs).")


def test_equal_methods_are_not_told_apart() -> None:
    world = RatingWorld(means=(3.0, 3.0, 3.0))
    said = [result(honest(6), 8, world=world, seed=seed).headline[0] for seed in range(8)]
    assert sum("best" in sentence for sentence in said) == 0
    assert "do not separate method-" in said[0]


def test_methods_behind_the_leaders_are_named() -> None:
    said = result(honest(10), 12, world=RatingWorld(means=(3.6, 3.6, 1.0))).headline[0]
    assert "do not separate" in said
    assert "method-3 is behind" in said


@pytest.mark.parametrize("mode", ["score", "preference"])
@pytest.mark.parametrize("raters", [1, 2])
def test_fewer_than_three_raters_claim_nothing(raters: int, mode: Mode) -> None:
    found = result(honest(raters), mode=mode)
    assert found.headline == (f"Too few ratings for a finding: {raters} rater{'s'[: raters - 1]}, 3 are needed.",)
    assert not found.rating_contrasts["significant"].any()
    assert found.rating_means["low"].count() == 0


def test_raters_who_are_left_out_do_not_make_up_the_three() -> None:
    found = result([*honest(2), "constant", "constant"], 20)
    assert found.raters["flagged"].sum() == 2
    assert found.headline[0] == "Too few ratings for a finding: 2 raters who can be relied on, 3 are needed."
    assert not any("best" in sentence for sentence in found.headline)


def test_pairs_have_a_sentence_of_their_own() -> None:
    found = result(honest(8), mode="preference")
    assert found.headline[0].startswith("In pairs, people prefer method-1 to every other method: it wins ")
    assert found.preferences["editor"][0] == "method-1"
    assert set(found.rating_contrasts["question"]) == {"preference"}


def test_agreement_and_left_out_raters_are_told() -> None:
    found = result([*honest(9), "reversed"])
    assert any(sentence.startswith("Raters agree ") for sentence in found.headline)
    assert found.headline[-1] == "1 of 10 raters is left out as unreliable; the table of raters says why."
    assert found.rating_means["n_raters"].unique().to_list() == [9]
    measures = found.rating_agreement.filter(question="score")
    alone, everybody = (measures.filter(measure=name)["value"].item() for name in measures["measure"].to_list()[::3])
    assert everybody < alone


def test_a_cheat_does_not_change_who_is_best() -> None:
    with_cheats = result([*honest(6), "random", "reversed"], 15)
    assert with_cheats.raters.filter("flagged")["rater"].to_list() == ["rater-6", "rater-7"]
    assert with_cheats.headline[0].startswith("People rate method-1 best")


def test_no_ratings_no_words() -> None:
    nothing = analysed(study(pl.DataFrame(), 3))
    assert nothing.headline == ()
    for name, table in nothing.tables().items():
        assert table.height == 0
        assert dict(table.schema) == SCHEMAS[name]


def test_ratings_of_other_studies_are_not_read() -> None:
    rows = ratings(np.random.default_rng(0), honest(4), 5)
    other = rows.with_columns(pl.lit("technical_quality").alias("question"), pl.col("value") / 5)
    assert analysed(study(other, 5)).raters.height == 0


def test_tables_have_the_declared_columns_and_no_nan() -> None:
    for mode in ("score", "preference"):
        found = result([*honest(5), "random"], 6, mode=mode)
        for name, table in found.tables().items():
            assert list(table.columns) == list(SCHEMAS[name])
            floats = table.select(pl.selectors.float())
            assert not any(floats[column].is_nan().any() for column in floats.columns)


def test_the_order_of_rows_does_not_matter() -> None:
    rows = ratings(np.random.default_rng(1), [*honest(5), "noisy"], 6, mode="preference")
    given: AnalysisContext = study(rows, 6)
    shuffled = replace(given, ratings=rows.sample(fraction=1, shuffle=True, seed=3))
    one, other = analysed(given), analysed(shuffled)
    for name, table in one.tables().items():
        assert table.select(pl.selectors.string()).equals(other.tables()[name].select(pl.selectors.string()))
    assert one.preferences["strength"].to_list() == pytest.approx(other.preferences["strength"].to_list())
    assert one.preferences["low"].to_list() == pytest.approx(other.preferences["low"].to_list())


def test_one_method_alone_has_a_mean_and_no_rival() -> None:
    found = result(honest(5), world=RatingWorld(means=(3.0,)))
    assert found.rating_contrasts.height == 0
    assert found.headline[0].startswith("People rate method-1 ")
    assert "best" not in found.headline[0]
