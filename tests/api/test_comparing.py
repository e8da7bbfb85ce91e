"""`cb.compare` and `cb.audit`: two runs on their common cases, and metrics against known damage."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from PIL import Image, ImageFilter

import convergebench as cb
from tests.api.parts import PICTURES, blur, darker, picture, quick_run

EIGHT = {f"p{number}": picture(number) for number in range(8)}


def blurrier(image: Image.Image, instruction: str) -> Image.Image:
    """Loses more than `blur`."""
    return image.filter(ImageFilter.GaussianBlur(3))


def test_two_runs_are_compared_on_the_images_that_both_have(tmp_path: Path) -> None:
    one = quick_run(tmp_path / "a", blur, images=EIGHT)
    other = quick_run(tmp_path / "b", blurrier, images={**EIGHT, "p0": picture(99), "more": picture(100)})
    found = cb.compare(one, str(other.root))
    assert found.select("metric", "editor_a", "editor_b").rows() == [
        (metric, "blur", "blurrier") for metric in ("rmse", "ssim")
    ]
    row = found.filter(found["metric"] == "ssim").row(0, named=True)
    assert row["n_sources"] == row["n_cases"] == 7, "p0 is another picture, and `more` is in one run only"
    assert row["difference"] == pytest.approx(row["mean_b"] - row["mean_a"]), "second minus first"
    assert row["difference"] < -0.05
    assert row["high"] < 0
    assert row["p"] == 2 / 2**7, "the smallest p that seven sources can give"
    assert row["p_holm"] >= row["p"]
    assert row["better"] == "a"
    turned = cb.compare(other, one).filter(found["metric"] == "ssim").row(0, named=True)
    assert turned["difference"] == pytest.approx(-row["difference"])
    assert turned["better"] == "b"
    assert cb.compare(one, other).filter(found["metric"] == "rmse")["better"][0] == "a", "less is better"


def test_editors_of_one_name_are_compared_with_each_other_alone(tmp_path: Path) -> None:
    one = quick_run(tmp_path / "a", blur, darker)
    other = quick_run(tmp_path / "b", blur, blurrier)
    found = cb.compare(one, other, metrics=["ssim"])
    assert found.select("editor_a", "editor_b").rows() == [("blur", "blur")]
    assert found["difference"].to_list() == [0.0]
    assert found["p"].to_list() == [1.0]
    assert found["better"].to_list() == [""]


def test_more_rounds_in_one_run_do_not_count(tmp_path: Path) -> None:
    short = quick_run(tmp_path / "a", blur, rounds=1)
    long = quick_run(tmp_path / "b", blur, rounds=3)
    found = cb.compare(short, long, metrics=["ssim"])
    assert found.select("difference", "rounds", "n_left_out").rows() == [(0.0, 1, 0)]


def test_what_cannot_be_compared_is_told(tmp_path: Path) -> None:
    one = quick_run(tmp_path / "a", blur, rounds=1)
    with pytest.raises(cb.StudyError, match="no case in common"):
        cb.compare(one, quick_run(tmp_path / "b", blur, rounds=1, images=[picture(50)]))
    with pytest.raises(cb.StudyError, match="no metric in common"):
        cb.compare(one, quick_run(tmp_path / "c", blur, rounds=1, metrics=["psnr"]))
    with pytest.raises(cb.StudyError, match=r"'lpips' was not measured in both runs .*\(both have: rmse, ssim\)"):
        cb.compare(one, one, metrics=["lpips"])
    strict = quick_run(tmp_path / "d", blur, rounds=1, align="strict")
    with pytest.raises(cb.StudyError, match="two alignments"):
        cb.compare(one, strict)


def test_metrics_of_a_comparison_may_be_one_name_and_confidence_is_a_share(tmp_path: Path) -> None:
    run = quick_run(tmp_path / "run", blur)
    assert cb.compare(run, run, metrics="ssim").equals(cb.compare(run, run, metrics=["ssim"]))
    with pytest.raises(cb.StudyError, match="confidence = 95: give a number between 0 and 1"):
        cb.compare(run, run, confidence=95)


def test_mistakes_in_an_audit_are_one_line(tmp_path: Path) -> None:
    with pytest.raises(cb.StudyError, match="no run to audit"):
        cb.audit([])
    with pytest.raises(cb.StudyError, match=r"audit\(\) has no option 'metric'; did you mean 'metrics'"):
        cb.audit(tmp_path, metric="piqe")


def test_an_audit_gives_verdicts_as_a_frame_and_a_page(tmp_path: Path) -> None:
    run = quick_run(tmp_path / "run", blur, rounds=3)
    audit = cb.audit(run, metrics=["piqe", "brisque"], repeat=0, workers=1, progress=False)
    assert audit.page == run.root / "audit" / "index.html"
    assert audit.page.is_file()
    audited = audit.verdicts.filter(audit.verdicts["status"] == "audited")
    assert set(audited["metric"]) == {"piqe", "brisque"}
    assert audit.stopped is None
    assert audit.headline
    assert "<table" in audit._repr_html_()
    assert json.loads((run.root / "manifest.json").read_text())["sessions"][-1]["command"].startswith(
        "convergebench.audit(runs=["
    )
    with pytest.raises(cb.StudyError, match=r"audit\(\) has no option 'metric'"):
        cb.audit(run, metric="piqe")
    assert len(PICTURES) == 3
