"""Two runs paired by case: swapping them flips every sign, whatever is missing; and a change of known size is found."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from convergebench.analysis.result import AnalysisInput
from convergebench.analysis.run_change import RunChange, RunInput, run_change
from convergebench.metrics import load_metric
from convergebench.studies.analysis_settings import AnalysisSettings

SETTINGS = AnalysisSettings(quality=("ssim",), semantic="", permutations=199, exact_sources=5)
FACTS = {name: load_metric(name).facts for name in ("ssim", "psnr")}
ROUNDS = 3


def run(values: dict[tuple[int, int], list[float | None]], names: str = "s") -> RunInput:
    """A run of one editor: (image, edit) → ssim per round; None: the round was not done."""
    chains: list[dict[str, Any]] = []
    rows: list[dict[str, Any]] = []
    for (image, edit), found in values.items():
        done = next((n for n, value in enumerate(found) if value is None), len(found))
        case: dict[str, Any] = {
            "editor": "e",
            "case": f"{names}{image}×p{edit}",
            "source": f"{names}{image}",
            "kind": "scene",
        }
        case |= {"pair": f"p{edit}", "category": "c", "replicate": 0}
        chains.append({**case, "status": "finished" if done == ROUNDS else "refused", "detail": "", "rounds": done,
                       "planned": ROUNDS, "steps": done, "dollars": 0.0, "seconds": 0.0})  # fmt: skip
        for n in range(done):
            for metric, value in (("ssim", found[n]), ("psnr", 40 * (found[n] or 0.0))):
                rows.append({**case, "round": n + 1, "step": n + 1, "metric": metric, "value": value, "status": "ok",
                             "role": "return", "in_view": None})  # fmt: skip
    images = {f"{names}{image}": f"hash-{image}" for image, _ in values}
    table = pl.DataFrame(rows, schema_overrides={"in_view": pl.Float64}) if rows else _no_rows()
    whole = AnalysisInput(table, pl.DataFrame(chains), FACTS, frozenset(), frozenset())
    return RunInput(whole, {}, images)


def _no_rows() -> pl.DataFrame:
    columns = run({(0, 0): [0.5, 0.5, 0.5]}).given.measurements
    return columns.clear()


def change(one: RunInput, other: RunInput) -> RunChange:
    return run_change(one, other, [("e", "e")], SETTINGS)


value = st.one_of(st.none(), st.floats(0, 1, width=32))
chain = st.lists(value, min_size=ROUNDS, max_size=ROUNDS)
side = st.dictionaries(st.tuples(st.integers(0, 7), st.integers(0, 1)), chain, min_size=1, max_size=12)


@settings(max_examples=60, deadline=None, derandomize=True)
@given(side, side)
def test_swapping_the_runs_flips_every_sign(
    first: dict[tuple[int, int], list[float | None]], second: dict[tuple[int, int], list[float | None]]
) -> None:
    here, there = change(run(first), run(second, "t")), change(run(second, "t"), run(first))
    for name, frame in here.tables().items():
        other = there.tables()[name]
        assert frame.height == other.height
        if name == "cases":
            continue
        for one, two in zip(frame.to_dicts(), other.to_dicts(), strict=True):
            assert one["p"] == pytest.approx(two["p"])
            assert (one["n_cases"], one["n_sources"]) == (two["n_cases"], two["n_sources"])
            for mine, theirs in (("change", "change"), ("low", "high"), ("high", "low")):
                if one[mine] is None:
                    assert two[theirs] is None
                else:
                    assert one[mine] == pytest.approx(-two[theirs], abs=1e-6)


def test_a_known_change_is_found_on_the_common_cases_only() -> None:
    rng = np.random.default_rng(1)
    before = {(image, edit): list(0.9 - 0.1 * rng.random(ROUNDS)) for image in range(8) for edit in range(2)}
    after = {key: [one - 0.2 for one in values] for key, values in before.items() if key[0] > 0}
    after[8, 0] = [0.1] * ROUNDS
    found = change(run(before), run(after, "t"))
    (row,) = found.editors.to_dicts()
    assert (row["n_cases"], row["n_sources"], row["n_only_first"], row["n_only_second"]) == (14, 7, 2, 1)
    # the untouched image at round 0 is the same in both, so two and a half of three strips differ by 0.2
    assert row["change"] == pytest.approx(-20 * 2.5 / 3, abs=1e-6)
    metrics = {one["metric"]: one for one in found.metrics.to_dicts()}
    assert metrics["ssim"]["what"] == "retention"
    assert metrics["ssim"]["change"] == pytest.approx(-0.2 * 2.5 / 3, abs=1e-9)
    assert metrics["psnr"]["what"] == "dB"
    assert metrics["psnr"]["change"] == pytest.approx(-8.0, abs=1e-9)
    assert found.cases["source"].to_list()[0].startswith("s"), "named as the first run names it"


def test_a_refusal_counts_as_nothing_delivered() -> None:
    fine: list[float | None] = [0.9, 0.9, 0.9]
    before = {(image, 0): fine for image in range(5)}
    after: dict[tuple[int, int], list[float | None]] = {**before, (0, 0): [0.9, None, None]}
    (row,) = change(run(before), run(after)).editors.to_dicts()
    assert row["change"] < 0
    assert row["n_cases"] == 5


def test_swapping_flips_the_signs_where_flips_are_drawn_at_random_too() -> None:
    rng = np.random.default_rng(3)
    before: dict[tuple[int, int], list[float | None]] = {
        (image, 0): [float(one) for one in rng.random(ROUNDS)] for image in range(12)
    }
    after: dict[tuple[int, int], list[float | None]] = {
        (image, 0): [float(one) for one in rng.random(ROUNDS)] for image in reversed(range(12))
    }
    (here,) = change(run(before), run(after)).editors.to_dicts()
    (there,) = change(run(after), run(before)).editors.to_dicts()
    assert not here["exact"]
    assert here["p"] == there["p"]
    assert here["low"] == pytest.approx(-there["high"])
