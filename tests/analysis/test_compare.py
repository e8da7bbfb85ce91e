from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from convergebench.analysis import AnalysisInput, AnalysisSettings, analyse
from convergebench.analysis.score import Score
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
    assert result.formula == "C = 100·√(Q·S) (lpips not measured); Q = AUC of ssim; S = AUC of gist"


def test_a_perfect_editor_scores_exactly_one_hundred(chain: Make, given: Given) -> None:
    row = analyse(given([chain(source=f"s{n}", values=falling(0)) for n in range(3)]), FAST).ranking.to_dicts()[0]
    assert (row["score"], row["low"], row["high"]) == (100, 100, 100)


def test_without_the_semantic_metric_the_score_is_quality_alone_and_says_so(chain: Make, given: Given) -> None:
    values = {"ssim": falling(0.1)["ssim"]}
    result = analyse(given([chain(values=values)]), FAST)
    assert result.ranking["score"].to_list() == [pytest.approx(80)]
    assert result.ranking["semantic"].to_list() == [None]
    assert result.formula == "C = 100·Q (lpips and gist not measured); Q = AUC of ssim"


def test_two_negative_areas_do_not_make_a_score() -> None:
    assert Score(("ssim",), "gist").value(np.array([-0.5, -0.5, 1.0])) == 0


def test_only_common_finished_cases_count(chain: Make, given: Given) -> None:
    chains = [
        *(chain("a", f"s{n}", falling(0.02)) for n in range(4)),
        *(chain("b", f"s{n}", falling(0.05)) for n in range(3)),
        chain("b", "s3", {"ssim": [0.1], "gist": [0.1]}, status="refused", planned=4),
    ]
    rows = {row["editor"]: row for row in analyse(given(chains), FAST).ranking.to_dicts()}
    assert [rows[name]["n_cases"] for name in "ab"] == [3, 3]
    assert [rows[name]["n_left_out"] for name in "ab"] == [1, 1]
    assert rows["b"]["quality"] == pytest.approx(0.9)
    assert rows["b"]["n_finished"] == 3


def test_an_editor_that_finished_nothing_comes_last_and_spoils_nothing(chain: Make, given: Given) -> None:
    chains = [
        *(chain("broken", f"s{n}", {}, status="failed", planned=4) for n in range(3)),
        *(chain("a", f"s{n}", falling(0.05)) for n in range(3)),
        *(chain("b", f"s{n}", falling(0.02)) for n in range(3)),
    ]
    result = analyse(given(chains), FAST)
    assert result.ranking["editor"].to_list() == ["b", "a", "broken"]
    assert result.ranking["rank"].to_list() == [1, 2, None]
    assert result.ranking["score"].to_list()[2] is None
    assert result.ranking["half_life"].to_list()[2] is None
    assert result.ranking["n_left_out"].to_list() == [0, 0, 3]
    assert result.pairwise.height == 1


def test_a_finished_case_without_a_value_is_left_out_for_all_and_counted(chain: Make, given: Given) -> None:
    blank = {"ssim": [None] * 4, "gist": falling(0.1)["gist"]}
    chains = [
        *(chain("a", f"s{n}", falling(0.05)) for n in range(3)),
        *(chain("b", f"s{n}", falling(0.02) if n else blank) for n in range(3)),
    ]
    rows = {row["editor"]: row for row in analyse(given(chains), FAST).ranking.to_dicts()}
    assert (rows["a"]["n_cases"], rows["a"]["n_missing"]) == (2, 0)
    assert (rows["b"]["n_cases"], rows["b"]["n_missing"]) == (2, 1)


@pytest.mark.parametrize("seen", [[0.99, None, None, None], [None, None, None, 0.99]])
def test_a_finished_case_that_is_measured_in_part_is_left_out(
    chain: Make, given: Given, seen: list[float | None]
) -> None:
    partly = {"ssim": seen, "gist": [0.99, 0.9, 0.8, 0.7]}
    chains = [
        *(chain("a", f"s{n}", falling(0.05)) for n in range(3)),
        *(chain("b", f"s{n}", falling(0.1) if n else partly) for n in range(3)),
    ]
    result = analyse(given(chains), FAST)
    rows = {row["editor"]: row for row in result.ranking.to_dicts()}
    assert rows["b"]["quality"] == pytest.approx(0.8)
    assert [(rows[name]["n_cases"], rows[name]["n_missing"]) for name in "ab"] == [(2, 0), (2, 1)]
    said = "1 of 3 finished chains of b lacks a value of ssim or gist and is left out of the ranking for all."
    assert said in result.headline


def test_recordings_of_different_length_are_scored_over_the_rounds_that_all_have(chain: Make, given: Given) -> None:
    chains = [
        *(chain("long", f"s{n}", falling(0.05, 6)) for n in range(3)),
        *(chain("short", f"s{n}", falling(0.05, 2 if n else 6)) for n in range(3)),
    ]
    result = analyse(given(chains), FAST)
    assert result.ranking["rank"].to_list() == [1, 1]
    assert result.ranking["quality"].to_list() == pytest.approx([(0.85 + 0.95 + 0.95) / 3] * 2)
    assert "2 chains of the ranking are scored only as far as all editors went with the case." in result.headline


def test_usable_rounds_in_the_ranking_count_what_was_refused(chain: Make, given: Given) -> None:
    chains = [
        *(chain("steady", f"s{n}", falling(0.001)) for n in range(4)),
        chain("unwilling", "s0", falling(0.001)),
        *(chain("unwilling", f"s{n}", {}, status="refused", planned=4) for n in range(1, 4)),
        *(chain("never", f"s{n}", {}, status="refused", planned=4) for n in range(4)),
    ]
    rows = {row["editor"]: row for row in analyse(given(chains), FAST).ranking.to_dicts()}
    assert {name: row["usable"] for name, row in rows.items()} == {"steady": "> 4", "unwilling": "1", "never": "1"}
    assert rows["unwilling"]["half_life"] == "> 4"  # on the one case that both finished


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
    assert "sim-a is a simulated editor, shown beside real ones for scale." in result.headline


def test_quality_and_meaning_are_ranked_by_themselves_too(chain: Make, given: Given) -> None:
    values = {"a": {"ssim": [0.9], "gist": [0.7]}, "b": {"ssim": [0.8], "gist": [0.9]}}
    chains = [chain(editor, f"s{n}", columns) for editor, columns in values.items() for n in range(3)]
    rows = {row["editor"]: row for row in analyse(given(chains), FAST).ranking.to_dicts()}
    assert (rows["a"]["quality_rank"], rows["a"]["semantic_rank"]) == (1, 2)
    assert (rows["b"]["quality_rank"], rows["b"]["semantic_rank"]) == (2, 1)
    assert rows["a"]["quality_low"] <= rows["a"]["quality"] <= rows["a"]["quality_high"]


def test_a_metric_without_an_area_cannot_be_scored(chain: Make, given: Given) -> None:
    with pytest.raises(StudyError, match="quality = 'psnr': it has no area; choose from ssim, lpips"):
        analyse(given([chain(values={"psnr": [30.0]})]), replace(FAST, quality=("psnr",)))
