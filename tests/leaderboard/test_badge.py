"""Badges: a number with its interval and n, readable without a picture, and honest about simulated editors."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest

from convergebench.conductor.analyse import analyse_run
from tests.cli.in_process import cbench
from tests.leaderboard.conftest import World
from tests.leaderboard.runs import make_run


def _texts(path: Path) -> list[str]:
    space = "{http://www.w3.org/2000/svg}"
    tree = ElementTree.parse(path).getroot()
    assert tree.attrib["role"] == "img"
    return [str(one.text) for one in tree.iter() if one.tag in (f"{space}text", f"{space}title")]


def test_a_badge_has_the_score_of_the_report_its_interval_and_n(world: World, tmp_path: Path) -> None:
    file = tmp_path / "badge.svg"
    done = cbench("badge", world.run, "--editor", "model-a", "--into", file)
    assert done.code == 0, done.err
    row = analyse_run(world.run).comparison.ranking.filter(editor="model-a").row(0, named=True)
    title, left, right = _texts(file)
    assert left == "ConvergeBench roundtrip score"
    assert right == f"{row['score']:.1f} ({row['low']:.1f}–{row['high']:.1f}), n = 12, v0.1.0"
    assert title.startswith("model-a: score "), "a name is written as it is"
    assert "12 cases from 6 images" in title
    assert f"![{title}](badge.svg)" in done.out


def test_a_badge_of_the_half_life(world: World, tmp_path: Path) -> None:
    file = tmp_path / "badge.svg"
    assert cbench("badge", world.run, "-e", "model-b", "--of", "half-life", "--into", file).code == 0
    assert _texts(file)[2].startswith("> 2 rounds")


def test_nothing_is_loaded_from_elsewhere(world: World, tmp_path: Path) -> None:
    file = tmp_path / "badge.svg"
    cbench("badge", world.run, "-e", "model-b", "--into", file)
    text = file.read_text(encoding="utf-8")
    assert text.count("http") == 1  # the name space
    assert not any(word in text for word in ("<script", "<image", "href", "@import", "url("))


def test_a_simulated_editor_is_called_simulated(world: World, tmp_path: Path) -> None:
    run = make_run(tmp_path / "sim", world.pictures, {"sim-tint": "sim-tint"}, rounds=1, limit=2)
    file = tmp_path / "badge.svg"
    done = cbench("badge", run, "--into", file)
    title, left, right = _texts(file)
    assert left == "ConvergeBench simulated roundtrip score"
    assert title.startswith("Simulated sim-tint")
    assert "too few images for an interval (2)" in title
    assert "n = 4" in right
    assert "Simulated" in done.out


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ((), "choose one with --editor"),
        (("-e", "model-c"), "no editor 'model-c'"),
        (("-e", "model-a", "--of", "beauty"), "use score or half-life"),
        (("-e", "model-a", "--into", "x.png"), "a badge is an SVG file"),
    ],
)
def test_bad_input_is_one_line(world: World, words: tuple[str, ...], said: str) -> None:
    done = cbench("badge", world.run, *words)
    assert done.code == 2
    assert said in done.err
    assert done.err.count("\n") == 1
