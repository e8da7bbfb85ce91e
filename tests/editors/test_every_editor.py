"""One contract over every editor that runs without a key: embedded, learned, and made of others.

Editors behind providers go through `providers/test_contract.py` against servers that speak their protocols; local
pipelines through `diffusers/` with small checkpoints. An editor whose weights are not here is skipped, with a word.
"""

from __future__ import annotations

import asyncio
import io
from functools import cache
from typing import Any

import numpy as np
import pytest
from PIL import Image

from convergebench.editors._table import TABLE
from convergebench.editors.base import close, lacks
from convergebench.editors.find import COMPOSITES, make_editor
from convergebench.errors import Refused, StudyError
from convergebench.images.decode import decode, probe
from convergebench.types import Capabilities, Edited, Editor, EditRequest, Limits

MADE = (
    *("paste-back(sim-jpeg)", "anchor(sim-tint)", "best-of(sim-noise, 2, ssim)", "then(sim-jpeg, sim-blur)"),
    *("remake(taesd, megapixels=0.004, back=same)", "remake(span-x2, megapixels=0.01, format=webp, back=same)"),
)
OTHERS = {
    *("replay", "diffusers", "gradio", "http", "resave", *COMPOSITES),  # need options
    *(name for name in TABLE if name.startswith(("flux-", "qwen-", "instruct-"))),  # gigabytes
    *(name for name in TABLE if name.startswith("remake-")),  # a megapixel a call; `remake(…)` stands for them
    *("inpaint-remove", "inpaint-recolour"),  # refuse to add; `inpaint` stands for them
    "sim-flaky",  # often busy, which is its point
}
SLOW = [name for name in TABLE if name.startswith("maxim-")]
NAMES = [
    *(pytest.param(name, marks=pytest.mark.slow) if name in SLOW else name for name in TABLE if name not in OTHERS),
    *MADE,
]
ENLARGE = ("realesrgan-restore", "realesrgan-x4")
"""Work on sixteen times the pixels; a smaller picture does as well."""
CROPS = "sim-crop"
"""Cuts a picture to the aspects it knows, which is its point."""


def picture(width: int = 48, height: int = 40, mode: str = "RGB", kind: str = "PNG") -> bytes:
    pixels = np.random.default_rng(1).integers(60, 200, (height // 8 + 1, width // 8 + 1, 3), np.uint8)
    image = Image.fromarray(pixels).resize((width, height), Image.Resampling.BICUBIC).convert(mode)
    data = io.BytesIO()
    image.save(data, kind)
    return data.getvalue()


@cache
def missing(name: str) -> str:
    return "; ".join(lacks(make_editor(name)))


def made(name: str) -> Editor:
    if missing(name):
        pytest.skip(missing(name))
    return make_editor(name)


def edited(editor: Editor, image: bytes, words: str = "add a red ball", seed: int = 3) -> Edited:
    async def once() -> Edited:
        try:
            return await editor.edit(EditRequest(image, probe(image).mime, words, seed=seed, case="c", index=1))
        finally:
            await close(editor)

    return asyncio.run(once())


def given(name: str) -> bytes:
    return picture(24, 20) if name in ENLARGE else picture()


@cache
def usual(name: str) -> Edited:
    """The answer to `given` under the usual words and seed, by an editor of its own."""
    return edited(made(name), given(name))


def answer_or_refusal(name: str, words: str) -> bytes | str:
    try:
        return edited(made(name), given(name), words).image
    except Refused as refusal:
        return str(refusal)


@pytest.mark.parametrize("name", NAMES)
def test_it_says_what_it_is_before_anything_is_loaded(name: str) -> None:
    editor = make_editor(name)
    assert isinstance(editor, Editor)
    assert editor.name == name
    assert isinstance(editor.capabilities, Capabilities)
    assert isinstance(editor.limits, Limits)
    assert make_editor(name).fingerprint == editor.fingerprint
    assert all(isinstance(lack, str) and "\n" not in lack for lack in lacks(editor))


@pytest.mark.parametrize("name", NAMES)
def test_it_gives_an_image_of_the_type_it_says(name: str) -> None:
    answer = usual(name)
    assert probe(answer.image).mime == answer.mime
    assert name == CROPS or decode(answer.image, alpha="white").size == decode(given(name)).size
    assert answer.model
    assert answer.dollars == 0


@pytest.mark.parametrize("name", NAMES)
def test_the_same_seed_gives_the_same_bytes(name: str) -> None:
    assert edited(made(name), given(name)).image == usual(name).image


@pytest.mark.parametrize("name", NAMES)
def test_it_uses_no_seed_that_it_does_not_take(name: str) -> None:
    editor = made(name)
    if editor.capabilities.deterministic or not editor.capabilities.seed:
        assert edited(editor, given(name), seed=1).image == usual(name).image


@pytest.mark.parametrize("name", NAMES)
def test_words_matter_exactly_to_those_that_read_them(name: str) -> None:
    if name in ("sim-forgetful", "sim-turnless"):
        pytest.skip("it ignores some instructions, which is its point")
    editor = made(name)
    answers = {answer_or_refusal(name, words) for words in ("flip horizontally", "do nothing at all")} | {
        usual(name).image
    }
    assert (len(answers) > 1) == editor.capabilities.instructed


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(
    "image",
    [
        picture(mode="L"),
        picture(kind="JPEG"),
        picture(mode="RGBA"),
        picture(1, 1),
        picture(3, 50),
        picture(kind="WEBP"),
    ],
    ids=["grey", "jpeg", "alpha", "one pixel", "thin", "webp"],
)
def test_any_image_that_can_be_read_is_taken(name: str, image: bytes) -> None:
    size = decode(image, alpha="white").pixels.shape
    answer = decode(edited(made(name), image).image, alpha="white").pixels
    assert name == CROPS or answer.shape[:2] == size[:2]


@pytest.mark.parametrize("name", NAMES)
def test_what_is_no_image_is_said_in_one_line(name: str) -> None:
    editor = made(name)

    async def once() -> Any:
        return await editor.edit(EditRequest(b"<html>", "image/png", "add a hat"))

    with pytest.raises(StudyError) as caught:
        asyncio.run(once())
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("name", NAMES)
def test_a_call_that_is_called_off_leaves_it_whole(name: str) -> None:
    async def broken_off_and_again(editor: Editor) -> Edited:
        request = EditRequest(given(name), "image/png", "add a red ball", seed=3, case="c", index=1)
        task = asyncio.ensure_future(editor.edit(request))
        await asyncio.sleep(0.002)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        try:
            return await editor.edit(request)
        finally:
            await close(editor)

    assert asyncio.run(broken_off_and_again(made(name))).image == usual(name).image
