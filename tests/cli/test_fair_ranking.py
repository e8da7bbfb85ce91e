"""No editor wins by wrecking, refusing or doing nothing: editors written to cheat, from `cbench run` to the page."""

from __future__ import annotations

import html
import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from convergebench.images.encode import encode_png
from tests.cli.conftest import World

EDITORS = '''
"""Editors that mirror as they are told, and editors that cheat."""
import io

from PIL import Image, ImageOps

from convergebench import Capabilities, Edited, EditRequest, Limits
from convergebench.errors import Refused


class Honest:
    """Mirrors, at the price of a JPEG file."""

    quality = 95

    def __init__(self, name: str) -> None:
        self.name, self.fingerprint = name, f"{type(self).__name__}@1"
        self.capabilities, self.limits = Capabilities(deterministic=True, seconds_per_call=0.01), Limits(at_once=2)

    async def edit(self, request: EditRequest) -> Edited:
        picture = Image.open(io.BytesIO(request.image)).convert("RGB")
        return self.answer(self.change(picture, request), request)

    def change(self, picture, request):
        return ImageOps.mirror(picture) if "horizontal" in request.instruction else ImageOps.flip(picture)

    def answer(self, picture, request):
        data = io.BytesIO()
        picture.save(data, "JPEG", quality=self.quality, subsampling=0)
        return Edited(data.getvalue(), "image/jpeg", model=self.name)


class Rough(Honest):
    """The same with more wear."""

    quality = 15


class Exact(Honest):
    """Mirrors without any loss."""

    def answer(self, picture, request):
        data = io.BytesIO()
        picture.save(data, "PNG")
        return Edited(data.getvalue(), "image/png", model=self.name)


class Idle(Honest):
    """Gives back what it was given."""

    async def edit(self, request):
        return Edited(request.image, request.mime, model=self.name)


class Wrecker(Exact):
    """One even grey for five images of twelve, perfect for the others."""

    def change(self, picture, request):
        wrecked = any(f"scene-{number:02}" in request.case for number in range(5))
        return Image.new("RGB", picture.size, (128, 128, 128)) if wrecked else super().change(picture, request)


class Refuser(Exact):
    """Perfect for three images of twelve, refuses the others."""

    def change(self, picture, request):
        if not any(f"scene-{number:02}" in request.case for number in range(3)):
            raise Refused("not this one")
        return super().change(picture, request)


class Keeper(Exact):
    """Does what it is told and never takes it back."""

    def change(self, picture, request):
        return super().change(picture, request) if request.index % 2 == 1 else picture
'''

STUDY = """
study = "roundtrip"
editors = [{editors}]
[roundtrip]
rounds = {rounds}
[images]
suite = "scenes"
[edits]
pairs = ["flip-horizontal"]
[measure]
metrics = ["psnr", "ssim", "rmse", "gist", "happened", "undone"]
[analysis]
quality = ["ssim"]
draws = 500
"""


def scenes(root: Path, count: int) -> None:
    """Pictures with texture that JPEG wears, none of them symmetric."""
    folder = root / "scenes" / "scene"
    folder.mkdir(parents=True, exist_ok=True)
    for index in range(count):
        generator = np.random.default_rng(index)
        coarse = generator.integers(0, 256, (6, 6, 1)).repeat(16, 0).repeat(16, 1).repeat(3, 2)
        pixels = np.clip(coarse + generator.normal(0, 4 + 0.2 * index, coarse.shape), 0, 255).astype(np.uint8)
        (folder / f"scene-{index:02}.png").write_bytes(encode_png(pixels))


def prepared(root: Path, editors: list[str], *, images: int = 12, rounds: int = 2) -> World:
    scenes(root, images)
    (root / "plugins").mkdir()
    (root / "plugins" / "cheats.py").write_text(EDITORS)
    names = ", ".join(f'"{name}"' if name.startswith("sim-") else f'"cheats:{name}"' for name in editors)
    (root / "study.toml").write_text(STUDY.format(editors=names, rounds=rounds))
    return World(root)


def shown(world: World, run: str = "runs/one") -> dict[str, Any]:
    found: dict[str, Any] = json.loads(world.cbench("show", run, "--json").stdout)
    return found


def by_editor(found: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {row["editor"].removeprefix("cheats:"): row for row in found["ranking"]}


def page(world: World, run: str = "runs/one") -> str:
    text = (world.root / run / "report" / "index.html").read_text(encoding="utf-8")
    return re.sub(r"\s+", " ", html.unescape(re.sub(r"<[^>]+>", " ", text)))


@pytest.fixture(scope="module")
def cheated(tmp_path_factory: pytest.TempPathFactory) -> tuple[World, dict[str, Any], str]:
    """One run of all of them: its world, what `show --json` says, and what the terminal said."""
    world = prepared(
        tmp_path_factory.mktemp("cheats"), ["Idle", "Wrecker", "Refuser", "Keeper", "Honest", "Rough", "sim-perfect"]
    )
    said = world.cbench("run", "study.toml", "--run", "runs/one").stdout
    return world, shown(world), said


def test_the_editor_that_does_its_work_is_first(cheated: tuple[World, dict[str, Any], str]) -> None:
    rows = by_editor(cheated[1])
    assert rows["Honest"]["rank"] == 1
    assert rows["Honest"]["score"] > 90
    assert rows["Honest"]["n_cases"] == 12  # nobody's failure takes a case away from the others
    assert cheated[1]["finding"][0].startswith("cheats:Honest")


def test_wrecked_pictures_count_as_lost(cheated: tuple[World, dict[str, Any], str]) -> None:
    row = by_editor(cheated[1])["Wrecker"]
    assert row["n_lost"] == 5 * 2
    assert row["n_missing"] == 0
    assert row["score"] < 75
    assert row["rank"] > 1
    assert row["half_life_events"] >= 5
    assert row["half_life_cases"] == 12
    gist = next(row for row in cheated[1]["auc"] if row["editor"] == "cheats:Wrecker" and row["metric"] == "gist")
    assert (gist["n_cases"], gist["n_lost"], gist["n_missing"]) == (12, 10, 0)
    assert gist["auc"] < 0.75
    assert any("count as lost: 10 of cheats:Wrecker" in sentence for sentence in cheated[1]["finding"])


def test_doing_nothing_scores_nothing_and_is_said(cheated: tuple[World, dict[str, Any], str]) -> None:
    world, found, said = cheated
    row = by_editor(found)["Idle"]
    assert row["closeness"] == pytest.approx(100)
    assert (row["score"], row["done"]) == (0, 0)
    assert row["rank"] > by_editor(found)["Rough"]["rank"]
    told = "cheats:Idle never does “flip-horizontal” (0 of 12 cases)"
    assert any(told in sentence for sentence in found["finding"])
    assert told in " ".join(said.split())
    assert told in page(world)


def test_what_is_never_undone_is_said(cheated: tuple[World, dict[str, Any], str]) -> None:
    row = by_editor(cheated[1])["Keeper"]
    assert (row["done"], row["undone"], row["score"]) == (1, 0, 0)
    assert "cheats:Keeper never undoes “flip-horizontal” (0 of 12 cases)" in " ".join(cheated[1]["finding"])


def test_refusing_costs_the_rank_and_takes_nothing_from_the_others(cheated: tuple[World, dict[str, Any], str]) -> None:
    world, found, said = cheated
    row = by_editor(found)["Refuser"]
    assert row["rank"] is None
    assert (row["n_refused"], row["n_chains"]) == (9, 12)
    assert row["coverage"] == pytest.approx(0.25)
    assert row["score"] == pytest.approx(25)
    sentence = "cheats:Refuser has no rank: it covers 25% of the cases and rounds (9 refused, 0 failed of 12 chains)"
    assert any(sentence in one for one in found["finding"])
    assert "9 refused of 12 chains" in " ".join(said.split())
    assert "cheats:Refuser covers 25 % of the cases and rounds (9 refused, 0 failed of 12 chains)" in page(world)


def test_a_simulated_editor_has_no_rank_among_real_ones(cheated: tuple[World, dict[str, Any], str]) -> None:
    world, found, said = cheated
    row = by_editor(found)["sim-perfect"]
    assert (row["rank"], row["reference"]) == (None, "simulated")
    assert row["score"] == pytest.approx(100)
    assert "no rank: a reference, shown for comparison" in said
    assert "sim-perfect has no rank" in page(world)


def test_the_terminal_fits_and_shows_adherence_tests_and_what_intervals_mean(
    cheated: tuple[World, dict[str, Any], str],
) -> None:
    said = cheated[2]
    assert max(len(line) for line in said.splitlines() if "steps/s" not in line) <= 80
    head = next(line for line in said.splitlines() if line.startswith("#"))
    assert head.split()[:8] == ["#", "editor", "score", "interval", "done", "undone", "usable", "half-life"]
    assert re.search(r"cheats:Honest over cheats:Rough: [\d.]+ \([\d.]+–[\d.]+\), p [<\d. ]+: significant", said)
    assert "for these edits" in said


def test_two_equal_editors_are_not_told_apart(tmp_path: Path) -> None:
    world = prepared(tmp_path, ["Honest", "Exact"], images=5, rounds=1)
    (tmp_path / "plugins" / "cheats.py").write_text(EDITORS + "\n\nclass Twin(Honest):\n    quality = 94\n")
    study = tmp_path / "study.toml"
    study.write_text(study.read_text().replace("cheats:Exact", "cheats:Twin"))
    world.cbench("run", "study.toml", "--run", "runs/one")
    first, second, *_ = shown(world)["finding"]
    assert "cannot be told apart with 5 images" in first
    assert "With 5 images no outcome could be significant (smallest p 0.062)" in second
    assert "cannot be told apart" in page(world)


def test_with_three_images_values_stand_in_place_of_intervals(tmp_path: Path) -> None:
    world = prepared(tmp_path, ["Honest", "Rough"], images=3, rounds=1)
    said = world.cbench("run", "study.toml", "--run", "runs/one").stdout
    row = by_editor(shown(world))["Honest"]
    assert (row["low"], row["high"]) == (None, None)
    assert len(row["values"].split(", ")) == 3
    assert f"cheats:Honest, image by image: {row['values']}." in " ".join(said.split())
    assert row["values"] in page(world)
