"""A function of one's own, from `--metric` to the report; measured again when it changes; a run does not load it."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import convergebench as cb
from convergebench.conductor.analyse import report_input
from convergebench.images.encode import encode_png
from tests.cli.conftest import World

OWN = """
import numpy as np

def brightness(image):
    return float(np.asarray(image).mean() / {scale})

brightness.better = "higher"
brightness.range = (0, 1)

def distance(image, reference):
    return float(abs(np.asarray(image, float) - np.asarray(reference, float)).mean())

distance.better, distance.range = "lower", (0, 255)
"""
RUN = (
    "run",
    "study.toml",
    "--rounds",
    "1",
    "--run",
    "r",
    "--metric",
    "mine.py:brightness",
    "--metric",
    "mine.py:distance",
)


def values(world: World, metric: str = "brightness") -> list[float]:
    given = report_input(world.root / "r")
    return (
        given.measurements.filter(pl.col("metric") == metric).sort("editor", "case", "role", "step")["value"].to_list()
    )


def test_functions_are_measured_reported_and_measured_again_when_they_change(world: World) -> None:
    (world.root / "mine.py").write_text(OWN.format(scale=255))
    world.cbench(*RUN)
    before = values(world)
    assert before
    assert all(0 < one < 1 for one in before)
    given = report_input(world.root / "r")
    assert given.facts["distance"].better == "lower"
    page = (world.root / "r" / "report" / "index.html").read_text()
    assert "brightness" in page
    assert "0 values added" in world.cbench("measure", "r", "--metric", "mine.py:brightness").stdout
    (world.root / "mine.py").write_text(OWN.format(scale=510))
    world.cbench("measure", "r", "--metric", "mine.py:brightness")
    assert values(world) == pytest.approx([one / 2 for one in before])
    world.cbench(*RUN)
    assert values(world) == pytest.approx([one / 2 for one in before])


def test_a_run_of_somebody_else_s_is_read_without_its_code(world: World) -> None:
    (world.root / "mine.py").write_text(OWN.format(scale=255))
    world.cbench(*RUN, "--no-report")
    (world.root / "mine.py").write_text("open('was-loaded', 'w').close()")
    world.cbench("report", "r")
    world.cbench("show", "r")
    done = world.cbench("measure", "r", "--metric", "rmse")
    assert "values added" in done.stdout
    said = world.cbench("measure", "r")
    assert "functions are measured when they are named" in said.stdout + said.stderr
    world.cbench("run", "study.toml", "--rounds", "1", "--run", "r", "--metric", "rmse")
    world.cbench("export", "r", "--as", "imagefolder", "--out", "out")
    assert "brightness" in (world.root / "out" / "README.md").read_text()
    assert not (world.root / "was-loaded").exists()
    assert "brightness" in (world.root / "r" / "report" / "index.html").read_text()


def test_a_function_that_says_too_little_is_refused_before_anything_is_done(world: World) -> None:
    (world.root / "mine.py").write_text("def f(image):\n    return 0.5\n")
    refused = world.cbench("run", "study.toml", "--run", "r", "--metric", "mine.py:f", ok=False)
    assert refused.stderr == (
        "error: metric 'mine.py:f' does not say which values are better and how far they go; add two lines below it: "
        'f.better = "higher" (or "lower"), f.range = (0, 1)\n'
    )
    assert not (world.root / "r").exists()


def test_a_function_that_fails_is_one_line(world: World) -> None:
    (world.root / "mine.py").write_text(
        "def f(image):\n    return image.size[7]\nf.better, f.range = 'lower', (0, 1)\n"
    )
    refused = world.cbench("run", "study.toml", "--run", "r", "--rounds", "1", "--metric", "mine.py:f", ok=False)
    assert "error: metric 'f' failed on i1:" in refused.stderr
    assert "IndexError: tuple index out of range" in refused.stderr


def test_other_processes_find_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "mine.py").write_text(OWN.format(scale=255))
    files = []
    for index in range(9):
        files.append(tmp_path / f"{index}.png")
        files[-1].write_bytes(encode_png(np.full((8, 8, 3), index * 20, np.uint8)))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    table = cb.score(files, metric="mine.py:brightness", workers=2)
    assert isinstance(table, pl.DataFrame)
    assert table["value"].to_list() == pytest.approx([index * 20 / 255 for index in range(9)])
    assert set(table["metric"]) == {"brightness"}


def test_python_takes_the_function_itself(tmp_path: Path) -> None:
    calls = []

    def redness(image: object) -> float:
        calls.append(image)
        return float(np.asarray(image)[..., 0].mean())

    redness.better, redness.range = "higher", (0, 255)  # type: ignore[attr-defined]
    picture = np.full((16, 16, 3), 40, np.uint8)
    assert cb.score(picture, metric=redness) == 40
    run = cb.run(
        editors=["sim-tint"], images=[picture], rounds=1, metrics=[redness, "rmse"], root=tmp_path / "r",
        edits={"pairs": ["flip-horizontal"]}, workers=2, progress=False,
    )  # fmt: skip
    found = run.measurements.filter(pl.col("metric") == "redness")
    assert found.height > 0
    assert found["value"].null_count() == 0

    def changed(image: object) -> float:
        return 7.0

    changed.__name__ = "redness"
    changed.better, changed.range = "higher", (0, 255)  # type: ignore[attr-defined]
    run.measure(changed, progress=False)
    again = cb.load(tmp_path / "r").measurements.filter(pl.col("metric") == "redness")
    assert again.height == found.height
    assert set(again["value"]) == {7.0}
