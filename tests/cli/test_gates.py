"""`cbench run --fail-under`, `--no-worse-than`, `--junit`, `--json`: what a pipeline can rely on."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest

from convergebench.images.encode import encode_png
from tests.cli.in_process import Done, cbench

STUDY = """
study = "roundtrip"
editors = [{editors}]
[roundtrip]
rounds = 2
[images]
suite = "pictures"
[edits]
pairs = ["flip-horizontal"]
[measure]
metrics = ["ssim", "gist", "happened", "undone"]
[analysis]
quality = ["ssim"]
draws = 200
"""
EDITOR = '''
import io
import os

from PIL import Image, ImageOps

from convergebench import FunctionEditor


def good(name):
    """Mirrors without a loss."""
    return FunctionEditor(lambda image, instruction: ImageOps.mirror(image), name, version="1")


def bad(name):
    """Mirrors and saves a poor JPEG."""
    def edit(image, instruction):
        data = io.BytesIO()
        ImageOps.mirror(image).convert("RGB").save(data, "JPEG", quality=3)
        return Image.open(data)
    return FunctionEditor(edit, name, version="1")


def lazy(name):
    """Does nothing at all."""
    return FunctionEditor(lambda image, instruction: image, name, version="1")


def moody(name):
    """Fails on dark pictures."""
    def edit(image, instruction):
        if image.convert("L").resize((1, 1)).getpixel((0, 0)) < 127:
            raise ValueError("too dark, said " + os.environ.get("A_KEY", ""))
        return ImageOps.mirror(image)
    return FunctionEditor(edit, name, version="1")
'''
GOOD, BAD, LAZY, MOODY = (
    f'{{ name = "mine", use = "own_gate_editors:{name}" }}' for name in ("good", "bad", "lazy", "moody")
)


def write_study(name: str, *editors: str) -> None:
    Path(name).write_text(STUDY.format(editors=", ".join(editors)))


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Seven small pictures, and runs with a good and a bad editor."""
    root = tmp_path_factory.mktemp("gates")
    (root / "pictures").mkdir()
    for seed in range(7):
        pixels = np.random.default_rng(seed).integers(0, 256, (4, 4, 3), np.uint8).repeat(12, 0).repeat(12, 1)
        (root / "pictures" / f"{seed}.png").write_bytes(encode_png(pixels))
    (root / "own_gate_editors.py").write_text(EDITOR)
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(root)
        patch.setattr("os.cpu_count", lambda: 1)
        write_study("good.toml", GOOD)
        write_study("bad.toml", BAD)
        for name in ("good", "bad"):
            assert cbench("run", f"{name}.toml", "--no-report").code == 0
    return root


@pytest.fixture
def here(made: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    shutil.copytree(made, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("os.cpu_count", lambda: 1)
    return tmp_path


def run(study: str, *words: object) -> Done:
    return cbench("run", f"{study}.toml", "--no-report", *words)


def test_a_score_that_is_high_enough_passes_and_one_that_is_not_exits_with_4(here: Path) -> None:
    passed = run("good", "--fail-under", "90", "--junit", "j.xml", "--json", "j.json")
    assert passed.code == 0, passed.err
    assert "passed  mine: score 100.0" in passed.out
    found = json.loads((here / "j.json").read_text())
    assert (found["passed"], found["exit_code"], found["run"]) == (True, 0, "runs/good")
    assert [(one["check"], one["outcome"]) for one in found["checks"]] == [
        ("delivered", "passed"),
        ("fail-under", "passed"),
    ]
    assert found["checks"][1]["numbers"]["score"] == pytest.approx(100)
    assert found["checks"][1]["numbers"]["n_sources"] == 7
    failed = run("bad", "--fail-under", "99", "--junit", "j.xml", "--json", "j.json")
    assert failed.code == 4
    assert "failed  mine: score" in failed.out
    assert "is under 99" in failed.out
    assert "95%:" in failed.out, "the interval is shown"
    (suite,) = ElementTree.parse(here / "j.xml").getroot()
    assert (suite.get("tests"), suite.get("failures"), suite.get("errors")) == ("2", "1", "0")
    assert [case.get("name") for case in suite] == ["mine: delivered", "mine: fail-under"]
    assert "is under 99" in str(suite[1][0].get("message"))
    assert json.loads((here / "j.json").read_text())["exit_code"] == 4


def test_an_editor_that_does_nothing_does_not_pass(here: Path) -> None:
    write_study("lazy.toml", LAZY)
    done = run("lazy", "--fail-under", "1")
    assert done.code == 4, done.out
    assert "score 0.0" in done.out
    text = (here / "lazy.toml").read_text().replace('"happened", ', "").replace(', "happened"', "")
    (here / "blind.toml").write_text(text)
    done = run("blind", "--fail-under", "1")
    assert (done.code, (here / "runs" / "blind").exists()) == (2, False)
    assert "an editor that does nothing would score 100; add -m ssim" in done.err


def test_an_editor_that_failed_a_case_does_not_pass(here: Path) -> None:
    write_study("moody.toml", MOODY)
    done = run("moody", "--fail-under", "0.5")
    assert done.code == 4, done.err
    assert "failed of 7 chains" in done.out


def test_a_run_in_which_every_chain_failed_is_an_error_and_tells_no_key(
    here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("A_KEY", "k3y-of-somebody-0123456789abcdef")
    for path in (here / "pictures").iterdir():
        path.write_bytes(encode_png(np.full((32, 32, 3), len(path.name) + int(path.stem), np.uint8)))
    write_study("moody.toml", MOODY)
    done = run("moody", "--fail-under", "0.5", "--junit", "j.xml", "--json", "j.json")
    assert done.code == 1
    assert "too dark" in done.err.splitlines()[-1], "the reason is in the error"
    files = [(here / name).read_text() for name in ("j.xml", "j.json")]
    assert all("too dark" in text for text in files)
    assert "0123456789abcdef" not in "".join([done.out, done.err, *files])
    (suite,) = ElementTree.parse(here / "j.xml").getroot()
    assert (suite.get("tests"), suite.get("errors")) == ("1", "1")
    assert json.loads(files[1])["exit_code"] == 1


def test_no_worse_than_fails_only_a_significant_loss(here: Path) -> None:
    worse = run("bad", "--no-worse-than", "runs/good", "--json", "j.json")
    assert worse.code == 4, worse.err
    assert "worse (margin 0)" in worse.out
    numbers = json.loads((here / "j.json").read_text())["checks"][-1]["numbers"]
    assert numbers["difference"] == pytest.approx(numbers["now"] - numbers["before"])
    assert numbers["high"] < 0
    assert (numbers["n_sources"], numbers["than"], numbers["margin"]) == (7, "runs/good", 0)
    better = run("good", "--no-worse-than", "runs/bad")
    assert (better.code, "not significantly worse" in better.out) == (0, True)
    same = cbench("run", "good.toml", "--run", "runs/again", "--no-worse-than", "runs/good", "--no-report")
    assert (same.code, "+0.0" in same.out) == (0, True), same.out + same.err
    assert "cannot be compared with itself" in run("good", "--no-worse-than", "runs/good").err


def test_a_failed_case_counts_as_lost_and_not_as_left_out(here: Path) -> None:
    """Dropping the hard cases must not hide a loss."""
    write_study("moody.toml", MOODY)
    run("moody", "--no-worse-than", "runs/good", "--json", "j.json")
    numbers = json.loads((here / "j.json").read_text())["checks"][-1]["numbers"]
    assert (numbers["n_cases"], numbers["n_left_out"]) == (7, 0)
    assert numbers["now"] < 80 < numbers["before"]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--fail-under", "0"), "give a score above 0"),
        (("--fail-under", "nan"), "give a score above 0"),
        (("--no-worse-than", "runs/nothing"), "runs/nothing is not a run"),
        (("--no-worse-than", "runs/new"), "is not a run"),
        (("--no-worse-than", "runs/good", "--limit", "4"), "use at least 6 images"),
        (("--no-worse-than", "runs/good", "--pair", "rotate-90"), "no case in common"),
        (("--no-worse-than", "runs/good", "-e", "sim-jpeg", "-e", "sim-tint"), "has no editor 'sim-jpeg'"),
        (("--junit", "no/such/folder/j.xml"), "--junit no/such/folder/j.xml cannot be written"),
        (("--json", "pictures"), "--json pictures cannot be written"),
    ],
)
def test_what_cannot_be_answered_is_refused_before_anything_is_done(
    here: Path, words: tuple[str, ...], said: str
) -> None:
    done = cbench("run", "bad.toml", "--run", "runs/new", "--no-report", *words)
    assert done.code == 2
    assert said in done.err
    assert done.err.count("\n") == 1
    assert not (here / "runs" / "new").exists()


def test_a_study_without_a_score_is_refused_at_once(here: Path) -> None:
    (here / "r.toml").write_text('study = "restoration"\neditors = ["unsharp"]\n[images]\nsuite = "pictures"\n')
    done = cbench("run", "r.toml", "--fail-under", "50")
    assert done.code == 2
    assert done.err == "error: --fail-under needs a score, and the study 'restoration' has none; leave it out\n"


def test_references_beside_a_model_are_not_checked(here: Path) -> None:
    write_study("both.toml", LAZY, '"sim-jpeg"')
    done = run("both", "--fail-under", "1")
    assert done.code == 4
    assert "skipped sim-jpeg: a reference (simulated), not checked" in done.out
