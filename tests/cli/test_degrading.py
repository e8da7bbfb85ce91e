"""`cbench degrade` as a person meets it: a suite of spoilt pictures, written whole or not at all."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import numpy as np
import pytest

from convergebench.degradations.base import Degradation
from convergebench.degradations.pictures import spoilt
from convergebench.errors import Interrupted
from convergebench.images.decode import decode
from convergebench.images.encode import encode_png
from convergebench.images.frame import Pixels
from convergebench.images.suite import load_suite
from convergebench.types import SourceImage
from tests.cli.in_process import Done, cbench
from tests.degradations.scenes import scene


@pytest.fixture
def photos(tmp_path: Path) -> Path:
    for number, name in enumerate(("face/anna", "object/cup", "scene/street")):
        path = tmp_path / "photos" / f"{name}.png"
        path.parent.mkdir(parents=True)
        path.write_bytes(encode_png(scene(64, 48, seed=number)))
    return tmp_path / "photos"


@pytest.fixture
def out(tmp_path: Path) -> Path:
    return tmp_path / "sets" / "spoilt"


def degrade(photos: Path, out: Path, *words: object) -> Done:
    return cbench("degrade", photos, "--out", out, *words)


TWO = ("--degradation", "motion-blur", "--degradation", "mixed")


def test_it_writes_a_suite_that_reads_back_with_what_each_copy_is_of(photos: Path, out: Path) -> None:
    done = degrade(photos, out, *TWO)
    assert done.code == 0, done.err
    assert f"6 degraded copies of 3 pictures in {out}\nlook at {out}/sheet.html\n" in done.out
    suite = load_suite(str(out / "suite.toml"))
    told = [(one.id, one.kind, one.clean, one.degradation) for one in suite.images]
    assert told[:3] == [
        ("anna", "face", "", ""),
        ("anna.motion-blur", "motion-blur", "anna", "motion-blur"),
        ("anna.mixed", "face", "anna", "mixed"),
    ]
    assert len(told) == 9
    clean = decode(suite.images[0].read()).pixels
    assert np.array_equal(clean, scene(64, 48, seed=0))
    assert decode(suite.images[1].read()).pixels.shape == clean.shape
    assert "degraded: motion-blur 1, severity 1, seed 0" in suite.images[1].source


def test_all_is_every_degradation_and_the_default(photos: Path, out: Path, tmp_path: Path) -> None:
    assert degrade(photos, out, "--limit", 1).code == 0
    assert degrade(photos, tmp_path / "again", "--limit", 1, "--degradation", "all").code == 0
    names = sorted(path.name for path in (out / "images").iterdir())
    assert len(names) == 9
    for name in names:
        assert (out / "images" / name).read_bytes() == (tmp_path / "again" / "images" / name).read_bytes()


def test_severity_and_seed_decide_the_copies(photos: Path, tmp_path: Path) -> None:
    files = []
    for number, words in enumerate([(), ("--seed", 1), ("--severity", 2)]):
        degrade(photos, tmp_path / str(number), *TWO, *words)
        files.append((tmp_path / str(number) / "images" / "anna.mixed.png").read_bytes())
    assert len(set(files)) == 3


def test_the_same_command_again_finds_its_folder_and_another_one_is_refused(photos: Path, out: Path) -> None:
    degrade(photos, out, *TWO)
    before = {path: path.stat().st_mtime_ns for path in out.rglob("*")}
    again = degrade(photos, out, *TWO)
    assert again.code == 0
    assert "already there: 6 degraded copies of 3 pictures" in again.out
    other = degrade(photos, out, *TWO, "--seed", 7)
    assert other.code == 2
    assert other.err == (
        f"error: --out {out} holds degraded copies made with another recipe (recipe.json); name a new folder\n"
    )
    assert {path: path.stat().st_mtime_ns for path in out.rglob("*")} == before


def test_a_copy_that_was_changed_since_is_noticed(photos: Path, out: Path) -> None:
    degrade(photos, out, *TWO)
    (out / "images" / "anna.mixed.png").write_bytes(b"other")
    done = degrade(photos, out, *TWO)
    assert done.code == 2
    assert "image 'anna.mixed'" in done.err
    assert "sha256 differs" in done.err


def test_a_folder_of_somebody_else_is_never_written_into(photos: Path, out: Path) -> None:
    out.mkdir(parents=True)
    (out / "diary.txt").write_text("mine")
    done = degrade(photos, out, *TWO)
    assert done.code == 2
    assert done.err == f"error: --out {out} is not empty; name a new folder\n"
    assert [path.name for path in out.iterdir()] == ["diary.txt"]


def test_a_picture_that_cannot_be_spoilt_leaves_no_folder(
    photos: Path, out: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object, **__: object) -> None:
        raise MemoryError("no room")

    monkeypatch.setattr("convergebench.conductor.degrading.spoilt", broken)
    assert degrade(photos, out, *TWO).code != 0
    assert list(out.parent.iterdir()) == []


def test_an_interrupted_command_goes_on_where_it_was(photos: Path, out: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The copies of the first picture are kept, and not made again."""
    asked: list[str] = []

    def stopping(image: SourceImage, pixels: Pixels, spoil: Degradation, *, severity: float, seed: int) -> Pixels:
        asked.append(image.id)
        if len(asked) == 3:
            raise Interrupted
        return spoilt(image, pixels, spoil, severity=severity, seed=seed)

    monkeypatch.setattr("convergebench.conductor.degrading.spoilt", stopping)
    stopped = degrade(photos, out, *TWO)
    assert (stopped.code, out.exists()) == (130, False)
    begun = len(asked)
    assert degrade(photos, out, *TWO).code == 0
    assert "anna" not in asked[begun:]
    assert len(load_suite(str(out / "suite.toml")).images) == 9
    assert [path.name for path in out.parent.iterdir()] == ["spoilt"]


@pytest.mark.parametrize(
    ("words", "error"),
    [
        (("--degradation", "motion"), "unknown degradation 'motion'"),
        (("--severity", "9"), "'--severity'"),
        (("--severity", "0"), "'--severity'"),
        (("--severity", "nan"), "'--severity'"),
        (("--seed", "-1"), "'--seed'"),
    ],
)
def test_a_mistake_is_told_before_anything_is_written(
    photos: Path, out: Path, words: tuple[str, ...], error: str
) -> None:
    done = degrade(photos, out, *words)
    assert done.code == 2
    assert error in done.err
    assert not out.parent.exists()


def test_only_clean_pictures_are_spoilt(photos: Path, out: Path, tmp_path: Path) -> None:
    degrade(photos, out, *TWO)
    done = degrade(out / "suite.toml", tmp_path / "twice", "--degradation", "mixed")
    assert done.code == 0, done.err
    assert "3 degraded copies of 3 pictures" in done.out
    text = re.sub(r'clean = "\w+"\n', "", (out / "suite.toml").read_text())
    only = "\n[[image]]".join([text.split("\n[[image]]")[0], text.split("\n[[image]]")[2]])
    (out / "only.toml").write_text(only)
    none = degrade(out / "only.toml", tmp_path / "none")
    assert none.code == 2
    assert "all images of 'spoilt' are already degraded" in none.err


def test_a_picture_with_the_name_of_a_copy_is_refused(photos: Path, out: Path) -> None:
    shutil.copy(photos / "face" / "anna.png", photos / "face" / "anna.mixed.png")
    done = degrade(photos, out, *TWO)
    assert done.code == 2
    assert "the picture 'anna.mixed' has the name of a degraded copy of another" in done.err


def test_pictures_that_are_not_fetched_are_named_or_left_out(
    out: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CONVERGEBENCH_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("CONVERGEBENCH_WEIGHTS", "")
    done = degrade(Path("builtin"), out)
    assert done.code == 2
    assert done.err.rstrip().endswith("type: cbench suite fetch builtin, or leave them out: --partial")


def test_the_recipe_says_how_the_copies_were_made(photos: Path, out: Path) -> None:
    degrade(photos, out, *TWO, "--severity", 1.5, "--seed", 4)
    recipe = json.loads((out / "recipe.json").read_text())
    assert (recipe["from"], recipe["severity"], recipe["seed"]) == (str(photos), 1.5, 4)
    assert [name.partition("@")[0] for name in recipe["degradations"]] == ["motion-blur", "mixed"]
    assert list(recipe["clean"]) == ["anna", "cup", "street"]


def test_a_restoration_study_runs_on_the_set(photos: Path, out: Path, tmp_path: Path) -> None:
    degrade(photos, out, *TWO)
    study = tmp_path / "study.toml"
    study.write_text(
        f'study = "restoration"\neditors = ["sim-perfect"]\nimages = {{ suite = "{out / "suite.toml"}" }}\n'
        'restoration = { scenes = [], reference = "all" }\nmeasure = { metrics = ["psnr"] }\n',
        encoding="utf-8",
    )
    planned = cbench("run", study, "--run", tmp_path / "run", "--dry-run")
    assert planned.code == 0, planned.err
    assert "6 cases" in planned.out
