"""What the drawn pictures promise."""

from __future__ import annotations

import csv
import re
from functools import cache
from pathlib import Path

import cv2
import numpy as np
import pytest

from convergebench.errors import StudyError
from convergebench.images import pictures
from convergebench.images.frame import Pixels
from convergebench.images.pictures import RECIPES, RENDERER_VERSION, render
from convergebench.types import KINDS

NAMES = tuple(RECIPES)
TECHNIQUES = (
    "portrait",
    "mug",
    "skyscraper",
    "sand-dune",
    "misty-forest",
    "powder",
    "painting-still-life",
    "eyes-grid",
)
"""One recipe for each way of drawing: solids, land, strokes, grains, brushes, ink."""
SAME_STAGE = {"portrait-studio", "portrait-window", "mug", "toy-blocks", "kitchen", "street"}
"""Recipes built on the stage of another one (portrait, vase, room, skyscraper): what holds there holds here."""
PORTRAITS = ("portrait", "portrait-studio", "portrait-window")
CHALLENGES = set(
    "Building Dongpo Ekphrasis Fog Holi Library Moss Peacock Rice Sand Table Kokoro Yuiman".split()  # noqa: SIM905
)
SHARED = Path(__file__).resolve().parents[4] / "shared"


@cache
def picture(name: str, seed: int = 3, width: int = 256, height: int = 256) -> Pixels:
    return render(name, seed=seed, width=width, height=height)


def luma(pixels: Pixels) -> np.ndarray[tuple[int, ...], np.dtype[np.float32]]:
    return cv2.cvtColor(pixels, cv2.COLOR_RGB2GRAY).astype(np.float32)


@pytest.mark.parametrize("name", TECHNIQUES)
def test_the_same_arguments_give_the_same_bytes(name: str) -> None:
    again = render(name, seed=3, width=256, height=256)
    assert np.array_equal(again, picture(name))


def test_every_random_number_comes_from_the_sheet() -> None:
    for module in Path(pictures.__file__).parent.glob("*.py"):
        calls = len(
            re.findall(
                r"default_rng\(|np\.random\.(?!Generator\b)\w+\(|import random|import time", module.read_text("utf-8")
            )
        )
        assert calls == (1 if module.name == "sheet.py" else 0), module.name


@pytest.mark.parametrize("name", NAMES)
def test_seeds_give_visibly_different_pictures(name: str) -> None:
    difference = np.abs(picture(name).astype(np.int16) - picture(name, seed=4))
    assert difference.mean() > 4


@pytest.mark.parametrize("name", NAMES)
def test_a_picture_is_rich_and_well_exposed(name: str) -> None:
    pixels = picture(name)
    grey = luma(pixels)
    assert pixels.shape == (256, 256, 3)
    assert pixels.dtype == np.uint8
    low, high = np.percentile(grey, (1, 99))
    assert high - low > 55, "too flat"
    assert 25 < grey.mean() < 225, "too dark or too light"
    assert np.mean((pixels <= 1).all(axis=2)) < 0.35, "crushed"
    assert np.mean((pixels >= 254).all(axis=2)) < 0.2, "blown out"
    assert len(np.unique(pixels.reshape(-1, 3), axis=0)) > 1500, "too few colours"
    detail = np.abs(cv2.Laplacian(grey, cv2.CV_32F)).mean()
    assert 0.8 < detail < 60, "no detail, or noise"


@pytest.mark.parametrize(
    ("name", "width", "height"),
    [
        ("portrait", 256, 400),
        ("still-life", 384, 256),
        ("character", 256, 400),
        ("eyes-grid", 448, 256),
        ("rice-terraces", 448, 256),
        ("skyscraper", 256, 448),
        ("watch-face", 257, 391),
        ("misty-forest", 391, 257),
    ],
)
def test_any_shape_of_sheet_can_be_drawn(name: str, width: int, height: int) -> None:
    pixels = render(name, seed=1, width=width, height=height)
    assert pixels.shape == (height, width, 3)
    assert luma(pixels).std() > 8


@pytest.mark.parametrize("name", [name for name in NAMES if name not in SAME_STAGE])
def test_a_larger_picture_is_the_same_picture(name: str) -> None:
    large = render(name, seed=3, width=320, height=320)
    reduced = luma(np.asarray(cv2.resize(large, (256, 256), interpolation=cv2.INTER_AREA), dtype=np.uint8))
    assert np.corrcoef(reduced.ravel(), luma(picture(name)).ravel())[0, 1] > 0.9


@pytest.mark.parametrize("name", PORTRAITS)
@pytest.mark.parametrize("seed", [3, 4])
def test_a_simple_skin_detector_finds_one_centred_face(name: str, seed: int) -> None:
    pixels = picture(name, seed=seed)
    _, red, blue = cv2.split(cv2.cvtColor(pixels, cv2.COLOR_RGB2YCrCb))
    skin = ((red > 135) & (red < 185) & (blue > 75) & (blue < 130)).astype(np.float32)
    face = skin[int(256 * 0.42) : int(256 * 0.60), int(256 * 0.30) : int(256 * 0.70)]
    assert face.mean() > 0.5
    columns = np.nonzero(skin[int(256 * 0.48) : int(256 * 0.56), 64:192].mean(axis=0) > 0.5)[0] + 64
    assert abs(np.median(columns) / 256 - 0.5) < 0.09


def test_smooth_gradients_are_dithered_not_banded() -> None:
    sky = picture("sand-dune", width=512, height=512)[:60].astype(np.int16)
    runs = np.mean(np.diff(sky[..., 2], axis=1) == 0)
    assert runs < 0.75


def test_every_texture_challenge_of_the_benchmark_has_a_recipe() -> None:
    assert {recipe.benchmark for recipe in RECIPES.values() if recipe.benchmark} == CHALLENGES


def test_the_challenges_are_those_of_the_published_table() -> None:
    table = SHARED / "tables" / "banana100_table1_images.csv"
    if not table.exists():
        pytest.skip("the published table is not beside the checkout")
    with table.open(encoding="utf-8") as lines:
        assert {row["name"] for row in csv.DictReader(lines)} == CHALLENGES


def test_recipes_are_named_described_and_of_every_kind() -> None:
    for name, recipe in RECIPES.items():
        assert recipe.name == name
        assert recipe.title
        assert recipe.challenge
        assert recipe.kind in KINDS
    kinds = [recipe.kind for recipe in RECIPES.values()]
    assert all(kinds.count(kind) >= 5 for kind in KINDS)
    assert RENDERER_VERSION >= 1


def test_an_unknown_recipe_is_answered_with_a_suggestion() -> None:
    with pytest.raises(StudyError, match="did you mean 'portrait'"):
        render("portrat", seed=0, width=256, height=256)


@pytest.mark.parametrize(("width", "height"), [(255, 256), (256, 5000)])
def test_sizes_out_of_range_are_refused_in_one_line(width: int, height: int) -> None:
    with pytest.raises(StudyError, match="256 to 4096"):
        render("vase", seed=0, width=width, height=height)


def test_a_negative_seed_is_refused() -> None:
    with pytest.raises(StudyError, match="0 or more"):
        render("vase", seed=-1, width=256, height=256)
