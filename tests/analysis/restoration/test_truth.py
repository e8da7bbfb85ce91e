"""Studies whose truth is known, a few of those that `python -m benchmarks.restoration_truth` simulates."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from benchmarks import restoration_truth as truth
from benchmarks.restoration_world import CELLS, EFFECTS, PromptWorld, contrasts
from convergebench.analysis.permutation import holm
from convergebench.analysis.restoration.pictures import paired_mean
from tests.analysis.restoration.results_world import analysed, chain, only

PAGE = Path(__file__).parents[3] / "docs" / "design" / "restoration.md"


def test_the_world_has_the_effects_that_it_is_told() -> None:
    world = PromptWorld(0.1, 0.5, -0.4, uneven=0.0, noise=0.0)
    found = contrasts(world.values(np.random.default_rng(0), 1, 3))
    assert {name: values.mean() for name, values in found.items()} == pytest.approx(
        {"length": 0.1, "fidelity": 0.5, "interaction": -0.4}
    )


def test_the_table_of_the_analysis_has_the_numbers_of_the_benchmark() -> None:
    world = PromptWorld(0.1, 0.5, -0.4)
    values = world.values(np.random.default_rng(3), 1, 12)
    names = [[f"{group}{number}" for number in (1, 2, 3)] for group in ("S", "SF", "L", "LF")]
    rows = [
        chain(
            "a", f"p{picture:03}.mixed", {"psnr": float(values[0, picture, cell, number])}, prompt=names[cell][number]
        )
        for picture in range(12)
        for cell in range(len(CELLS))
        for number in range(3)
    ]
    table = analysed(rows).factor_effects
    for effect in EFFECTS:
        direct = paired_mean(contrasts(values)[effect.name][0], world.photographs(12), truth.SCOPE)
        row = only(table, effect=effect.name)
        assert (row["estimate"], row["low"], row["high"], row["p"]) == pytest.approx(direct[:4])


def test_intervals_hold_what_they_say() -> None:
    world = truth.WORLDS["usual"]
    shares = [truth._held(world, "fidelity", world.fidelity, 250, size) for size in (12, 21)]
    assert all(share is not None and share > 0.91 for share in shares)
    pairs = truth.WORLDS["two pictures of each photograph"]
    right = truth._held(pairs, "fidelity", pairs.fidelity, 250, 12)
    wrong = truth._held(pairs, "fidelity", pairs.fidelity, 250, 12, PromptWorld().photographs(24))
    assert right is not None
    assert wrong is not None
    assert right > 0.91 > wrong, "pictures of one photograph are not independent"


def test_holm_keeps_false_alarms_of_a_study_at_the_level() -> None:
    draw = np.random.default_rng(0)
    p = [truth._family(PromptWorld().values(draw, truth.METRICS, 12), 12) for _ in range(80)]
    assert np.mean([min(one) < 0.05 for one in p]) > 0.3
    assert np.mean([min(holm(one)) < 0.05 for one in p]) < 0.13


def test_a_difference_between_wordings_is_no_effect_of_length() -> None:
    found = {row.what: row.shares for row in truth._wording_rows(150)}
    (these, such) = found.values()
    assert these[3] is not None
    assert these[3] > 0.25
    assert all(share is not None and share < 0.09 for share in such)


def test_friedman_finds_drift_and_never_unsteadiness() -> None:
    found = {row.what: row.shares for row in truth.friedman_rows(60)}
    assert all(share is not None and share < 0.17 for share in found["Friedman finds: unsteady editor (3 dB)"])
    drift = found["Friedman finds: repeats drift by 0.5 standard deviations each"]
    assert drift[3] is not None
    assert drift[3] > 0.7


def test_outliers_are_found_and_noise_is_not() -> None:
    found = {row.what: row.shares for row in truth.outlier_rows(200)}
    assert all(
        share is not None and share < 0.01 for share in found["pictures with a flagged repeat: normal noise"][1:]
    )
    astray = found["flagged: one repeat astray by 8 standard deviations"]
    assert all(share is not None and share > 0.9 for share in astray[1:])


def test_the_design_note_has_the_rows_that_the_benchmark_prints() -> None:
    told = re.findall(r"^\| (.+?) \|", PAGE.read_text(encoding="utf-8"), re.M)
    names = [f"interval, {name}: {effect.name}" for name in truth.WORLDS for effect in EFFECTS]
    assert set(names) <= set(told)
    assert sum(name.startswith(("Friedman finds", "flagged")) for name in told) == 6


@pytest.mark.slow
def test_the_whole_benchmark_runs(capsys: pytest.CaptureFixture[str]) -> None:
    truth.main(["--quick"])
    assert "interval, usual: length" in capsys.readouterr().out
