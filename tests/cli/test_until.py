"""`cbench run --until decided`: stops when the question is decided, says so, and resumes to the same decision."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from convergebench.images.encode import encode_png
from tests.cli.conftest import World, make_world

EDITORS = '''
"""Editors of known merit that cost money and write down every call."""
import io
import os

from PIL import Image, ImageFilter, ImageOps

from convergebench import Capabilities, Edited, EditRequest, Limits
from convergebench.errors import Refused


class Mirror:
    """Mirrors, without any loss."""

    price = 0.04

    def __init__(self, name: str) -> None:
        self.name, self.fingerprint = name, f"{type(self).__name__}@1"
        self.capabilities = Capabilities(deterministic=True, seconds_per_call=0.01, dollars_per_call=self.price)
        self.limits = Limits(at_once=2)

    async def edit(self, request: EditRequest) -> Edited:
        with open(os.environ["PAID_LOG"], "a") as log:
            log.write(f"{self.name} {request.case} {request.index}\\n")
        picture = self.change(ImageOps.mirror(Image.open(io.BytesIO(request.image)).convert("RGB")), request)
        data = io.BytesIO()
        picture.save(data, "PNG")
        return Edited(data.getvalue(), "image/png", model=self.name, dollars=self.price)

    def change(self, picture, request):
        return picture


class Twin(Mirror):
    """The same under another name, at another price."""

    price = 0.4


class Blot(Mirror):
    """Paints over most of what it is given."""

    def change(self, picture, request):
        return Image.effect_noise(picture.size, 90).convert("RGB")


class Unwilling(Mirror):
    """Refuses every third picture."""

    def change(self, picture, request):
        if int(request.case.split("scene-")[1][:2]) % 3 == 0:
            raise Refused("not this one")
        return picture
'''
STUDY = """
study = "roundtrip"
editors = {editors}
[roundtrip]
rounds = 4
[images]
suite = "pictures"
[edits]
pairs = ["flip-horizontal"]
[measure]
metrics = ["ssim", "happened", "undone"]
[analysis]
quality = ["ssim"]
semantic = ""
draws = 200
[until]
seed = 5
step = 2
{until}
"""
CALLS = 8
"""Of one chain."""


@pytest.fixture
def many(tmp_path: Path) -> World:
    """Twelve scenes and the editors above."""
    world = make_world(tmp_path)
    for index in range(2, 12):
        draw(tmp_path, index)
    for index in range(2):
        (tmp_path / "pictures" / "scene" / f"scene-{index}.png").unlink()
        draw(tmp_path, index)
    (tmp_path / "plugins" / "paid_editor.py").write_text(EDITORS)
    points = "\n".join(f"{name.lower()} = paid_editor:{name}" for name in ("Mirror", "Twin", "Blot", "Unwilling"))
    info = tmp_path / "plugins" / "paid_editor-1.0.dist-info"
    (info / "entry_points.txt").write_text(f"[convergebench.editors]\n{points}\n")
    return world


def draw(root: Path, index: int) -> None:
    pixels = np.random.default_rng(index).integers(0, 256, (6, 6, 3), np.uint8).repeat(8, 0).repeat(8, 1)
    (root / "pictures" / "scene" / f"scene-{index:02}.png").write_bytes(encode_png(pixels))


def write(world: World, *editors: str, until: str = "") -> None:
    (world.root / "study.toml").write_text(STUDY.format(editors=json.dumps(list(editors)), until=until))


def shown(world: World) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(world.cbench("show", "runs/study", "--json").stdout)
    return found


RUN = ("run", "study.toml", "--until", "decided", "--plots", "none")


def test_a_clear_difference_costs_a_part_of_the_calls_and_the_page_says_how_it_was_decided(many: World) -> None:
    write(many, "mirror", "blot")
    said = many.cbench(*RUN).stdout
    whole = 12 * 2 * CALLS
    assert many.calls < 0.75 * whole
    assert "Stopped because the question was decided, after" in said
    assert "mirror is ahead of blot by" in said
    assert f"{whole - many.calls} of {whole} calls were not needed, ${0.04 * (whole - many.calls):.2f}" in said
    assert "intervals and p hold at any time" in said
    assert "after Holm" not in said
    found = shown(many)
    (one,) = found["until"]["comparisons"]
    assert (found["until"]["decided"], one["verdict"], one["n_suite"]) == (True, "ahead", 12)
    assert 0 < one["low"] <= one["difference"] <= one["high"]
    assert found["until"]["question"]["seed"] == 5
    assert all(row["low"] is None and row["high"] is None for row in found["ranking"])
    assert found["pairwise"][0]["low"] == pytest.approx(one["low"])
    page = (many.root / "runs/study/report/index.html").read_text()
    assert "What was decided" in page
    assert "they would be for a number of images fixed in advance" in page
    before = many.calls
    again = many.cbench(*RUN).stdout
    assert many.calls == before
    assert "mirror is ahead of blot by" in again
    assert shown(many)["until"] == found["until"]


def test_equal_editors_end_as_no_difference_of_interest(many: World) -> None:
    write(many, "mirror", "twin")
    many.cbench(*RUN, "--no-report")
    found = shown(many)
    assert found["finding"][0].startswith("mirror and twin do not differ by 5 points or more (95% at any time: ")
    assert found["until"]["comparisons"][0]["verdict"] == "alike"


def test_stopping_by_budget_and_going_on_gives_the_decision_of_one_go(many: World) -> None:
    write(many, "mirror", "blot")
    many.cbench(*RUN, "--no-report")
    one_go, calls = shown(many), many.calls
    (many.root / "runs/study").rename(many.root / "runs/whole")
    many.log.unlink()
    for budget in ("0.5", "1.1", "2.3"):
        done = many.cbench(*RUN, "--no-report", "--max-cost", budget, ok=False)
        assert done.returncode == 3
    many.cbench(*RUN, "--no-report")
    assert many.calls == calls
    assert shown(many)["until"] == one_go["until"]


def test_a_run_of_everything_is_decided_without_a_call(many: World) -> None:
    write(many, "mirror", "blot")
    many.cbench("run", "study.toml", "--no-report")
    before = many.calls
    said = many.cbench(*RUN, "--no-report").stdout
    assert many.calls == before
    assert "after 12 of 12 images" in said
    (one,) = shown(many)["until"]["comparisons"]
    assert one["low"] == pytest.approx(one["high"])


def test_three_images_are_decided_for_these_three_only(many: World) -> None:
    write(many, "mirror", "blot")
    many.cbench(*RUN, "--no-report", "--limit", "3")
    (one,) = shown(many)["until"]["comparisons"]
    assert (one["verdict"], one["method"], one["n_images"] <= 3) == ("ahead", "suite", True)
    write(many, "mirror", "blot", until='method = "symmetric"')
    said = many.cbench(*RUN, "--no-report", "--limit", "3", "--run", "runs/other").stdout
    assert "Not decided: mirror and blot are undecided after 3 of 3 images" in said


def test_refusals_count_against_the_editor_that_refuses(many: World) -> None:
    write(many, "mirror", "unwilling")
    many.cbench(*RUN, "--no-report")
    (one,) = shown(many)["until"]["comparisons"]
    assert (one["verdict"], one["n_missing"]) == ("ahead", 0)
    refused = {line.split()[1] for line in many.log.read_text().splitlines() if line.startswith("unwilling")}
    assert refused


def test_another_question_half_way_is_refused_and_nothing_changes(many: World) -> None:
    write(many, "mirror", "blot")
    many.cbench(*RUN, "--no-report", "--max-cost", "1.1", ok=False)
    before = {path: path.read_bytes() for path in (many.root / "runs/study").glob("*.json")}
    calls = many.calls
    for words in (("--difference", "9"), ("--limit", "5"), ("--rounds", "6")):
        done = many.cbench(*RUN, *words, ok=False)
        assert done.returncode == 2
        assert "was begun to decide another question" in done.stderr
        assert len(done.stderr.strip().splitlines()) == 1
    assert many.calls == calls
    assert before == {path: path.read_bytes() for path in (many.root / "runs/study").glob("*.json")}


def test_the_forecast_says_what_a_question_may_save(many: World) -> None:
    write(many, "mirror", "twin")
    said = many.cbench("run", "study.toml", "--until", "decided", "--dry-run").stdout
    assert "until decided: 1 comparison of score, differences from 5 points, error 5% over all" in said
    rows = [line.split() for line in said.splitlines() if " points " in line and "%" in line and "error" not in line]
    assert [row[0] for row in rows] == ["0", "5", "10", "20", "30"]
    calls = [float(row[3]) for row in rows]
    assert calls == sorted(calls, reverse=True)
    assert calls[-1] < calls[0] == 12 * 2 * CALLS
    assert not (many.root / "runs").exists()
    assert many.calls == 0


@pytest.mark.parametrize(
    ("editors", "until", "words", "told"),
    [
        (("mirror", "blot"), "", ("--until", "later"), "--until later: a run can be made until decided"),
        (("mirror",), "", ("--until", "decided"), "--until decided needs two editors to compare"),
        (("mirror", "blot"), 'editors = ["miror"]', ("--until", "decided"), "did you mean 'mirror'?"),
        (("mirror", "blot"), 'number = "lpips"', ("--until", "decided"), "the study does not measure lpips"),
        (("mirror", "blot"), "error = 0.7", ("--until", "decided"), "until.error"),
    ],
)
def test_what_cannot_be_asked_is_refused_before_the_first_call(
    many: World, editors: tuple[str, ...], until: str, words: tuple[str, ...], told: str
) -> None:
    write(many, *editors, until=until)
    done = many.cbench("run", "study.toml", *words, ok=False)
    assert done.returncode == 2
    assert told in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1
    assert not (many.root / "runs").exists()


def test_a_renamed_editor_keeps_its_decision_and_a_stopped_run_is_not_merged_or_submitted(many: World) -> None:
    write(many, "mirror", "blot")
    many.cbench(*RUN, "--no-report")
    many.cbench("rename", "runs/study", "blot", "stain")
    assert shown(many)["finding"][0].startswith("mirror is ahead of stain by")
    many.cbench("run", "study.toml", "--limit", "2", "--run", "runs/other", "--editor", "mirror", "--no-report")
    for words in (("merge", "runs/study", "runs/other", "--into", "runs/both"), ("submit", "runs/study")):
        done = many.cbench(*words, ok=False)
        assert done.returncode == 2
        assert "runs/study was stopped when its question was decided" in done.stderr


def test_a_damaged_record_is_told_in_one_line(many: World) -> None:
    write(many, "mirror", "blot")
    many.cbench(*RUN, "--no-report")
    for text in ("{", '{"format": 9, "question": {}}', '{"format": 1, "question": {"seed": 1}}'):
        (many.root / "runs/study/until.json").write_text(text)
        done = many.cbench("show", "runs/study", ok=False)
        assert done.returncode == 2
        assert "until.json" in done.stderr
