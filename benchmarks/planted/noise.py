"""Low-level failures, planted from a known step on, and chains that have none of them.

Each picture gives, for every failure, a chain of six steps that is only re-encoded before the planted step (subtle,
clear and strong by turns of the pictures); half of the clean chains (the same bytes, re-encoded, resized, cropped,
nudged, brighter, faded, mirrored to and fro, with things added), by turns; and eight steps of half of the package's
simulated editors. Colours and patterns stay the same along a chain, static and specks are drawn anew.
"""

from __future__ import annotations

import asyncio
import zlib
from collections.abc import Callable, Iterable, Iterator
from functools import partial

import cv2
import numpy as np
from PIL import Image

from benchmarks.planted import Planted
from benchmarks.planted._damage import MAKES, Chance, Damage, compressed
from benchmarks.planted._pictures import Picture, pictures
from convergebench.editors.find import make_editor
from convergebench.failures.base import ChainView, Compared, StepView
from convergebench.images.decode import decode
from convergebench.images.encode import encode_png
from convergebench.images.frame import Frame, Pixels
from convergebench.types import EditRequest

STEPS = 6
WALKED = 8
STRENGTHS = ("subtle", "clear", "strong")
FRESH = ("static-noise", "scatter-points")
"""Failures that are drawn anew at every step."""
BARELY = 0.5
"""Mean change, in levels, under which a failure was planted where it changes nothing (no texture to lose)."""
MODES = tuple(MAKES)
"""The detectors that this module measures."""
WORDS = "Produce an exact replica of the provided image, with no alterations."

BRINGS: dict[str, frozenset[str]] = {
    "melted": frozenset({"simplification"}),
    "blocks": frozenset({"texture-loss", "simplification", "contour-wrinkles", "colour-cast"}),
    "few_colours": frozenset({"texture-loss"}),
    "few_colours_in_places": frozenset({"texture-loss"}),
}
"""What comes with a damage whatever one does: flat colours have no texture, and JPEG at 30 or less has little, rings
along outlines, and rounds colours to few."""

SIMULATED: dict[str, tuple[str, frozenset[str]]] = {
    "sim-noise": ("static-noise", frozenset()),
    "sim-scatter": ("scatter-points", frozenset()),
    "sim-wrinkle": ("contour-wrinkles", frozenset({"texture-loss"})),
    "sim-simplify": ("texture-loss", frozenset({"simplification"})),
    "sim-tint": ("colour-cast", frozenset()),
    "sim-blur": ("texture-loss", frozenset()),
    "sim-jpeg": ("clean", frozenset({"lattice"})),
    "sim-perfect": ("clean", frozenset()),
}
"""Editor → what it does from the first step on, and what comes with it (JPEG at 75 leaves blocks that few can see)."""


def planted(limit: int, seed: int, half: str = "test") -> Iterator[Planted]:
    """Every chain of `limit` pictures of a half."""
    for number, picture in enumerate(pictures(limit, half)):
        yield from _damaged(picture, number, seed)
        yield from _clean(picture, number, seed)
        yield from _walked(picture, number, seed)


def _chance(seed: int, *words: object) -> Chance:
    return np.random.default_rng([seed, *(zlib.crc32(str(word).encode()) for word in words)])


def chain_of(
    name: str, source: str, frames: list[Pixels], *, compared: Compared = "whole", mirrored: bool = False
) -> ChainView:
    """Pictures in order as a chain; a picture is made a frame anew each time it is asked for, as when it is decoded."""
    steps = [
        StepView(
            index,
            partial(Frame, pixels),
            compared=compared if index else "whole",
            orientation="flip-horizontal" if mirrored and index % 2 else None,
            parent=max(0, index - 1),
        )
        for index, pixels in enumerate(frames)
    ]
    return ChainView("planted", name, source, "replicate", "replication", steps)


def _damaged(picture: Picture, number: int, seed: int) -> Iterator[Planted]:
    for place, (mode, makes) in enumerate(MAKES.items()):
        # kinds of pictures come by turns of three: strengths and makes shift with every turn, so that all meet all
        turn = number // 3
        strength = (number + turn + place) % len(STRENGTHS)
        word = STRENGTHS[strength]
        make = makes[(turn + strength) % len(makes)]
        chance = _chance(seed, picture.name, mode, word)
        truth = int(chance.integers(1, STEPS - 2))
        name = f"{mode}/{word}/{make.__name__}/{picture.name}"
        frames = _planted_from(picture.pixels, truth, make, strength, mode in FRESH, chance)
        if np.abs(frames[truth].astype(np.int16) - frames[0]).mean() < BARELY and mode == "texture-loss":
            continue
        chain = chain_of(name, picture.name, frames)
        yield Planted(name, mode, chain, truth, word, BRINGS.get(make.__name__, frozenset()), picture.split)


def _planted_from(pixels: Pixels, truth: int, make: Damage, strength: int, fresh: bool, chance: Chance) -> list[Pixels]:
    sown = int(chance.integers(1 << 30))
    frames = [pixels]
    for step in range(1, STEPS + 1):
        kept = compressed(pixels, 95 + step % 3)
        if step < truth:
            frames.append(kept)
        elif fresh or step == truth:
            frames.append(make(kept, strength, np.random.default_rng(sown + step * fresh)))
        else:
            frames.append(frames[-1])
    return frames


def _every_other(names: Iterable[str], number: int) -> list[str]:
    return list(names)[(number // 3) % 2 :: 2]


def _clean(picture: Picture, number: int, seed: int) -> Iterator[Planted]:
    for word in _every_other(CLEAN, number):
        make = CLEAN[word]
        chance = _chance(seed, picture.name, word)
        frames = [picture.pixels, *(make(picture.pixels, step, chance) for step in range(1, STEPS + 1))]
        name = f"clean/{word}/{picture.name}"
        compared: Compared = "around" if word == "added" else "whole"
        chain = chain_of(name, picture.name, frames, compared=compared, mirrored=word == "mirrored")
        yield Planted(name, "clean", chain, None, word, split=picture.split)


def _resized(pixels: Pixels, step: int, chance: Chance) -> Pixels:
    # OpenCV's area averaging would leave a beat of its own, a true lattice of 17 pixels
    size = round(pixels.shape[1] * 0.94), round(pixels.shape[0] * 0.94)
    return np.asarray(Image.fromarray(pixels).resize(size, Image.Resampling.LANCZOS), np.uint8)


def _enlarged(pixels: Pixels, step: int, chance: Chance) -> Pixels:
    size = round(pixels.shape[1] * 1.25), round(pixels.shape[0] * 1.25)
    return np.asarray(cv2.resize(pixels, size, interpolation=cv2.INTER_CUBIC), np.uint8)


def _cropped(pixels: Pixels, step: int, chance: Chance) -> Pixels:
    rows, columns = round(pixels.shape[0] * 0.03), round(pixels.shape[1] * 0.02)
    return pixels[rows:-rows, columns:-columns].copy()


def _nudged(pixels: Pixels, step: int, chance: Chance) -> Pixels:
    down, across = (int(each) for each in chance.integers(-2, 3, 2))
    return np.asarray(np.roll(pixels, (down, across), (0, 1)), np.uint8)


def _brighter(pixels: Pixels, step: int, chance: Chance) -> Pixels:
    return np.asarray(np.clip(pixels * (1 + 0.01 * step) + step, 0, 255), np.uint8)


def _faded(pixels: Pixels, step: int, chance: Chance) -> Pixels:
    """Less colour and less contrast, step by step; neither is a cast nor a simplification."""
    grey = np.asarray(cv2.cvtColor(pixels, cv2.COLOR_RGB2GRAY), np.float32)[..., None]
    paler = grey + (pixels - grey) * (1 - 0.03 * step)
    return np.asarray(np.clip(128 + (paler - 128) * (1 - 0.015 * step), 0, 255), np.uint8)


def _mirrored(pixels: Pixels, step: int, chance: Chance) -> Pixels:
    kept = compressed(pixels, 95)
    return kept[:, ::-1].copy() if step % 2 else kept


def _added(pixels: Pixels, step: int, chance: Chance) -> Pixels:
    """Oval pieces of the same picture, turned about and put elsewhere: one from the start, another from step 6 on."""
    out = pixels.copy()
    height, width = pixels.shape[:2]
    tall, wide = height // 3, width // 3
    rows, columns = np.mgrid[-1 : 1 : tall * 1j, -1 : 1 : wide * 1j]
    oval = np.hypot(rows, columns) < 1
    for turn, top, left in ((1, tall, wide // 4), (6, tall // 2, 2 * wide - wide // 4)):
        if step >= turn:
            piece = pixels[height - tall - top // 2 :, width - wide - left // 2 :][:tall, :wide][::-1, ::-1]
            out[top : top + tall, left : left + wide][oval] = piece[oval]
    return out


CLEAN: dict[str, Callable[[Pixels, int, Chance], Pixels]] = {
    "identity": lambda pixels, step, chance: pixels,
    "re-encoded": lambda pixels, step, chance: compressed(pixels, 90 + step % 8),
    "resized": _resized,
    "enlarged": _enlarged,
    "cropped": _cropped,
    "nudged": _nudged,
    "brighter": _brighter,
    "faded": _faded,
    "mirrored": _mirrored,
    "added": _added,
}


def _walked(picture: Picture, number: int, seed: int) -> Iterator[Planted]:
    for editor in _every_other(SIMULATED, number):
        mode, also = SIMULATED[editor]
        frames = asyncio.run(_walk(editor, picture.pixels, seed))
        name = f"{editor}/{picture.name}"
        truth = None if mode == "clean" else 1
        yield Planted(name, mode, chain_of(name, picture.name, frames), truth, editor, also, picture.split)


async def _walk(name: str, pixels: Pixels, seed: int) -> list[Pixels]:
    editor = make_editor(name, name)
    image, mime, frames = encode_png(pixels, compression=1), "image/png", [pixels]
    for index in range(1, WALKED + 1):
        answer = await editor.edit(EditRequest(image, mime, WORDS, seed=seed * 1000 + index, case=name, index=index))
        image, mime = answer.image, answer.mime
        frames.append(decode(image, what=name).pixels)
    return frames
