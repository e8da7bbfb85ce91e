"""The editor around the network, with a tiny network in the place of the real one."""

from __future__ import annotations

import asyncio
import hashlib
import importlib
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from convergebench.editors._table import TABLE
from convergebench.editors.base import BaseEditor
from convergebench.editors.maxim import editor as room
from convergebench.editors.maxim.frame import Margins, margins, tiles
from convergebench.errors import Prerequisite, StudyError
from convergebench.images.decode import decode
from convergebench.images.encode import encode_png
from convergebench.images.frame import Pixels
from convergebench.registry import load
from convergebench.types import Edited, Editor, EditRequest
from convergebench.weights import catalogue
from tests.tfjs.tiny import PICTURE, TinyModel

NAMES = [name for name in TABLE if name.startswith("maxim-")]


def tiny_network(folder: Path) -> None:
    """Adds a fifth of the mean over the whole picture: a network that looks at all of it, as the real ones do."""
    model = TinyModel()
    total = model.node("Sum", PICTURE, model.constant([1, 2]), keep_dims=True)
    ones = model.node("BroadcastTo", model.constant(1.0), model.node("Shape", PICTURE))
    mean = model.node("RealDiv", total, model.node("Sum", ones, model.constant([1, 2]), keep_dims=True))
    kernel = np.zeros((3, 3, 3, 3), np.float32)
    kernel[1, 1] = np.eye(3) * 0.8
    same = model.node("Conv2D", PICTURE, model.constant(kernel), padding="SAME", strides=[1, 1, 1, 1])
    out = model.node("AddV2", same, model.node("Mul", mean, model.constant(0.2)))
    model.write(folder, out, shards=1)


@pytest.fixture(autouse=True)
def weights(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """All seven are declared, and the tiny network stands for each of them."""
    here = tmp_path / "here"
    text = ""
    for name in NAMES:
        (here / name).mkdir(parents=True)
        tiny_network(here / name)
        files = [
            f'{{ path = "{path.name}", sha256 = "{hashlib.sha256(path.read_bytes()).hexdigest()}" }}'
            for path in sorted((here / name).iterdir())
        ]
        text += f'[[weight]]\nname = "{name}"\nabout = "tiny"\nlicence = "MIT"\nfiles = [{", ".join(files)}]\n'
        text += '[[weight.sources]]\nnpm = "tiny"\nversion = "1"\nmembers = ["a", "b"]\n'
    (tmp_path / "declared").mkdir()
    (tmp_path / "declared" / "maxim.toml").write_text(text)
    monkeypatch.setattr(catalogue, "DATA", tmp_path / "declared")
    monkeypatch.setenv("CONVERGEBENCH_WEIGHTS", str(here))
    monkeypatch.setenv("CONVERGEBENCH_CACHE", str(tmp_path / "cache"))
    catalogue.catalogue.cache_clear()
    yield here
    catalogue.catalogue.cache_clear()


def make(name: str = "maxim-denoising", **options: Any) -> room.MaximEditor:
    editor: room.MaximEditor = load("editors", name)(name, **options)
    return editor


def edit(editor: Editor, pixels: Pixels, words: str = "add a hat", **rest: Any) -> Edited:
    async def once() -> Edited:
        return await editor.edit(EditRequest(encode_png(pixels), "image/png", words, **rest))

    return asyncio.run(once())


def noise(height: int, width: int) -> Pixels:
    return np.random.default_rng(4).integers(0, 256, (height, width, 3), np.uint8)


@pytest.mark.parametrize("name", NAMES)
def test_every_task_is_an_editor(name: str) -> None:
    editor = make(name)
    assert isinstance(editor, Editor)
    assert isinstance(editor, BaseEditor)
    assert editor.name == name
    assert editor.fingerprint.startswith(f"{name}@1:")
    assert editor.lacks() == []
    assert editor.capabilities.deterministic
    assert not editor.capabilities.instructed
    assert not editor.capabilities.seed
    assert editor.limits.at_once == 1
    module, _, factory = TABLE[name].partition(":")
    assert str(getattr(importlib.import_module(module), factory).__doc__).startswith(f"`{name}`: ")
    assert decode(edit(editor, noise(5, 5)).image).pixels.shape == (5, 5, 3)


def test_the_seven_are_there() -> None:
    assert len(NAMES) == 7


def test_it_does_what_the_network_does() -> None:
    pixels = noise(64, 128)
    edited = edit(make(), pixels)
    expected = np.rint(0.8 * pixels + 0.2 * pixels.mean((0, 1)))
    np.testing.assert_allclose(decode(edited.image).pixels, expected, atol=1)
    assert np.mean(decode(edited.image).pixels == expected) > 0.99
    assert edited.mime == "image/png"
    assert edited.dollars == 0
    assert edited.used["padding"] == {"kind": "reflect", "above": 0, "below": 0, "left": 0, "right": 0}
    assert edited.used["tile"] == "whole"
    assert edited.used["device"] == "cpu"


@pytest.mark.parametrize("shape", [(1, 1), (1, 70), (63, 2), (65, 64), (40, 100), (10, 129)])
def test_any_size_comes_back_as_it_was(shape: tuple[int, int]) -> None:
    for editor in (make(), make(padding="zeros"), make(tile=64)):
        assert decode(edit(editor, noise(*shape)).image).pixels.shape == (*shape, 3)


def test_margins_are_mirrored_on_both_sides_or_black_below_and_right() -> None:
    assert margins(64, 128, "reflect") == Margins(0, 0, 0, 0)
    assert margins(63, 61, "reflect") == Margins(0, 1, 1, 2)
    assert margins(63, 61, "zeros") == Margins(0, 1, 0, 3)
    pixels = np.full((32, 64, 3), 200, np.uint8)
    # mirrored, a flat picture stays what it is; with black below, the network sees a darker one
    assert np.all(decode(edit(make(), pixels).image).pixels == 200)
    assert np.all(decode(edit(make(padding="zeros"), pixels).image).pixels == 180)
    assert edit(make(padding="zeros"), pixels).used["padding"]["below"] == 32


def test_values_are_rounded_to_the_nearest_or_down() -> None:
    pixels = np.full((64, 64, 3), 10, np.uint8)
    pixels[:32] = 13  # 0.8 · 13 + 0.2 · 11.5 = 12.7 and 0.8 · 10 + 0.2 · 11.5 = 10.3
    assert {tuple(row) for row in decode(edit(make(), pixels).image).pixels[:, 0]} == {(13, 13, 13), (10, 10, 10)}
    down = decode(edit(make(rounding="down"), pixels).image).pixels
    assert {tuple(row) for row in down[:, 0]} == {(12, 12, 12), (10, 10, 10)}


def test_a_tile_is_looked_at_by_itself() -> None:
    pixels = np.zeros((64, 128, 3), np.uint8)
    pixels[:, 64:] = 100
    whole, tiled = (decode(edit(editor, pixels).image).pixels for editor in (make(), make(tile=64)))
    assert (int(whole[0, 0, 0]), int(whole[0, 127, 0])) == (10, 90)
    assert (int(tiled[0, 0, 0]), int(tiled[0, 127, 0])) == (0, 100)
    assert edit(make(tile=64), pixels).used["tile"] == 64
    assert list(tiles(128, 64, 0)) == [(slice(0, 128), slice(0, 64))]
    assert list(tiles(192, 64, 128)) == [(slice(0, 128), slice(0, 64)), (slice(128, 192), slice(0, 64))]


def test_words_and_seeds_are_not_read() -> None:
    editor, pixels = make(), noise(30, 40)
    answers = [edit(editor, pixels, words, seed=seed) for words, seed in (("rotate", 1), ("add a hat", 2))]
    assert answers[0] == answers[1] == edit(make(), pixels)


def test_options_that_change_the_pixels_are_part_of_the_identity() -> None:
    prints = [
        make().fingerprint,
        make(tile=64).fingerprint,
        make(padding="zeros").fingerprint,
        make(rounding="down").fingerprint,
        make("maxim-deraining").fingerprint,
    ]
    assert len(set(prints)) == len(prints)
    assert make(device="cpu").fingerprint == prints[0]


@pytest.mark.parametrize(
    ("options", "why"),
    [
        ({"tiles": 64}, "unknown key 'tiles'; did you mean 'tile'"),
        ({"tile": 100}, "multiple of 64"),
        ({"tile": -64}, "greater than or equal to 0"),
        ({"padding": "edge"}, "'reflect' or 'zeros'"),
        ({"device": "gpu"}, "device"),
    ],
)
def test_an_option_that_makes_no_sense_is_one_line(options: dict[str, Any], why: str) -> None:
    with pytest.raises(StudyError, match=why) as caught:
        make(**options)
    assert "\n" not in str(caught.value)


def test_without_its_weights_it_can_be_made_and_says_what_to_type(weights: Path) -> None:
    shutil.rmtree(weights / "maxim-denoising")
    editor = make()
    assert editor.lacks() == ["the weights 'maxim-denoising' are not here; type: cbench weights fetch maxim-denoising"]
    with pytest.raises(Prerequisite, match=r"editor 'maxim-denoising': the weights .* cbench weights fetch"):
        edit(editor, noise(4, 4))


def test_weights_with_another_checksum_are_not_read(weights: Path) -> None:
    (weights / "maxim-denoising" / "group1-shard1of1.bin").write_bytes(b"something else")
    with pytest.raises(
        Prerequisite, match=r"group1-shard1of1\.bin exists, but is a different file: its checksum differs"
    ):
        edit(make(), noise(4, 4))


def test_a_gpu_that_is_not_there_is_said_so() -> None:
    (only,) = make(device="cuda:99").lacks()
    assert only.startswith("there is no cuda:99 here")


@pytest.mark.gpu
def test_a_gpu_gives_the_same_picture() -> None:
    pixels = noise(100, 90)
    there, here = edit(make(device="cuda"), pixels), edit(make(device="cpu"), pixels)
    assert there.used["device"] == "cuda"
    difference = decode(there.image).pixels.astype(int) - decode(here.image).pixels
    assert np.abs(difference).max() <= 1
    assert np.mean(difference != 0) < 0.01


def test_after_a_cancelled_call_and_after_closing_the_next_one_goes_well() -> None:
    editor, pixels = make(), noise(64, 64)
    expected = edit(editor, pixels)

    async def unruly() -> list[Edited]:
        request = EditRequest(encode_png(pixels), "image/png", "x")
        given_up = asyncio.create_task(editor.edit(request))
        await asyncio.sleep(0)
        given_up.cancel()
        answers = await asyncio.gather(*(editor.edit(request) for _ in range(4)))
        await editor.close()
        return [*answers, await editor.edit(request)]

    assert asyncio.run(unruly()) == [expected] * 5


def test_making_one_loads_neither_torch_nor_a_client() -> None:
    code = (
        "import sys; from convergebench.registry import load; "
        "load('editors', 'maxim-denoising')('maxim-denoising').lacks; "
        "assert not {'torch', 'httpx'} & set(sys.modules), 'loaded'"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)


def test_a_broken_image_is_one_line() -> None:
    async def once() -> Edited:
        return await make().edit(EditRequest(b"not an image", "image/png", "x"))

    with pytest.raises(StudyError, match="the image given to maxim-denoising is not a readable image"):
        asyncio.run(once())
