"""`cbench measure` on files that belong to no run."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from typer.testing import CliRunner

from convergebench.cli.main import app
from convergebench.errors import StudyError
from convergebench.images.encode import encode_png
from convergebench.measuring.files import references_of
from tests.metrics.pictures import box_blur, jpeg, measured, photograph


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A photograph and two damaged copies of it, in two folders."""
    picture = photograph("astronaut", 96, 80)
    for name, pixels in (("clean", picture), ("jpeg", jpeg(picture, 20)), ("blur", box_blur(picture, 5))):
        path = tmp_path / "pictures" / ("deep" if name == "blur" else ".") / f"{name}.png"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(encode_png(pixels))
    return tmp_path / "pictures"


def cbench(*words: object) -> str:
    result = CliRunner().invoke(app, ["measure", *map(str, words)])
    if result.exception and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result.stdout


def test_a_folder_is_scored_against_one_reference_as_csv(folder: Path) -> None:
    text = cbench(folder, "-m", "ssim", "-m", "psnr", "--reference", folder / "clean.png", "--workers", "1")
    rows = list(csv.DictReader(text.splitlines()))
    assert [(Path(row["path"]).name, row["metric"]) for row in rows] == [
        ("clean.png", "ssim"), ("clean.png", "psnr"), ("blur.png", "ssim"), ("blur.png", "psnr"),
        ("jpeg.png", "ssim"), ("jpeg.png", "psnr"),
    ]  # fmt: skip
    picture = photograph("astronaut", 96, 80)
    assert float(rows[0]["value"]) == 1
    assert rows[1]["value"] == "inf"
    assert float(rows[4]["value"]) == measured("ssim", jpeg(picture, 20), picture)


def test_a_folder_of_references_is_matched_by_name(folder: Path, tmp_path: Path) -> None:
    references = tmp_path / "references"
    references.mkdir()
    for name in ("clean", "jpeg"):
        (references / f"{name}.jpg").write_bytes((folder / "clean.png").read_bytes())
    out = tmp_path / "scores.json"
    said = cbench(folder / "clean.png", folder / "jpeg.png", "-m", "psnr", "-r", references, "-o", out)
    assert said.splitlines()[-1] == f"2 values of 2 images: {out}"
    rows = json.loads(out.read_text(encoding="utf-8"))
    assert [row["status"] for row in rows] == ["infinite", "ok"]
    with pytest.raises(StudyError, match=r"has no image called 'blur' \(1 of 3 have none\)"):
        cbench(folder, "-m", "psnr", "-r", references)


def test_what_is_missing_is_said_before_any_work(folder: Path, tmp_path: Path) -> None:
    with pytest.raises(StudyError, match="name what to measure"):
        cbench(folder)
    with pytest.raises(StudyError, match="ssim compares with a reference; add --reference FILE or FOLDER"):
        cbench(folder, "-m", "ssim")
    with pytest.raises(StudyError, match="happened needs the steps of a chain"):
        cbench(folder, "-m", "happened")
    with pytest.raises(StudyError, match="nowhere is not a run, and there is no image or folder of that name"):
        cbench(tmp_path / "nowhere", "-m", "ssim")
    with pytest.raises(StudyError, match=r"ends in \.csv or \.json"):
        cbench(folder, "-m", "ssim", "-r", folder / "clean.png", "-o", "scores.txt")
    (tmp_path / "empty").mkdir()
    with pytest.raises(StudyError, match="no image below"):
        cbench(tmp_path / "empty", "-m", "ssim")


def test_a_file_that_is_no_image_is_a_row_with_a_status(folder: Path) -> None:
    (folder / "broken.png").write_bytes(b"not an image")
    text = cbench(folder, "-m", "psnr", "-r", folder / "clean.png", "--workers", "1")
    broken = next(row for row in csv.DictReader(text.splitlines()) if row["path"].endswith("broken.png"))
    assert (broken["value"], broken["status"]) == ("", "unreadable")


def test_transparency_is_refused_and_never_filled_in_quietly(folder: Path) -> None:
    picture = np.dstack([photograph("astronaut", 96, 80), np.full((80, 96), 255, np.uint8)])
    Image.fromarray(picture).save(folder / "opaque.png")
    picture[10:20, 10:20, 3] = 0
    Image.fromarray(picture).save(folder / "glass.png")
    rows = {
        Path(row["path"]).stem: row
        for row in csv.DictReader(cbench(folder, "-m", "psnr", "-r", folder / "clean.png").splitlines())
    }
    assert rows["opaque"]["value"] == "inf"
    assert (rows["glass"]["value"], rows["glass"]["status"]) == ("", "unreadable")
    assert "save it without transparency" in rows["glass"]["detail"]


def test_sizes_that_differ_are_never_fixed_quietly(folder: Path) -> None:
    small = folder / "small.png"
    small.write_bytes(encode_png(photograph("astronaut", 48, 40)))
    words = (small, "-m", "psnr", "-r", folder / "clean.png")
    strict = next(csv.DictReader(cbench(*words, "--align", "strict").splitlines()))
    assert (strict["value"], strict["status"]) == ("", "size")
    laid_over = next(csv.DictReader(cbench(*words).splitlines()))
    assert laid_over["status"] == "ok"
    assert laid_over["detail"].startswith("registered: ")
    fitted = next(csv.DictReader(cbench(*words, "--align", "fit").splitlines()))
    assert fitted["status"] == "ok"


def test_many_files_give_the_same_values_on_several_processes(folder: Path) -> None:
    words = (folder, "-m", "psnr", "-m", "gmsd", "-r", folder / "clean.png")
    for number in range(12):
        (folder / f"copy-{number}.png").write_bytes((folder / "jpeg.png").read_bytes())
    assert cbench(*words, "--workers", "2") == cbench(*words, "--workers", "1")


def test_a_folder_for_the_table_is_asked_for_before_the_work(folder: Path, tmp_path: Path) -> None:
    with pytest.raises(StudyError, match=r"there is no folder .*missing for --out"):
        cbench(folder, "-m", "psnr", "-r", folder / "clean.png", "-o", tmp_path / "missing" / "scores.csv")


def test_a_run_inside_a_folder_is_not_scored_as_loose_files(folder: Path) -> None:
    (folder / "deep" / "run.sqlite").touch()
    with pytest.raises(StudyError, match="deep is a run: give it alone"):
        cbench(folder, "-m", "psnr", "-r", folder / "clean.png")


def test_of_references_of_one_name_the_one_in_the_like_folder_is_taken_and_none_is_guessed(tmp_path: Path) -> None:
    def made(*names: str) -> list[Path]:
        for name in names:
            (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / name).touch()
        return [tmp_path / name for name in names]

    first, second = made("given/a/one.png", "given/b/one.png")
    near, far = made("true/a/one.jpg", "true/b/one.jpg")
    assert references_of([first, second], tmp_path / "true") == {first: near, second: far}
    (alone,) = made("given/one.png")
    with pytest.raises(StudyError, match=r"could be compared with .*one\.jpg or with .*one\.jpg"):
        references_of([alone], tmp_path / "true")
    _, same = made("formats/one.jpg", "formats/one.png")
    assert references_of([alone], tmp_path / "formats") == {alone: same}
    (composed,) = made("names/\u00fc.png")
    (decomposed,) = made("given/u\u0308.jpg")
    assert references_of([decomposed], tmp_path / "names") == {decomposed: composed}


def test_a_broken_reference_takes_no_value_from_what_needs_none(folder: Path) -> None:
    (folder / "broken.png").write_bytes(b"not an image")
    words = (folder / "clean.png", "-m", "psnr", "-m", "piqe", "-r", folder / "broken.png")
    rows = list(csv.DictReader(cbench(*words).splitlines()))
    assert [(row["metric"], row["status"]) for row in rows] == [("psnr", "unreadable"), ("piqe", "ok")]


def test_a_file_that_was_written_anew_is_measured_anew(folder: Path) -> None:
    words = (folder / "jpeg.png", "-m", "psnr", "-r", folder / "clean.png", "--workers", "1")
    before = cbench(*words)
    (folder / "jpeg.png").write_bytes((folder / "deep" / "blur.png").read_bytes())
    assert cbench(*words) != before


def test_who_has_nobody_to_ask_hears_of_it_before_the_work(folder: Path) -> None:
    with pytest.raises(StudyError, match=r"rubric-quality asks a 'rater', but none is configured.*--roles"):
        cbench(folder, "-m", "psnr", "-m", "rubric-quality", "-r", folder / "clean.png")
