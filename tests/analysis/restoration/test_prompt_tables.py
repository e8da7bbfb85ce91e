"""Table 2 and the effects of the wording, on values whose effects are known."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest
from scipy.stats import ttest_1samp

from convergebench.analysis.restoration.factors import SIDES, effects_of, wordings_p
from convergebench.claims.tables import PAPERS
from tests.analysis.restoration.results_world import PROMPTS, analysed, chain, only

EFFECTS = {"length": 0.2, "fidelity": 0.6, "interaction": -0.4}
CELLS = {"S": ("short", False), "SF": ("short", True), "L": ("long", False), "LF": ("long", True)}


def value(source: int, prompt: str, repeat: int, noise: float = 0.05) -> float:
    """20 dB and more, with known effects that differ from picture to picture."""
    facts = PROMPTS[prompt]
    length, fidelity = (0.5 if facts["length"] == "long" else -0.5), (0.5 if facts["fidelity"] else -0.5)
    own = 1 + 0.3 * np.sin(source)
    told = EFFECTS["length"] * length + EFFECTS["fidelity"] * fidelity + EFFECTS["interaction"] * length * fidelity
    draw = np.random.default_rng([source, repeat, *prompt.encode()])
    return float(20 + source + own * told + draw.normal(0, noise))


def study(
    pictures: int = 12, prompts: tuple[str, ...] = tuple(PROMPTS), repeats: int = 1, **more: Any
) -> list[dict[str, Any]]:
    return [
        chain(
            "a",
            f"p{source:02}.mixed",
            {"psnr": found, "lpips": 0.5 - found / 100},
            prompt=prompt,
            repeat=repeat,
            **more,
        )
        for source in range(pictures)
        for prompt in prompts
        for repeat in range(repeats)
        if (found := value(source, prompt, repeat))
    ]


def test_known_effects_are_found_with_their_sign_in_every_direction() -> None:
    found = analysed(study())
    shrink = np.mean([1 + 0.3 * np.sin(source) for source in range(12)])
    for effect, size in EFFECTS.items():
        row = only(found.factor_effects, metric="psnr", effect=effect)
        assert row["estimate"] == pytest.approx(size * shrink, abs=0.05)
        assert row["low"] < size * shrink < row["high"]
        assert row["significant"]
        assert row["p_holm"] >= row["p"]
        assert (row["n_cases"], row["n_sources"], row["n_missing"], row["note"]) == (12, 12, 0, "3 prompts a cell")
        opposite = only(found.factor_effects, metric="lpips", effect=effect)
        assert opposite["estimate"] == pytest.approx(-row["estimate"] / 100)
        assert opposite["better"] == row["better"], "a lower LPIPS is better"
    sides = dict(found.factor_effects.filter(metric="psnr").select("effect", "better").iter_rows())
    assert sides == {"length": "long", "fidelity": "with", "interaction": ""}


def test_holm_counts_all_metrics_and_effects_of_an_editor() -> None:
    frame = analysed(study()).factor_effects
    assert frame.height == 2 * len(SIDES)
    smallest = frame.sort("p").row(0, named=True)
    assert smallest["p_holm"] == pytest.approx(min(1.0, smallest["p"] * frame.height))


def test_an_effect_that_does_not_survive_the_correction_is_not_significant() -> None:
    row = only(analysed(study(7)).factor_effects, metric="psnr", effect="fidelity")
    assert row["p"] == pytest.approx(2 / 128)
    assert row["p_holm"] > 0.05
    assert (row["significant"], row["better"]) == (False, "")


def test_the_unit_is_the_photograph_not_the_picture_and_not_the_repeat() -> None:
    one = analysed(study(6)).factor_effects
    copied = [
        *study(6, repeats=3),
        *({**row, "source": row["source"].replace("mixed", "old-film"), "kind": "old-film",
           "case": row["case"].replace("mixed", "old-film")} for row in study(6, repeats=3)),
    ]  # fmt: skip
    many = analysed(copied).factor_effects
    assert set(many["n_sources"]) == {6}
    assert set(many["n_cases"]) == {12}
    p = [only(frame, metric="psnr", effect="fidelity")["p"] for frame in (one, many)]
    assert p == [pytest.approx(2 / 64)] * 2, "six photographs cannot say more, however often they are asked"


def test_with_three_pictures_nothing_is_claimed() -> None:
    found = analysed(study(3))
    assert not found.factor_effects["significant"].any()
    assert found.factor_effects["low"].null_count() == found.factor_effects.height
    assert "with 3 photographs no outcome could be significant" in " ".join(found.headline)


def test_a_picture_without_one_prompt_is_left_out_and_counted() -> None:
    rows = [one for one in study(8) if one["case"] != "p03.mixed/S2/0"]
    rows.append(chain("a", "p03.mixed", prompt="S2", status="refused"))
    found = analysed(rows, {"psnr": 20.0, "lpips": 0.3})
    row = only(found.factor_effects, metric="psnr", effect="length")
    assert (row["n_cases"], row["n_missing"]) == (7, 1)
    assert set(found.prompt_results.filter(metric="psnr")["n_cases"]) == {7}, "all prompts on the same pictures"
    assert set(found.prompt_results.filter(metric="psnr")["n_missing"]) == {1}


def test_a_prompt_that_was_hardly_answered_does_not_take_the_others_pictures_away() -> None:
    rows = [one for one in study(8) if one["pair"] != "S2" or one["source"] == "p00.mixed"]
    rows += [chain("a", f"p{number:02}.mixed", prompt="S2", status="refused") for number in range(1, 8)]
    found = analysed(rows, {"psnr": 20.0, "lpips": 0.3}).prompt_results.filter(metric="psnr")
    assert only(found, row="L1")["n_cases"] == 8
    assert (only(found, row="S2")["n_cases"], only(found, row="S2")["best"]) == (1, False)


@pytest.mark.parametrize(
    ("prompts", "effects", "note"),
    [
        (("S1", "L1"), ["length"], "without a request for fidelity only; 1 prompt a cell"),
        (("SF1", "LF1", "L1"), ["length", "fidelity"], "with a request for fidelity only; 1 prompt a cell"),
        (("L3", "LF1", "S1", "SF2"), ["length", "fidelity", "interaction"], "1 prompt a cell"),
        (("LF3",), [], ""),
    ],
)
def test_missing_cells_are_told(prompts: tuple[str, ...], effects: list[str], note: str) -> None:
    found = analysed(study(7, prompts)).factor_effects.filter(metric="psnr")
    assert found["effect"].to_list() == effects
    assert not effects or found["note"][0] == note
    assert found["p_wordings"].null_count() == found.height, "one prompt in each cell says nothing of wordings"


def test_prompts_outside_of_a_design_have_no_effects() -> None:
    own = {name: {"group": name, "length": None, "fidelity": None, "instructions": ["Restore."]} for name in ("x", "y")}
    rows = [
        chain("a", f"p{n}.mixed", {"psnr": 20.0 + n + (name == "y")}, prompt=name) for n in range(6) for name in own
    ]
    found = analysed(rows, pairs=own)
    assert found.factor_effects.height == 0
    assert found.prompt_results.select("row", "level", "best").rows() == [("x", "prompt", False), ("y", "prompt", True)]
    assert found.unified == "x"


def test_an_effect_of_one_wording_is_not_taken_for_one_of_its_cell() -> None:
    """One long prompt is far better: on these prompts length matters, for others nothing is known."""
    rows = [
        chain(
            "a",
            f"p{n:02}.mixed",
            {"psnr": 20 + n + 3.0 * (prompt == "L2") + 0.01 * ((n * len(prompt)) % 3)},
            prompt=prompt,
        )
        for n in range(14)
        for prompt in PROMPTS
    ]
    found = analysed(rows)
    row = only(found.factor_effects, metric="psnr", effect="length")
    assert row["significant"]
    assert row["p_wordings"] > 0.2
    assert any("other wordings may not show it" in sentence for sentence in found.headline)


def test_where_wordings_agree_pictures_still_are_a_sample() -> None:
    """Then p_wordings is Student's over pictures."""
    gains = [0.9, -0.2, 0.4, 0.1, -0.5, 0.8, 0.3, 0.2]
    rows = [
        chain("a", f"p{n}.mixed", {"psnr": 20 + n + gain * (PROMPTS[prompt]["length"] == "long")}, prompt=prompt)
        for n, gain in enumerate(gains)
        for prompt in PROMPTS
    ]
    row = only(analysed(rows).factor_effects, metric="psnr", effect="length")
    assert row["p_wordings"] == pytest.approx(ttest_1samp(gains, 0).pvalue)


def test_the_papers_effect_of_length_is_within_the_spread_of_its_wordings() -> None:
    table = pl.read_csv(PAPERS / "nb2_prompt_results.csv").filter(kind="prompt")
    effects = {one.name: one.weights for one in effects_of({cell: ["1", "2", "3"] for cell in CELLS.values()})}
    p = {
        (effect, metric): wordings_p(
            {cell: table.filter(group=name)[metric].to_list() for name, cell in CELLS.items()}, weights
        )
        for effect, weights in effects.items()
        for metric in table.columns[3:]
    }
    assert min(value for (effect, _), value in p.items() if effect == "length" and value) > 0.38
    assert [p["fidelity", metric] < 0.0105 for metric in ("MUSIQ", "MANIQA", "CLIP-IQA")] == [True] * 3  # type: ignore[operator]


def test_table_2_has_the_papers_rows_in_its_order_with_means_of_means() -> None:
    found = analysed(study(), {}).prompt_results.filter(metric="psnr")
    printed = pl.read_csv(PAPERS / "nb2_prompt_results.csv")
    assert [row.replace(" ", "") for row in found["row"]] == [row.replace(" ", "") for row in printed["prompt"]]
    assert found["paper"].to_list() == printed["PSNR"].to_list()
    means = dict(found.select("row", "mean").iter_rows())
    assert means["L2"] == pytest.approx(np.mean([value(source, "L2", 0) for source in range(12)]))
    assert means["Avg(SF)"] == pytest.approx(np.mean([means[name] for name in ("SF1", "SF2", "SF3")]))
    assert means["Avg (S + SF)"] == pytest.approx((means["Avg(S)"] + means["Avg(SF)"]) / 2)
    assert found.filter("best")["row"].to_list()[-1] in ("Avg (L + LF)", "Avg (S + SF)")
    assert found.filter("best").height == 3, "one of each level"


def test_other_words_under_the_papers_names_are_not_held_against_its_numbers() -> None:
    own = {**PROMPTS, "S2": {**PROMPTS["S2"], "instructions": ["Make it nice."]}}
    found = analysed(study(), pairs=own).prompt_results.filter(metric="psnr")
    known = dict(found.select("row", "paper").iter_rows())
    assert known["S1"] == 22.92
    assert [known[name] for name in ("S2", "Avg(S)", "Avg (S + SF)")] == [None] * 3


def test_a_method_that_reads_no_words_has_no_prompt_table() -> None:
    found = analysed(study(), uninstructed=frozenset({"a"}))
    assert found.prompt_results.height == found.factor_effects.height == 0
