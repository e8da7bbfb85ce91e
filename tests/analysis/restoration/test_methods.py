"""Tables 4 and 5: methods on the same pictures, beside doing nothing; and what does not pay."""

from __future__ import annotations

from math import inf, sin
from typing import Any

import pytest

from convergebench.analysis.restoration.tradeoff import on_front
from tests.analysis.restoration.results_world import analysed, chain, only

INPUT = {"psnr": 20.0, "lpips": 0.4, "piqe": 50.0}


def results(editor: str, gain: float, pictures: int = 10, **more: Any) -> list[dict[str, Any]]:
    """A method that gains so many dB, a little more on some pictures than on others."""
    found = []
    for number in range(pictures):
        more_or_less = gain * (1 + 0.2 * sin(number))
        values = {"psnr": 20 + more_or_less, "lpips": 0.4 - more_or_less / 50, "piqe": 50 - more_or_less}
        found.append(chain(editor, f"p{number:02}.mixed", values, **more))
    return found


def test_the_best_is_better_than_the_input_and_the_headline_says_by_how_much() -> None:
    found = analysed([*results("good", 3), *results("fair", 1)], INPUT)
    table = found.method_results.filter(metric="psnr")
    good = only(table, editor="good")
    assert good["mean"] == pytest.approx(23, abs=0.2)
    assert good["gain_low"] < good["gain"] < good["gain_high"]
    assert (good["best"], good["improved"], good["coverage"], good["n_cases"]) == (True, 1.0, 1.0, 10)
    assert only(table, editor="input")["mean"] == 20
    assert only(found.method_results, metric="lpips", editor="good")["gain"] > 0, "a lower LPIPS is a gain"
    assert found.headline[0].startswith("good restores best by PSNR: it gains 3.12 dB over the degraded input (95%:")
    assert "more than fair, the next (95%:" in found.headline[0]


def test_doing_nothing_is_never_the_best() -> None:
    found = analysed([*results("lazy", 0), *results("harmful", -2)], INPUT)
    assert not found.method_results["best"].any()
    assert not found.category_results["best"].any()
    assert only(found.method_results, metric="psnr", editor="lazy")["note"] == "same as the input on every picture"
    assert found.headline[0].startswith("No method beats the degraded input in PSNR: the best, lazy")
    assert "lazy changed nothing: every result has the PSNR of its input." in found.headline
    assert any(one.startswith("harmful makes pictures worse: by PSNR it loses 2.0") for one in found.headline)
    assert only(found.method_results, metric="psnr", editor="harmful")["note"] == "worse than the input"


def test_a_gain_that_chance_explains_is_not_called_restoring() -> None:
    lucky = [chain("lucky", f"p{n}.mixed", {"psnr": 20 + (0.5 if n % 2 else -0.4)}) for n in range(8)]
    found = analysed(lucky, {"psnr": 20.0})
    assert found.headline[0].startswith("No method significantly improves PSNR: the best, lucky, gains 0.05 dB")


def test_methods_that_cannot_be_told_apart_share_the_lead() -> None:
    one, two = results("one", 2), results("two", 2)
    for number, row in enumerate(two):
        row["values"] = ({**row["values"][0], "psnr": row["values"][0]["psnr"] + (0.3 if number % 2 else -0.25)},)
    found = analysed([*one, *two], INPUT)
    assert "lead in PSNR and do not differ significantly" in found.headline[0]
    assert found.method_results.filter(metric="psnr")["best"].sum() == 1, "the table still shows the best mean"


def test_refusing_the_hard_pictures_gains_nothing() -> None:
    """Pictures 6 to 9 are hard. One method restores all, the other only answers the easy ones."""

    def gain(number: int) -> float:
        return 5.0 if number < 6 else 0.5

    every = [chain("honest", f"p{n}.mixed", {"psnr": 20 + gain(n)}) for n in range(10)]
    easy = [chain("picky", f"p{n}.mixed", {"psnr": 19.9 + gain(n)}) for n in range(6)]
    easy += [chain("picky", f"p{n}.mixed", status="refused") for n in range(6, 10)]
    found = analysed([*every, *easy], {"psnr": 20.0})
    table = found.method_results.filter(metric="psnr")
    assert only(table, editor="honest")["n_cases"] == 10, "who refuses does not choose the pictures of others"
    picky = only(table, editor="picky")
    assert (picky["coverage"], picky["best"]) == (0.6, False)
    assert picky["note"] == "delivered 60%, too little to be compared"
    assert only(table, editor="honest")["best"]
    assert "picky" not in set(found.method_contrasts["better"]) | set(found.method_contrasts["worse"])
    assert "picky delivered 60% of its results and is not ranked: 80% are needed." in found.headline
    assert found.restored.filter(editor="picky", status="refused").height == 4, "a refusal is a row without a value"


def test_pictures_that_cannot_be_measured_because_of_the_method_are_not_delivered() -> None:
    blank = [chain("blank", f"p{n:02}.mixed", {"psnr": 25.0 if n < 4 else "featureless"}) for n in range(8)]
    found = analysed([*blank, *results("honest", 1, 8)], INPUT)
    assert only(found.method_results, metric="psnr", editor="blank")["coverage"] == 0.5
    assert not only(found.method_results, metric="psnr", editor="blank")["best"]


def test_a_method_that_was_run_on_two_pictures_does_not_shrink_the_comparison() -> None:
    found = analysed([*results("all", 2), *results("two", 9, pictures=2)], INPUT)
    assert only(found.method_results, metric="psnr", editor="all")["n_cases"] == 10
    assert only(found.method_results, metric="psnr", editor="two")["coverage"] == 0.2
    assert not only(found.method_results, metric="psnr", editor="two")["best"]


def test_answering_a_repeat_again_and_again_does_not_count_as_more_pictures() -> None:
    once = analysed(results("a", 1, 6), INPUT)
    often = analysed([row for repeat in range(9) for row in results("a", 1, 6, repeat=repeat)], INPUT)
    assert only(often.method_results, metric="psnr", editor="a")["n_cases"] == 6
    assert often.method_contrasts["p"].to_list() == once.method_contrasts["p"].to_list()


def test_a_result_equal_to_the_clean_picture_counts_100_db() -> None:
    found = analysed([chain("copy", f"p{n}.mixed", {"psnr": inf}) for n in range(6)], {"psnr": 20.0})
    row = only(found.method_results, metric="psnr", editor="copy")
    assert (row["mean"], row["gain"]) == (100.0, 80.0)


def test_simulated_methods_stand_beside_real_ones() -> None:
    rows = [*results("real", 1), *results("dream", 9)]
    found = analysed(rows, INPUT, simulated=frozenset({"dream"}))
    assert found.method_results.filter("best")["editor"].unique().to_list() == ["real"]
    assert found.headline[0].startswith("real restores: by PSNR it gains")
    assert "dream is a simulated method, shown for comparison." in found.headline
    alone = analysed(rows, INPUT, simulated=frozenset({"dream", "real"}))
    assert alone.method_results.filter("best")["editor"].unique().to_list() == ["dream"]
    assert "nothing here is a finding about a model" in alone.headline[-1]


def test_pictures_of_one_photograph_are_one_unit() -> None:
    rows = [
        chain(name, f"p{n}.{damage}", {"psnr": 20 + gain + 0.1 * sin(n)})
        for n in range(4)
        for damage in ("mixed", "motion-blur", "old-film")
        for name, gain in (("a", 1.0), ("b", 2.0))
    ]
    found = analysed(rows, {"psnr": 20.0})
    row = only(found.method_results, metric="psnr", editor="a")
    assert (row["n_cases"], row["n_sources"]) == (12, 4)
    assert row["low"] is None, "twelve pictures of four photographs have no interval"
    assert found.method_contrasts["p"].min() == 0.125
    unknown = analysed(rows, {"psnr": 20.0}, sources={})
    assert only(unknown.method_results, metric="psnr", editor="a")["n_sources"] == 12, "as imported runs have them"


def test_a_kind_without_clean_pictures_has_no_values_of_metrics_that_compare() -> None:
    rows: list[dict[str, Any]] = []
    inputs: dict[str, dict[str, float]] = {}
    for n in range(5):
        inputs |= {f"p{n}.mixed": {"psnr": 20.0, "piqe": 50.0}, f"p{n}.motion-blur": {"piqe": 40.0}}
        for name, gain in (("a", 1), ("b", 2)):
            rows.append(chain(name, f"p{n}.mixed", {"psnr": 20 + gain, "piqe": 50 - gain}))
            rows.append(chain(name, f"p{n}.motion-blur", {"piqe": 40 - gain}))
    found = analysed(rows, inputs)
    table = found.category_results
    assert table.select("category", "title", "set").unique(maintain_order=True).rows() == [
        ("text", "Text", "scene"),
        ("motion-blur", "Motion Blur", "degradation"),
    ]
    cell = only(table, category="motion-blur", metric="psnr", editor="a")
    assert (cell["mean"], cell["note"], cell["n_missing"]) == (None, "no reference", 0)
    assert only(table, category="motion-blur", metric="piqe", editor="b")["best"]
    assert only(found.method_results, metric="psnr", editor="a")["n_cases"] == 5
    assert only(found.method_results, metric="piqe", editor="a")["n_cases"] == 10
    assert set(found.tradeoff["n_cases"]) == {5}, "a point is of one set of pictures"


def test_without_any_clean_picture_the_headline_says_what_scores_mean() -> None:
    rows = [chain("a", f"p{n}", {"piqe": 30.0 + n}) for n in range(6)]
    found = analysed(rows, {"piqe": 50.0})
    assert found.metrics == ("piqe",)
    assert found.headline[0] == ("No clean reference images: the scores measure appearance, not fidelity.")
    assert found.headline[1].startswith("a restores: by piqe it gains 17.5 over the degraded input")
    assert found.tradeoff.height == 0


def test_the_papers_numbers_stand_beside_methods_of_its_names_only() -> None:
    found = analysed([*results("HYPIR", 1), *results("mine", 1)], INPUT)
    assert only(found.method_results, metric="psnr", editor="HYPIR")["paper"] == 21.307
    assert only(found.category_results, metric="lpips", editor="HYPIR")["paper"] == 0.228
    assert only(found.method_results, metric="psnr", editor="mine")["paper"] is None


def test_looks_and_closeness_may_have_different_favourites() -> None:
    sharp = [chain("sharp", f"p{n}.mixed", {"psnr": 20.5 + n / 9, "piqe": 20.0}) for n in range(8)]
    true = [chain("true", f"p{n}.mixed", {"psnr": 23.0 + n / 9, "piqe": 45.0}) for n in range(8)]
    found = analysed([*sharp, *true], {"psnr": 20.0, "piqe": 50.0})
    assert (
        "sharp has the best mean piqe (no reference), true the best mean PSNR (against the clean image)."
    ) in found.headline
    front = found.tradeoff.filter(level="method")
    assert dict(front.select("editor", "pareto").iter_rows()) == {"sharp": True, "true": True, "input": False}


def test_a_method_worse_than_the_input_in_both_is_off_the_front() -> None:
    found = analysed(results("bad", -1), INPUT).tradeoff
    front = found.filter(level="method", distortion_metric="psnr")
    assert dict(front.select("editor", "pareto").iter_rows()) == {"bad": False, "input": True}


def test_the_front() -> None:
    assert on_front([(1, 3), (2, 2), (3, 1), (1, 1), (2, 2)]) == [True, True, True, False, True]
    assert on_front([(1, 1), (1, 2)]) == [False, True]
    assert on_front([]) == []


def test_a_method_asked_with_another_prompt_only_is_compared_by_that() -> None:
    rows = [*results("a", 1), *results("elsewhere", 2, prompt="S1")]
    found = analysed(rows, INPUT)
    assert found.unified == "LF3"
    assert only(found.method_results, metric="psnr", editor="elsewhere")["n_cases"] == 10


def test_an_empty_run_has_empty_tables() -> None:
    found = analysed([])
    assert found.headline == ("No result has been measured yet.",)
    assert {frame.height for frame in found.tables().values()} == {0}
    unmeasured = analysed([chain("a", "p1.mixed", status="open")])
    assert unmeasured.headline == found.headline


def test_a_run_in_which_everything_was_refused_says_so() -> None:
    found = analysed([chain("a", f"p{n}.mixed", status="refused") for n in range(6)], {"psnr": 20.0})
    assert found.headline[0] == "No method delivered enough results to be compared."
    row = only(found.method_results, metric="psnr", editor="a")
    assert (row["mean"], row["coverage"], row["best"], row["n_missing"]) == (None, 0.0, False, 6)


@pytest.mark.parametrize("name", ["<script>alert(1)</script>", "a/b", "ünïcode ✓", "input2", ""])
def test_names_are_only_names(name: str) -> None:
    assert only(analysed(results(name, 1), INPUT).method_results, metric="psnr", editor=name)["best"]
