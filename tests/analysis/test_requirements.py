"""What the constants of an analysis must be, asked before the first call."""

from __future__ import annotations

from typing import Any

import pytest

from convergebench.analysis.requirements import named_metrics, require_planned, unmeasured
from convergebench.errors import StudyError
from convergebench.metrics import load_metric
from convergebench.studies.analysis_settings import AnalysisSettings

NAMES = {*(name for _, name in named_metrics(AnalysisSettings())), "psnr", "noise", "returned-width", "gist"}
FACTS = {name: load_metric(name).facts for name in sorted(NAMES)}


@pytest.mark.parametrize(
    "given",
    [
        {},
        {"levels": {"ssim": {"noticeable": 0.8}}},
        {"levels": {"ssim": {"noticeable": 0.8, "half": 0.4, "third": 0.66}}},
        {"levels": {"lpips": {"noticeable": 0.2, "half": 0.6}}},
        {"headline": "lpips", "level": "mine", "levels": {"lpips": {"mine": 0.3}}},
        {"onset": "psnr", "semantic": "gist"},
    ],
)
def test_constants_that_can_do_their_part_are_taken(given: dict[str, Any]) -> None:
    require_planned(AnalysisSettings(**given), FACTS)


@pytest.mark.parametrize(
    ("given", "why"),
    [
        ({"headline": "ssmi"}, "analysis.headline = 'ssmi': unknown metric; did you mean 'ssim'?"),
        ({"onset": "nosie"}, "analysis.onset = 'nosie': unknown metric"),
        ({"level": "third"}, "level = 'third': ssim has noticeable, half; choose one or add levels.ssim.third"),
        ({"distance": "ssim"}, "distance = 'ssim': it is no distance"),
        ({"distance": "psnr"}, "distance = 'psnr': it is no distance"),
        ({"quality": ["noise"]}, "quality = 'noise': it "),
        ({"semantic": "returned-width"}, "semantic = 'returned-width': it "),
        ({"onset": "returned-width"}, "onset = 'returned-width': it has no better direction"),
        ({"adherence": ["ssim"]}, "adherence = 'ssim': it does not say whether an edit was done; choose from happened"),
        ({"levels": {"ssim": {"noticeable": 0.4}}}, "noticeable (0.4) lies beyond half (0.5)"),
        ({"levels": {"lpips": {"noticeable": 0.9, "half": 0.5}}}, "noticeable (0.9) lies beyond half (0.5)"),
    ],
)
def test_what_cannot_do_its_part_is_named(given: dict[str, Any], why: str) -> None:
    with pytest.raises(StudyError) as refused:
        require_planned(AnalysisSettings(**given), FACTS)
    assert why in str(refused.value)


def test_a_metric_that_the_study_names_and_does_not_measure_is_told() -> None:
    asked = AnalysisSettings(semantic="gist", onset="psnr")
    assert unmeasured(asked, ["gist", "psnr"]) == []
    (line,) = unmeasured(asked, ["gist"])
    assert line.startswith("analysis.onset = 'psnr' is not among the metrics that are measured")
    assert unmeasured(AnalysisSettings(), []) == [], "the usual ones need not be measured"
