"""The replicate study from file to values: real pictures, simulated editors, a stop in between."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from convergebench.analysis.series import named_series
from convergebench.conductor import run_chains
from convergebench.conductor.begin import begin
from convergebench.conductor.prepare import prepare
from convergebench.errors import StudyError
from convergebench.measuring.measure import measure
from convergebench.store.frames import RunFrames
from convergebench.store.run import Run
from convergebench.store.verify import problems
from convergebench.studies.spec import parse_spec
from tests.engine.parts import query


def spec(rows: list[dict[str, Any]], *editors: Any, steps: int = 4, **table: Any) -> Any:
    return parse_spec(
        {
            "study": "replicate",
            "editors": list(editors),
            "images": {"suite": "quick"},
            "replicate": {"steps": steps, "runs": 1, "grid": rows, **table},
            "measure": {"metrics": ["psnr"], "align": "strict"},
        }
    )


def run_study(root: Path, study: Any, *metrics: str) -> None:

    prepared = prepare(study)
    with Run.create(root) as run:
        begin(run, prepared)
        run_chains(run, prepared.editors, prepared.chains)
        measure(run, metrics, align_mode="strict", workers=1)


def values(root: Path, metric: str) -> dict[tuple[str, int], float | None]:
    frames = RunFrames(root)
    found = named_series(frames.measurements("strict")).filter(metric=metric)
    frames.close()
    return {(row["pair"], row["step"]): row["value"] for row in found.iter_rows(named=True)}


def test_mirrored_and_turned_steps_of_a_perfect_editor_lose_nothing(tmp_path: Path) -> None:
    rows = [{"variants": ["mirror", "rotate"], "images": ["coffee-cup"]}]  # 320 × 213: a quarter turn changes its shape
    run_study(tmp_path / "run", spec(rows, "sim-perfect", steps=5), "rmse", "happened")
    for metric in ("rmse", "rmse-first", "rmse-lag1", "rmse-lag3"):
        found = values(tmp_path / "run", metric)
        assert found, metric
        assert set(found.values()) == {0.0}, metric
    assert set(values(tmp_path / "run", "happened").values()) == {1.0}


def test_a_mirroring_that_was_not_done_is_far_from_the_mirrored_source(tmp_path: Path) -> None:
    rows = [{"variants": ["mirror"], "images": ["coffee-cup"]}]
    lazy = {"name": "sim-lazy", "use": "sim-forgetful", "ignores": 1.0}
    run_study(tmp_path / "run", spec(rows, lazy, steps=2), "rmse", "happened")
    found = values(tmp_path / "run", "rmse")
    assert found["mirror", 1] > 0.1  # type: ignore[operator]
    assert found["mirror", 2] == 0.0  # twice not done is the source again
    assert values(tmp_path / "run", "happened")["mirror", 1] == 0.0


def test_independent_steps_are_different_draws_and_do_not_accumulate(tmp_path: Path) -> None:
    rows = [{"variants": ["replicate"], "images": ["coffee-cup"], "independent": True}]
    run_study(tmp_path / "run", spec(rows, "sim-noise", steps=6), "rmse")
    found = values(tmp_path / "run", "rmse")
    alone = [found["replicate-independent", step] for step in range(1, 7)]
    assert len(set(alone)) == 6
    assert max(alone) < 1.1 * min(alone)  # type: ignore[operator, type-var]
    assert found["replicate", 6] > 2 * found["replicate", 1]  # type: ignore[operator]
    assert found["replicate", 1] == pytest.approx(alone[0], rel=0.1)
    assert problems(tmp_path / "run") == []


def test_an_addition_is_measured_around_the_thing_and_rated_by_itself(tmp_path: Path) -> None:
    rows = [{"variants": ["add-apples"], "images": ["coffee-cup"]}]
    run_study(
        tmp_path / "run", spec(rows, "sim-perfect", steps=3), "ssim", "background-ssim", "changed-share", "brisque"
    )
    assert values(tmp_path / "run", "ssim") == {}
    shares = values(tmp_path / "run", "changed-share")
    assert 0 < shares["add-apples", 1] < shares["add-apples", 3]  # type: ignore[operator]
    assert all(value > 0.99 for value in values(tmp_path / "run", "background-ssim").values())  # type: ignore[operator]
    assert len(values(tmp_path / "run", "brisque")) == 4  # the source and three steps


def test_a_chain_counts_as_finished_at_the_end_of_its_last_cycle(tmp_path: Path) -> None:
    rows = [{"variants": ["monochrome-colour"], "images": ["coffee-cup"]}]
    run_study(tmp_path / "run", spec(rows, "sim-perfect", steps=5), "rmse")
    ((status, rounds, planned),) = query(tmp_path / "run", "select status, rounds, planned from chains")
    assert (status, rounds, planned) == ("finished", 4, 4)
    assert sorted(step for _, step in values(tmp_path / "run", "rmse")) == [2, 4]


def test_a_longer_study_goes_on_where_the_shorter_one_ended(tmp_path: Path) -> None:
    rows = [{"variants": ["replicate", "mirror"], "images": ["coffee-cup"]}]
    run_study(tmp_path / "run", spec(rows, "sim-jpeg", steps=2), "rmse")
    run_study(tmp_path / "run", spec(rows, "sim-jpeg", steps=4), "rmse")
    ((calls,),) = query(tmp_path / "run", "select count(*) from attempts")
    assert calls == 8


def test_a_setting_that_an_editor_does_not_take_is_refused_or_left_out_and_said(tmp_path: Path) -> None:
    rows = [{"variants": ["replicate", "temperature-0"], "images": ["coffee-cup"]}]
    with pytest.raises(StudyError, match=r"'temperature-0' cannot be run: sim-jpeg takes no temperature.*leave-out"):
        prepare(spec(rows, "sim-jpeg"))
    prepared = prepare(spec(rows, "sim-jpeg", unfit="leave-out"))
    assert [chain.case.label for chain in prepared.chains] == ["replicate"]
    assert prepared.left_out == ("temperature-0 with sim-jpeg: it takes no temperature; remove settings.temperature",)


def test_an_unknown_detector_is_told_before_the_first_call() -> None:
    study = parse_spec(
        {
            "study": "replicate",
            "editors": ["sim-jpeg"],
            "images": {"suite": "quick"},
            "examine": {"detectors": ["colour-kast"]},
        }
    )
    with pytest.raises(StudyError, match="did you mean 'colour-cast'"):
        prepare(study)
