from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl
import pytest

from convergebench.analysis import Analysis, AnalysisInput, AnalysisSettings, analyse
from convergebench.analysis.score import Score
from convergebench.analysis.trajectories import LOST
from convergebench.errors import StudyError

Make = Callable[..., dict[str, Any]]
Given = Callable[..., AnalysisInput]
FAST = AnalysisSettings(draws=300, chain_draws=50)


def falling(rate: float, rounds: int = 4) -> dict[str, list[float | None]]:
    loss = [rate * n for n in range(1, rounds + 1)]
    return {"ssim": [1 - value for value in loss], "gist": [1 - value / 2 for value in loss]}


def test_the_score_is_the_geometric_mean_of_its_parts(chain: Make, given: Given) -> None:
    result = analyse(given([chain(source=f"s{n}", values=falling(0.1)) for n in range(3)]), FAST)
    row = result.ranking.to_dicts()[0]
    assert (row["quality"], row["semantic"]) == (pytest.approx(0.8), pytest.approx(0.9))
    assert row["score"] == pytest.approx(100 * np.sqrt(0.8 * 0.9))
    assert result.formula == (
        "C = 100·√(Q·S) (lpips not measured); Q = AUC of ssim; S = AUC of gist; what was not "
        "delivered (adherence was not measured) counts 0"
    )


def test_a_perfect_editor_scores_exactly_one_hundred(chain: Make, given: Given) -> None:
    row = analyse(given([chain(source=f"s{n}", values=falling(0)) for n in range(6)]), FAST).ranking.to_dicts()[0]
    assert (row["score"], row["low"], row["high"]) == (100, 100, 100)


def test_without_the_semantic_metric_the_score_is_quality_alone_and_says_so(chain: Make, given: Given) -> None:
    values = {"ssim": falling(0.1)["ssim"]}
    result = analyse(given([chain(values=values)]), FAST)
    assert result.ranking["score"].to_list() == [pytest.approx(80)]
    assert result.ranking["semantic"].to_list() == [None]
    assert result.formula.startswith("C = 100·Q (lpips and gist not measured); Q = AUC of ssim; what was not delivered")


def test_two_negative_areas_do_not_make_a_score() -> None:
    assert Score(("ssim",), "gist").value(np.array([-0.5, -0.5, 1.0])) == 0


def by_editor(result: Analysis) -> dict[str, dict[str, Any]]:
    return {row["editor"]: row for row in result.ranking.to_dicts()}


def test_a_refused_case_counts_against_its_editor_and_for_nobody_else(chain: Make, given: Given) -> None:
    chains = [
        *(chain("a", f"s{n}", falling(0.02)) for n in range(5)),
        *(chain("b", f"s{n}", falling(0.0)) for n in range(4)),
        chain("b", "s4", {"ssim": [1.0], "gist": [1.0]}, status="refused", planned=4),
    ]
    rows = by_editor(analyse(given(chains), FAST))
    assert [rows[name]["n_cases"] for name in "ab"] == [5, 5]
    assert [rows[name]["n_left_out"] for name in "ab"] == [0, 0]
    assert rows["b"]["score"] == pytest.approx(100 * (4 + 1 / 4) / 5)
    assert rows["b"]["closeness"] == pytest.approx(100)
    assert (rows["b"]["n_refused"], rows["b"]["n_finished"], rows["a"]["rank"]) == (1, 4, 1)
    assert rows["a"]["closeness"] > rows["a"]["score"] - 1e-9  # over the one round that b delivered of s4


@pytest.mark.parametrize(("refused", "rank"), [(2, 1), (3, None)])
def test_an_editor_needs_four_fifths_of_what_was_asked_for(
    chain: Make, given: Given, refused: int, rank: int | None
) -> None:
    chains = [chain("a", f"s{n}", falling(0.2)) for n in range(10)]
    chains += [chain("b", f"s{n}", falling(0.0)) for n in range(10 - refused)]
    chains += [chain("b", f"s{9 - n}", {}, status="refused", planned=4) for n in range(refused)]
    row = by_editor(analyse(given(chains), FAST))["b"]
    assert (row["rank"], row["coverage"]) == (rank, pytest.approx(1 - refused / 10))
    assert row["score"] == pytest.approx(100 * (1 - refused / 10))


def test_an_editor_that_finished_nothing_comes_last_and_spoils_nothing(chain: Make, given: Given) -> None:
    chains = [
        *(chain("broken", f"s{n}", {}, status="failed", planned=4) for n in range(3)),
        *(chain("a", f"s{n}", falling(0.05)) for n in range(3)),
        *(chain("b", f"s{n}", falling(0.02)) for n in range(3)),
    ]
    result = analyse(given(chains), FAST)
    assert result.ranking["editor"].to_list() == ["b", "a", "broken"]
    assert result.ranking["rank"].to_list() == [1, 2, None]
    assert result.ranking["score"].to_list()[2] == 0
    assert result.ranking["half_life"].to_list()[2] is None
    assert result.ranking["n_cases"].to_list() == [3, 3, 3]
    assert result.pairwise.height == 1


def test_one_flaky_editor_does_not_take_the_cases_of_the_others(chain: Make, given: Given) -> None:
    chains = [chain(name, f"s{n}", falling(rate)) for name, rate in (("a", 0.02), ("b", 0.05)) for n in range(20)]
    chains += [chain("flaky", "s0", falling(0.0))]
    chains += [chain("flaky", f"s{n}", {}, status="stopped", planned=4) for n in range(1, 20)]
    rows = by_editor(analyse(given(chains), FAST))
    assert [rows[name]["n_cases"] for name in ("a", "b", "flaky")] == [20, 20, 1]
    assert [rows[name]["rank"] for name in ("a", "b", "flaky")] == [1, 2, None]
    assert rows["flaky"]["coverage"] == pytest.approx(1 / 20)


def test_a_budget_stop_leaves_a_ranking_over_the_rounds_that_all_have(chain: Make, given: Given) -> None:
    chains = [chain("a", f"s{n}", falling(0.05, 10)) for n in range(6)]
    chains += [chain("b", f"s{n}", falling(0.05, 2), status="stopped", planned=10) for n in range(6)]
    result = analyse(given(chains), FAST)
    assert result.ranking["rank"].to_list() == [1, 1]
    assert result.ranking["score"].to_list()[0] == pytest.approx(result.ranking["score"].to_list()[1])
    assert result.ranking["followed"].to_list() == [2, 2]


def test_differences_use_the_cases_of_the_two(chain: Make, given: Given) -> None:
    chains = [chain(name, f"s{n}", falling(rate)) for name, rate in (("a", 0.02), ("b", 0.05)) for n in range(10)]
    chains += [chain("c", f"s{n}", falling(0.08)) for n in range(8)]
    chains += [chain("c", f"s{n}", {}, status="stopped", planned=4) for n in (8, 9)]
    result = analyse(given(chains), FAST)
    counts = {(row["better"], row["worse"]): row["n_cases"] for row in result.pairwise.to_dicts()}
    assert counts == {("a", "b"): 10, ("a", "c"): 8, ("b", "c"): 8}
    rows = by_editor(result)
    assert [(rows[name]["n_cases"], rows[name]["n_left_out"]) for name in "abc"] == [(8, 2), (8, 2), (8, 2)]


def test_a_case_that_nobody_measured_is_left_out_for_all_and_its_rounds_are_counted(chain: Make, given: Given) -> None:
    blank = {"ssim": [None] * 4, "gist": falling(0.1)["gist"]}
    chains = [
        *(chain("a", f"s{n}", falling(0.05)) for n in range(6)),
        *(chain("b", f"s{n}", falling(0.02) if n else blank) for n in range(6)),
    ]
    rows = by_editor(analyse(given(chains), FAST))
    assert [(rows[name]["n_cases"], rows[name]["n_left_out"], rows[name]["n_missing"]) for name in "ab"] == [
        (5, 1, 0),
        (5, 1, 4),
    ]


def test_a_chain_that_is_measured_in_part_is_compared_up_to_there(chain: Make, given: Given) -> None:
    partly = {"ssim": [0.9, None, None, 0.5], "gist": [0.95, 0.9, 0.8, 0.7]}
    chains = [
        *(chain("a", f"s{n}", falling(0.05)) for n in range(6)),
        *(chain("b", f"s{n}", falling(0.1) if n else partly) for n in range(6)),
    ]
    result = analyse(given(chains), FAST)
    rows = by_editor(result)
    assert rows["b"]["quality"] == pytest.approx((0.95 + 5 * 0.8) / 6)
    assert [(rows[name]["n_cases"], rows[name]["n_missing"]) for name in "ab"] == [(6, 0), (6, 2)]
    assert (
        "2 round trips of b lack a value of ssim or gist; those cases are scored over fewer rounds." in result.headline
    )


@pytest.mark.parametrize("status", sorted(LOST))
def test_a_picture_that_cannot_be_measured_for_what_was_done_to_it_is_lost(
    chain: Make, given: Given, status: str
) -> None:
    wrecked = {"ssim": [1.0] * 4, "gist": [status] * 4}
    chains = [
        *(chain("a", f"s{n}", falling(0.02)) for n in range(6)),
        *(chain("b", f"s{n}", wrecked if n < 3 else falling(0.0)) for n in range(6)),
    ]
    result = analyse(given(chains), FAST)
    rows = by_editor(result)
    assert (rows["a"]["rank"], rows["b"]["rank"]) == (1, 2)
    assert (rows["b"]["n_cases"], rows["b"]["n_lost"], rows["b"]["n_missing"]) == (6, 12, 0)
    assert rows["b"]["semantic"] == pytest.approx((3 * 1 + 3 * 0.125) / 6)
    life = result.half_life.filter(editor="b", metric="gist", level="half", group="all").to_dicts()[0]
    assert (life["n_events"], life["n_cases"], life["n_lost"]) == (3, 6, 12)
    curve = result.curves.filter(editor="b", metric="gist", group="all", round=2).to_dicts()[0]
    assert (curve["mean"], curve["n_cases"], curve["n_lost"], curve["n_missing"]) == (0.5, 6, 3, 0)


def test_what_was_cropped_away_is_lost(chain: Make, given: Given) -> None:
    inputs = given([chain(name, f"s{n}", falling(0.0)) for name in ("whole", "part") for n in range(6)])
    shown = pl.when(pl.col("editor") == "part").then(0.5).alias("in_view")
    result = analyse(replace(inputs, measurements=inputs.measurements.with_columns(shown)), FAST)
    rows = by_editor(result)
    assert rows["part"]["quality"] == pytest.approx((0.75 + 3 * 0.5) / 4)
    assert (rows["part"]["half_life"], rows["whole"]["half_life"]) == ("1", "> 4")
    assert result.curves.filter(editor="part", metric="ssim", group="all", round=1)["mean"].item() == 0.5


def test_doing_nothing_scores_nothing(chain: Make, given: Given) -> None:
    idle = {**falling(0.0), "happened": [0.0] * 4, "undone": ["nothing-to-undo"] * 4}
    works = {**falling(0.1), "happened": [0.9] * 4, "undone": [0.9, 0.9, 0.2, 0.9]}
    chains = [chain(name, f"s{n}", one) for name, one in (("idle", idle), ("works", works)) for n in range(6)]
    result = analyse(given(chains), FAST)
    rows = by_editor(result)
    assert (rows["idle"]["score"], rows["idle"]["closeness"], rows["idle"]["rank"]) == (0, 100, 2)
    assert (rows["idle"]["done"], rows["idle"]["undone"]) == (0, None)
    assert (rows["works"]["done"], rows["works"]["undone"], rows["works"]["adherence"]) == (1, 0.75, 0.75)
    assert rows["works"]["quality"] == pytest.approx((0.95 + 0.85 + 0.65) / 4)  # round 3 was not undone
    assert "idle never does “hat” (0 of 6 cases)." in result.headline
    assert result.formula.endswith("; what was not delivered, done and undone counts 0")


@pytest.mark.parametrize(
    ("happened", "adherence"),
    [
        ([0.9, 0.1, "cannot-tell", "cannot-tell"], 0.75),
        (["symmetric"] * 4, 1),  # the source itself is
        ([0.9, 0.9, "symmetric", "symmetric"], 0.5),  # the editor made it so
    ],
)
def test_rounds_that_nobody_can_tell_about_count_unless_the_editor_made_them_so(
    chain: Make, given: Given, happened: list[float | str], adherence: float
) -> None:
    values = {**falling(0.0), "happened": happened, "undone": [0.9] * 4}
    assert by_editor(analyse(given([chain("a", values=values)]), FAST))["a"]["adherence"] == adherence


def test_half_lives_are_compared_over_equal_rounds(chain: Make, given: Given) -> None:
    late = {"ssim": [0.95, 0.95, 0.95, 0.5], "gist": [0.9] * 4}
    chains = [chain("a", f"s{n}", late) for n in range(6)]
    chains += [chain("b", f"s{n}", falling(0.01, 2), status="ended", planned=4) for n in range(6)]
    result = analyse(given(chains), FAST)
    rows = by_editor(result)
    assert [rows[name]["half_life"] for name in "ab"] == ["> 2", "> 2"]
    assert [rows[name]["restricted_mean"] for name in "ab"] == [2, 2]


def test_an_editor_without_a_rank_that_was_followed_for_less_is_said_to_be(chain: Make, given: Given) -> None:
    chains = [chain(name, f"s{n}", falling(0.01, 8)) for name in "ab" for n in range(6)]
    chains += [chain("sim-short", f"s{n}", falling(0.0, 2), status="ended", planned=8) for n in range(6)]
    result = analyse(given(chains, simulated=["sim-short"]), FAST)
    assert by_editor(result)["sim-short"]["half_life"] == "> 2"
    assert "Run for fewer than the 8 round trips compared: sim-short (2)." in result.headline


@pytest.mark.parametrize(
    ("simulated", "uninstructed", "ranked"),
    [
        ((), (), ["a", "b", "c"]),
        (("a",), (), ["b", "c"]),
        (("a", "b"), ("c",), ["a", "b"]),
        ((), ("a", "b", "c"), ["a", "b", "c"]),
        (("a",), ("b",), ["c"]),
    ],
)
def test_only_one_kind_of_editor_has_ranks(
    chain: Make, given: Given, simulated: tuple[str, ...], uninstructed: tuple[str, ...], ranked: list[str]
) -> None:
    chains = [chain(name, f"s{n}", falling(rate)) for name, rate in zip("abc", (0.01, 0.02, 0.03), strict=True)
              for n in range(5)]  # fmt: skip
    ranking = analyse(given(chains, simulated=simulated, uninstructed=uninstructed), FAST).ranking
    assert ranking.filter(ranking["rank"].is_not_null())["editor"].to_list() == ranked
    assert ranking["score"].null_count() == 0


def test_an_editor_that_ignores_words_shows_what_copying_costs(chain: Make, given: Given) -> None:
    idle = {"happened": [0.0] * 4, "undone": ["nothing-to-undo"] * 4}
    chains = [chain(name, f"s{n}", {**falling(0.0), **idle}) for name in ("copies", "idle") for n in range(6)]
    result = analyse(given(chains, uninstructed=["copies"]), FAST)
    rows = by_editor(result)
    assert [(rows[name]["score"], rows[name]["done"], rows[name]["rank"]) for name in ("copies", "idle")] == [
        (100, None, None),
        (0, 0, 1),
    ]
    assert "idle never does “hat” (0 of 6 cases)." in result.headline


def test_places_say_how_sure_the_order_is(chain: Make, given: Given) -> None:
    generator = np.random.default_rng(3)
    chains = []
    for n in range(12):
        for editor, rate in (("a", 0.05), ("b", 0.051), ("c", 0.15)):
            chains.append(chain(editor, f"s{n}", falling(rate + 0.01 * generator.normal())))
    result = analyse(given(chains), FAST)
    rows = by_editor(result)
    assert (rows["c"]["rank_low"], rows["c"]["rank_high"]) == (3, 3)
    assert {(rows[name]["rank_low"], rows[name]["rank_high"]) for name in "ab"} == {(1, 2)}
    shares = result.places.group_by("editor").agg(pl.col("share").sum())["share"].to_list()
    assert shares == pytest.approx([1, 1, 1])


def test_usable_rounds_in_the_ranking_count_what_was_refused(chain: Make, given: Given) -> None:
    chains = [
        *(chain("steady", f"s{n}", falling(0.001)) for n in range(4)),
        chain("unwilling", "s0", falling(0.001)),
        *(chain("unwilling", f"s{n}", {}, status="refused", planned=4) for n in range(1, 4)),
        *(chain("never", f"s{n}", {}, status="refused", planned=4) for n in range(4)),
    ]
    rows = by_editor(analyse(given(chains), FAST))
    assert {name: row["usable"] for name, row in rows.items()} == {"steady": "> 4", "unwilling": "1", "never": "1"}
    assert {name: row["usable_share"] for name, row in rows.items()} == {"steady": 1, "unwilling": 0.25, "never": 0}


def test_editors_without_a_common_case_are_not_ranked(chain: Make, given: Given) -> None:
    result = analyse(given([chain("a", "s0", falling(0.1)), chain("b", "s1", falling(0.1))]), FAST)
    assert result.ranking["rank"].to_list() == [None, None]
    assert result.pairwise.is_empty()


def test_equal_scores_share_a_rank(chain: Make, given: Given) -> None:
    rates = {"a": 0.1, "b": 0.02, "c": 0.02}
    chains = [chain(editor, f"s{n}", falling(rate)) for editor, rate in rates.items() for n in range(2)]
    ranking = analyse(given(chains), FAST).ranking
    assert ranking.select("rank", "editor").rows() == [(1, "b"), (1, "c"), (3, "a")]


def test_one_source_gives_a_score_without_interval_and_no_significance(chain: Make, given: Given) -> None:
    result = analyse(given([chain("a", "s0", falling(0.1)), chain("b", "s0", falling(0.02))]), FAST)
    assert result.ranking["low"].to_list() == [None, None]
    row = result.pairwise.to_dicts()[0]
    assert (row["better"], row["p"], row["significant"], row["low"], row["exact"]) == ("b", 1.0, False, None, True)


def test_a_clear_difference_is_significant_after_holm_and_none_is_not(chain: Make, given: Given) -> None:
    generator = np.random.default_rng(6)
    chains = []
    for n in range(12):
        base = 0.05 + 0.01 * generator.random()
        for editor, extra in (("a", 0.0), ("b", 0.0), ("c", 0.03)):
            chains.append(chain(editor, f"s{n}", falling(base + extra + 0.002 * generator.normal())))
    pairwise = analyse(given(chains), FAST).pairwise
    by_name = {frozenset((row["better"], row["worse"])): row for row in pairwise.to_dicts()}
    assert by_name[frozenset("ac")]["significant"]
    assert by_name[frozenset("bc")]["significant"]
    assert not by_name[frozenset("ab")]["significant"]
    assert by_name[frozenset("ac")]["p"] == pytest.approx(2 / 2**12)
    for row in pairwise.to_dicts():
        assert row["low"] <= row["difference"] <= row["high"]
        assert row["difference"] >= 0
        assert row["p"] <= row["p_holm"]


def test_bca_is_used_when_asked(chain: Make, given: Given) -> None:
    chains = [chain("a", f"s{n}", falling(0.01 + 0.03 * (n == 7))) for n in range(8)]
    plain, better = (
        analyse(given(chains), replace(FAST, interval=kind, draws=2000)).ranking.to_dicts()[0]
        for kind in ("percentile", "bca")
    )
    assert plain["score"] == better["score"]
    assert better["low"] < plain["low"]  # the long tail is on the low side


def test_simulated_editors_are_marked(chain: Make, given: Given) -> None:
    chains = [chain("sim-a", "s0", falling(0.1)), chain("real", "s0", falling(0.2))]
    result = analyse(given(chains, simulated=["sim-a"]), FAST)
    assert dict(result.ranking.select("editor", "simulated").rows()) == {"sim-a": True, "real": False}
    assert result.ranking.select("rank", "editor", "reference").rows() == [
        (1, "real", ""),
        (None, "sim-a", "simulated"),
    ]
    assert "sim-a is a simulated editor, shown beside real ones for reference." in result.headline


def test_quality_and_meaning_are_ranked_by_themselves_too(chain: Make, given: Given) -> None:
    values = {"a": {"ssim": [0.9], "gist": [0.7]}, "b": {"ssim": [0.8], "gist": [0.9]}}
    chains = [chain(editor, f"s{n}", columns) for editor, columns in values.items() for n in range(6)]
    rows = {row["editor"]: row for row in analyse(given(chains), FAST).ranking.to_dicts()}
    assert (rows["a"]["quality_rank"], rows["a"]["semantic_rank"]) == (1, 2)
    assert (rows["b"]["quality_rank"], rows["b"]["semantic_rank"]) == (2, 1)
    assert rows["a"]["quality_low"] <= rows["a"]["quality"] <= rows["a"]["quality_high"]


def test_a_metric_without_an_area_cannot_be_scored(chain: Make, given: Given) -> None:
    with pytest.raises(StudyError, match="quality = 'psnr': it has no area; choose from ssim, lpips"):
        analyse(given([chain(values={"psnr": [30.0]})]), replace(FAST, quality=("psnr",)))
