"""N1 to N9 on the tables of a restoration run, in either direction."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl
import pytest

from convergebench.analysis.restoration.result import SCHEMAS
from convergebench.claims.check import check
from convergebench.claims.read import find, read_claims
from convergebench.conductor.analyse import analyse_run
from tests.restoration_run import restoration_run

YES, NO, UNKNOWN = "holds", "does not hold", "cannot be told"


def answers(run: Path, **names: str) -> dict[str, str]:
    files = [read_claims(find("nano-banana-2"), names)]
    return {one.claim.id: one.verdict for one in check(files, [run]).results if one.run is not None}


def put(run: Path, name: str, *rows: dict[str, Any]) -> Path:
    folder = run / "tables"
    folder.mkdir(parents=True, exist_ok=True)
    columns = SCHEMAS[name]
    assert all(set(row) <= set(columns) for row in rows)
    pl.DataFrame([{**dict.fromkeys(columns), **row} for row in rows], schema=columns).write_parquet(
        folder / f"{name}.parquet"
    )
    return run


def effect(name: str, metric: str, better: str) -> dict[str, Any]:
    return {"editor": "a", "effect": name, "metric": metric, "significant": bool(better), "better": better}


@pytest.mark.parametrize(
    ("claim", "effect_name", "metrics", "side", "other"),
    [
        ("N1", "length", ("psnr", "piqe"), "long", "short"),
        ("N2", "fidelity", ("psnr", "lpips"), "with", "without"),
        ("N3", "fidelity", ("musiq", "clipiqa"), "without", "with"),
    ],
)
def test_effects_of_the_prompt(
    claim: str, effect_name: str, metrics: tuple[str, str], side: str, other: str, tmp_path: Path
) -> None:
    one, two = (effect(effect_name, metric, side) for metric in metrics)
    assert answers(put(tmp_path / "yes", "factor_effects", one, two))[claim] == YES
    assert answers(put(tmp_path / "no", "factor_effects", one, {**two, "better": other}))[claim] == NO
    assert answers(put(tmp_path / "unsure", "factor_effects", one, effect(effect_name, metrics[1], "")))[claim] == NO
    assert answers(put(tmp_path / "none", "factor_effects", effect("other", "psnr", side)))[claim] == UNKNOWN


def test_stability_is_a_matter_of_tests_and_of_spread(tmp_path: Path) -> None:
    calm = {"prompt": "S1", "metric": "psnr", "p": 0.02, "significant_holm": False, "spread": 0.1, "between": 3.0}
    assert [answers(put(tmp_path / "a", "stability", calm))[name] for name in ("N4", "N5")] == [YES, YES]
    wild = {**calm, "spread": 2.0}
    assert [answers(put(tmp_path / "b", "stability", calm, wild))[name] for name in ("N4", "N5")] == [YES, NO]
    tired = {**calm, "significant_holm": True}
    assert answers(put(tmp_path / "c", "stability", calm, tired))["N4"] == NO


def test_infidelity_by_people_and_by_rules(tmp_path: Path) -> None:
    person = {"mode": "any", "said_by": "person", "high": -0.1}
    rule = {"mode": "any", "said_by": "rule", "high": 0.2}
    found = answers(put(tmp_path, "infidelity_effects", person, rule))
    assert (found["N6"], found["N7"]) == (YES, NO)


def test_the_restorer_is_named_by_whoever_asks(tmp_path: Path) -> None:
    rows = [{"editor": "mine", "metric": metric, "best": best} for metric, best in (("psnr", True), ("ssim", True))]
    other = {"editor": "other", "metric": "psnr", "best": False}
    assert answers(put(tmp_path / "a", "method_results", *rows, other), restorer="mine")["N8"] == YES
    assert answers(tmp_path / "a", restorer="other")["N8"] == NO
    assert answers(tmp_path / "a")["N8"] == UNKNOWN


def test_a_second_round_must_gain_in_every_metric(tmp_path: Path) -> None:
    good = {"round": 2, "metric": "psnr", "gain": 0.5, "gain_low": 0.2}
    assert answers(put(tmp_path / "a", "refinement", good))["N9"] == YES
    assert answers(put(tmp_path / "b", "refinement", good, {**good, "gain_low": -0.1}))["N9"] == NO


def test_a_real_run_has_the_tables_that_are_asked_for(tmp_path: Path) -> None:
    root = tmp_path / "run"
    restoration_run(root, count=3, prompts=["stability"], repeats=2, rounds=2, metrics=("psnr",), degradations=[])
    (root / "tables").mkdir(exist_ok=True)
    for name, frame in analyse_run(root).context.results["restoration"].tables().items():
        frame.write_parquet(root / "tables" / f"{name}.parquet")
    found = answers(root, restorer="instant")
    assert found.keys() == {f"N{number}" for number in range(1, 10)}
    assert found["N1"] == NO, "three pictures show nothing"
    assert (found["N3"], found["N6"], found["N7"]) == (UNKNOWN, UNKNOWN, UNKNOWN)
