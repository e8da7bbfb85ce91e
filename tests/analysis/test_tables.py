"""The smaller frames, and the contract that all frames keep."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields, replace
from typing import Any

import polars as pl
import pytest

from convergebench.analysis import ANALYSIS_VERSION, Analysis, AnalysisInput, AnalysisSettings, analyse
from convergebench.analysis.schemas import OUTPUTS
from convergebench.errors import StudyError

Make = Callable[..., dict[str, Any]]
Given = Callable[..., AnalysisInput]
FAST = AnalysisSettings(draws=200, chain_draws=50)
EMPTY = AnalysisInput(pl.DataFrame(), pl.DataFrame(), {}, frozenset(), frozenset())


def frames(result: Analysis) -> dict[str, pl.DataFrame]:
    found = {field.name: getattr(result, field.name) for field in fields(result)}
    return {name: value for name, value in found.items() if isinstance(value, pl.DataFrame)}


def world(chain: Make) -> list[dict[str, Any]]:
    chains = []
    for n in range(4):
        for editor, loss in (("sim-jpeg", 0.01), ("model", 0.03)):
            values = {
                "ssim": [1 - loss * k * (1 + 0.1 * n) for k in range(1, 7)],
                "gist": [1 - loss * k / 3 for k in range(1, 7)],
                "psnr": [40.0 - k for k in range(1, 7)],
                "rmse": [loss * k for k in range(1, 7)],
                **{f"rmse-lag{lag}": [None] * lag + [loss * lag] * (6 - lag) for lag in range(1, 7)},
                "happened": [0.9, 0.8, None, 0.2, 0.9, 0.8],
                "noise": [1.0 * k for k in range(1, 7)],
            }
            chains.append(chain(editor, f"s{n}", values, pair="hat" if n % 2 else "ball"))
    return chains


def test_every_frame_has_its_declared_columns_full_or_empty(chain: Make, given: Given) -> None:
    for result in (analyse(EMPTY, FAST), analyse(given(world(chain)), FAST)):
        found = frames(result)
        assert set(found) == set(OUTPUTS)
        for name, frame in found.items():
            assert dict(frame.schema) == OUTPUTS[name], name
    assert result.version == ANALYSIS_VERSION == 2


def test_the_columns_of_the_contract_are_all_there() -> None:
    import inspect
    import re

    import convergebench.analysis.result as contract

    source = inspect.getsource(contract.Analysis)
    for name, text in re.findall(r'    (\w+): pl\.DataFrame\n    """(.*?)"""', source, re.DOTALL):
        for column in OUTPUTS[name]:
            assert re.search(rf"\b{column}\b", text) or column in ("low", "high"), f"{name}.{column} is undocumented"


def test_no_output_holds_nan(chain: Make, given: Given) -> None:
    for name, frame in frames(analyse(given(world(chain)), FAST)).items():
        for column in frame.iter_columns():
            if column.dtype == pl.Float64:
                assert not column.is_nan().any(), f"{name}.{column.name}"


def test_the_same_input_gives_the_same_output(chain: Make, given: Given) -> None:
    one, again = (analyse(given(world(chain)), FAST) for _ in range(2))
    assert one.headline == again.headline
    for name, frame in frames(one).items():
        assert frame.equals(frames(again)[name]), name


def test_the_order_of_rows_does_not_matter(chain: Make, given: Given) -> None:
    inputs = given(world(chain))
    shuffled = replace(inputs, measurements=inputs.measurements.sample(fraction=1, shuffle=True, seed=3))
    one, other = analyse(inputs, FAST), analyse(shuffled, FAST)
    for name in ("ranking", "curves", "auc", "half_life", "contraction", "worst"):
        assert frames(one)[name].equals(frames(other)[name]), name


def test_adherence_counts_each_case_once_and_missing_readings(chain: Make, given: Given) -> None:
    row = analyse(given(world(chain)), FAST).adherence.filter(editor="model", group="all").to_dicts()[0]
    assert row["mean"] == pytest.approx((0.9 + 0.8 + 0.2 + 0.9 + 0.8) / 5)
    assert row["share"] == pytest.approx(4 / 5)
    assert (row["n_cases"], row["n_sources"], row["n_missing"], row["n_readings"]) == (4, 4, 4, 20)


def test_adherence_keeps_every_reading_of_a_round_and_tells_its_legs_apart(chain: Make, given: Given) -> None:
    """A round of two edits has two readings; a metric of both legs has one of each. None may hide another."""
    inputs = given([chain(values={"ssim": [0.9], "happened": [0.2]})])
    row = inputs.measurements.filter(metric="happened").to_dicts()[0]
    more = [
        {**row, "step": 1, "metric": metric, "value": value, "role": role}
        for metric, role, value in (
            ("happened", "forward", 1.0),
            ("words", "forward", 0.3),
            ("words", "forward", 0.5),
            ("words", "backward", -0.1),
        )
    ]
    rows = pl.concat([inputs.measurements.with_columns(role=pl.lit(None, pl.String)), pl.DataFrame(more)])
    table = analyse(replace(inputs, measurements=rows), FAST).adherence.filter(group="all")
    found = {(row["metric"], row["leg"]): (row["mean"], row["n_readings"]) for row in table.to_dicts()}
    assert found == {
        ("happened", "forward"): (pytest.approx(0.6), 2),
        ("words", "forward"): (pytest.approx(0.4), 2),
        ("words", "backward"): (pytest.approx(-0.1), 1),
    }
    assert list(found) == [("happened", "forward"), ("words", "forward"), ("words", "backward")]


def test_diagnostics_are_means_per_step(chain: Make, given: Given) -> None:
    rows = analyse(given(world(chain)), FAST).diagnostics.filter(editor="model")
    assert rows["step"].to_list() == [2, 4, 6, 8, 10, 12]
    assert rows["mean"].to_list() == [1, 2, 3, 4, 5, 6]
    assert rows["n_cases"].to_list() == [4] * 6


def test_diagnostics_follow_the_same_cases_so_that_a_chain_that_ends_moves_no_line(chain: Make, given: Given) -> None:
    """Three pictures 560 wide that stay so, and one of 640 whose chain ends: nobody became narrower."""
    chains = [chain("model", f"s{n}", {"noise": [560.0] * 6}) for n in range(3)]
    ended = chain("model", "s3", {"noise": [640.0] * 2}, status="refused", planned=6)
    rows = analyse(given([*chains, ended]), FAST).diagnostics
    assert rows["mean"].to_list() == [560.0] * 6
    assert rows["n_cases"].to_list() == [3] * 6
    assert rows["n_missing"].to_list() == [1, 1, 0, 0, 0, 0], "left out where it still was there"


def test_diagnostics_end_where_fewer_than_half_of_the_chains_go_on(chain: Make, given: Given) -> None:
    lengths = (6, 3, 3, 1)
    chains = [chain("model", f"s{n}", {"noise": [float(n)] * length}) for n, length in enumerate(lengths)]
    rows = analyse(given(chains), FAST).diagnostics
    assert rows["step"].to_list() == [2, 4, 6]
    assert rows["mean"].to_list() == [1.0] * 3
    assert rows["n_cases"].to_list() == [3] * 3


def test_excess_over_a_floor_is_paired_and_positive_for_loss(chain: Make, given: Given) -> None:
    floors = analyse(given(world(chain)), FAST).floors
    assert floors["editor"].unique().to_list() == ["model"]
    row = floors.filter(metric="gist").to_dicts()[0]
    assert row["excess"] == pytest.approx(row["floor_auc"] - row["auc"])
    assert row["excess"] == pytest.approx(3 * 0.02 / 3)
    assert (row["floor"], row["n_cases"]) == ("sim-jpeg", 4)
    assert (row["low"], row["high"]) == (None, None)  # four images


def test_a_chain_that_broke_is_held_against_as_many_rounds_of_the_floor(chain: Make, given: Given) -> None:
    falling = [1 - 0.1 * n for n in range(1, 7)]
    chains = [
        *(chain("sim-jpeg", source, {"gist": falling}) for source in ("s0", "s1", "s2")),
        chain("model", "s0", {"gist": falling}),
        chain("model", "s1", {"gist": falling[:2]}, status="refused", planned=6),
        chain("model", "s2", {}, status="refused", planned=6),
    ]
    row = analyse(given(chains), FAST).floors.filter(metric="gist").to_dicts()[0]
    assert row["excess"] == pytest.approx(0)
    assert row["floor_auc"] == pytest.approx((0.7 + 0.9) / 2)
    assert [row[name] for name in ("n_cases", "n_sources", "n_missing")] == [2, 2, 1]


def test_the_worst_case_comes_first(chain: Make, given: Given) -> None:
    worst = analyse(given(world(chain)), FAST).worst
    first = worst.to_dicts()[0]
    assert (first["editor"], first["source"]) == ("model", "s3")
    assert first["last"] == pytest.approx(1 - 0.03 * 6 * 1.3)
    assert (first["half_life"], first["verdict"], first["rounds"]) == ("3", "too early", 6)
    assert worst["auc"].to_list() == sorted(worst["auc"].to_list())


def test_worst_falls_back_on_the_last_value_of_a_metric_without_area(chain: Make, given: Given) -> None:
    chains = [chain(source=f"s{n}", values={"psnr": [40.0, 30.0 - n]}) for n in range(3)]
    worst = analyse(given(chains), replace(FAST, headline="psnr")).worst
    assert worst["source"].to_list() == ["s2", "s1", "s0"]
    assert worst["auc"].to_list() == [None] * 3


def test_outcomes_add_up(chain: Make, given: Given) -> None:
    chains = [
        chain(source="s0", values={"ssim": [0.9]}, dollars=0.5),
        chain(source="s1", values={"ssim": [0.9]}, dollars=0.25),
        chain(source="s2", values={}, status="refused"),
    ]
    rows = {row["status"]: row for row in analyse(given(chains), FAST).outcomes.to_dicts()}
    assert (rows["finished"]["chains"], rows["finished"]["dollars"], rows["finished"]["steps"]) == (2, 0.75, 4)
    assert rows["refused"]["chains"] == 1


def test_tables_that_do_not_fit_together_are_errors(chain: Make, given: Given) -> None:
    inputs = given(world(chain))
    with pytest.raises(StudyError, match="belong to no chain"):
        analyse(replace(inputs, chains=inputs.chains.head(3)), FAST)
    with pytest.raises(StudyError, match="names a chain twice"):
        analyse(replace(inputs, chains=pl.concat([inputs.chains, inputs.chains])), FAST)
    with pytest.raises(StudyError, match="no column status"):
        analyse(replace(inputs, measurements=inputs.measurements.drop("status")), FAST)
