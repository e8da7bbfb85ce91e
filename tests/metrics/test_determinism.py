"""The command that measures determinism, on metrics that need nothing."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks.determinism import CHECKS, _plain, _shown, candidates, compare, distance
from convergebench.measuring.repeatability import GONE

ROOT = Path(__file__).parents[2]


def test_classical_metrics_repeat_to_the_last_bit() -> None:
    command = [sys.executable, "-m", "benchmarks.determinism", "--json", "--side", "128", "--device", "cpu"]
    chosen = [word for name in ("ssim", "gist", "sharpness") for word in ("--metric", name)]
    done = subprocess.run([*command, *chosen], capture_output=True, text=True, check=True, timeout=120, cwd=ROOT)
    table = json.loads(done.stdout)
    assert [row["metric"] for row in table] == ["ssim", "gist", "sharpness"]
    for row in table:
        assert set(row["distances"]) == set(CHECKS)
        assert {row["distances"][check] for check in ("twice", "process", "threads", "png")} == {0}
        assert row["distances"]["device"] is None
        assert row["distances"]["half"] > 0


def test_what_cannot_run_or_asks_a_model_is_left_out() -> None:
    assert candidates(["psnr", "judge-happened"]) == ["psnr"]


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        (1.0, 1.5, 0.5),
        (1.0, None, None),
        ("small", "small", None),
        (1.0, "small", float("inf")),
    ],
)
def test_a_value_that_comes_and_goes_is_infinitely_far(
    one: float | str, other: float | str | None, expected: float | None
) -> None:
    assert distance(one, other) == expected


def test_a_missing_value_is_written_in_words() -> None:
    assert _plain({"half": float("inf"), "device": None, "png": 0.5}) == {"half": GONE, "device": None, "png": 0.5}
    assert [_shown(value) for value in (float("inf"), None, 0.0, 0.5)] == [GONE, "–", "0", "5.0e-01"]


def test_each_check_is_a_distance_from_the_first_value() -> None:
    first = {"a": {"first": 1.0, "twice": 1.0, "png": 1.25, "half": 3.0}}
    moved = {"a": {"first": 1.5}}
    (row,) = compare(first, {"a": {"first": 1.0}}, {"a": {"first": 0.75}}, moved)
    assert row.value == 1.0
    assert row.distances == {"twice": 0, "process": 0, "threads": 0.25, "device": 0.5, "png": 0.25, "half": 2.0}
