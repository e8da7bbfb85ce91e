"""Values of piq and scikit-image on pictures made alike everywhere; `python -m benchmarks.golden` writes them."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from tests.metrics.pictures import golden_pair, measured

PATH = Path(__file__).parents[1] / "golden" / "full_reference.csv"
ROWS = list(csv.DictReader(PATH.read_text(encoding="utf-8").splitlines()))


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row['metric']}-{row['case']}")
def test_a_metric_gives_the_value_of_the_library_it_stands_in_for(row: dict[str, str]) -> None:
    value = measured(row["metric"], *golden_pair(row["case"]))
    assert value == pytest.approx(float(row["value"]), abs=float(row["tolerance"]))


def test_every_full_reference_metric_has_golden_rows() -> None:
    assert {row["metric"] for row in ROWS} == {"psnr", "rmse", "ssim", "ssim-skimage", "ms-ssim", "gmsd", "delta-e"}
