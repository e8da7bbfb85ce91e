"""Restoring a result again, and how often results are unfaithful, by rule and by people."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest

from tests.analysis.restoration.results_world import analysed, chain, label, labels, only

PICTURES = tuple(f"p{number}.mixed" for number in range(8))


def rounds(*psnr: float, **more: Any) -> list[dict[str, Any]]:
    return [
        chain("a", source, *({"psnr": one + place / 10} for one in psnr), **more)
        for place, source in enumerate(PICTURES)
    ]


def test_rounds_are_compared_with_the_round_before() -> None:
    found = analysed(rounds(22.0, 23.0, 22.5), {"psnr": 20.0})
    table = found.refinement
    assert table["round"].to_list() == [0, 1, 2, 3]
    assert table["mean"].to_list() == pytest.approx([20, 22.35, 23.35, 22.85])
    assert table["gain"].to_list()[1:] == pytest.approx([2.35, 1.0, -0.5])
    assert table["gain"][0] is None
    assert only(table, round=2)["gain_low"] == pytest.approx(1.0)
    assert "A second round by a improves PSNR by 1.00 dB (95%: 1.00–1.00; 8 photographs)." in found.headline
    assert only(found.method_results, metric="psnr", editor="a")["mean"] == pytest.approx(22.35), "methods: round 1"


def test_a_second_round_that_harms_is_said() -> None:
    found = analysed(rounds(22.0, 21.0), {"psnr": 20.0})
    assert "A second round by a worsens PSNR by 1.00 dB (95%: 1.00–1.00; 8 photographs)." in found.headline


def test_a_chain_that_stopped_early_is_left_out_of_all_rounds() -> None:
    short = chain("a", PICTURES[0], {"psnr": 40.0}, status="refused", planned=2)
    found = analysed([*rounds(22.0, 23.0)[1:], short], {"psnr": 20.0}).refinement
    assert set(found.filter(pl.col("round") > 0)["n_cases"]) == {7}
    assert set(found["n_missing"]) == {1}


def test_one_round_is_no_refinement() -> None:
    assert analysed(rounds(22.0), {"psnr": 20.0}).refinement.height == 0


def answers() -> list[dict[str, Any]]:
    return [
        chain("a", source, {"psnr": 22.0}, prompt=prompt)
        for source in PICTURES
        for prompt in ("S1", "S2", "SF1", "SF2")
    ]


def seen(prompt: str, present: bool, *, mode: str = "structure-change", **more: Any) -> list[dict[str, Any]]:
    return [label("a", f"{source}/{prompt}/0", mode, present, **more) for source in PICTURES]


def test_shares_are_by_prompt_and_by_the_request_for_fidelity() -> None:
    given = labels(*seen("S1", True), *seen("S2", True), *seen("SF1", False), *seen("SF2", False))
    found = analysed(answers(), {"psnr": 20.0}, labels=given)
    own = found.infidelity.filter(mode="any", said_by="rule")
    assert own.select("prompt", "fidelity", "cases", "n").rows() == [
        ("S1", False, 8, 8),
        ("S2", False, 8, 8),
        ("SF1", True, 0, 8),
        ("SF2", True, 0, 8),
        ("all", False, 16, 16),
        ("all", True, 0, 16),
    ]
    assert own["per_prompt"].to_list()[-2:] == [8.0, 0.0], "the paper's 2 and 0.5 on 35 pictures"
    assert 0 < only(own, prompt="SF1")["high"] < 0.6, "none of eight is not never"
    effect = only(found.infidelity_effects, mode="any", said_by="rule")
    assert (effect["without"], effect["with"], effect["difference"]) == (1.0, 0.0, -1.0)
    assert (effect["p"], effect["significant"], effect["n_sources"]) == (2 / 256, True, 8)
    assert any(one.startswith("Rules propose an unfaithful or overdone result of a in 0%") for one in found.headline)


def test_people_and_rules_are_counted_apart_and_people_come_first() -> None:
    given = labels(
        *(one for prompt in ("S1", "S2", "SF1", "SF2") for one in seen(prompt, True)),
        *seen("S1", True, source="person", by="ann"),
        *seen("SF1", False, source="person", by="ann"),
    )
    found = analysed(answers(), {"psnr": 20.0}, labels=given)
    rule, person = (found.infidelity.filter(mode="any", said_by=voice) for voice in ("rule", "person"))
    assert only(rule, prompt="SF1")["cases"] == 8
    assert only(person, prompt="SF1")["cases"] == 0
    assert (only(person, prompt="S2")["n"], only(person, prompt="S2")["n_unknown"]) == (0, 8), "nobody looked"
    assert [one[:10] for one in found.headline if "unfaithful" in one] == ["People see"]


def test_several_people_decide_by_majority_and_a_tie_is_unknown() -> None:
    votes = {"S1": {"ann": True, "bob": True, "cid": False}, "SF1": {"ann": True, "bob": False}}
    given = labels(
        *(
            row
            for prompt, people in votes.items()
            for by, present in people.items()
            for row in seen(prompt, present, source="person", by=by)
        )
    )
    found = analysed(answers(), {"psnr": 20.0}, labels=given).infidelity.filter(mode="any")
    assert only(found, prompt="S1")["share"] == 1
    assert (only(found, prompt="SF1")["n"], only(found, prompt="SF1")["n_unknown"]) == (0, 8)


def test_any_is_true_if_one_mode_is_and_unknown_if_one_is_undecided() -> None:
    modes = ("structure-change", "invented-edges")
    cases = [f"{source}/S1/0" for source in PICTURES[:3]]
    given = [label("a", cases[0], modes[0], True), label("a", cases[0], modes[1], None)]
    given += [label("a", cases[1], modes[0], False), label("a", cases[1], modes[1], None)]
    given += [label("a", cases[2], mode, False) for mode in modes]
    row = only(analysed(answers(), {"psnr": 20.0}, labels=labels(*given)).infidelity, mode="any", prompt="S1")
    assert (row["cases"], row["n"], row["n_unknown"]) == (1, 2, 6)


def test_a_refused_chain_is_no_faithful_one_and_other_failures_do_not_count() -> None:
    rows = [*answers()[4:], chain("a", PICTURES[0], prompt="S1", status="refused")]
    given = labels(*seen("S1", False), *seen("S1", True, mode="static-noise"))
    found = analysed(rows, {"psnr": 20.0}, labels=given).infidelity
    assert set(found["mode"]) == {"any", "structure-change"}
    assert only(found, mode="any", prompt="S1")["n"] == 7


def test_without_labels_there_are_no_rows() -> None:
    found = analysed(answers(), {"psnr": 20.0})
    assert found.infidelity.height == found.infidelity_effects.height == 0
