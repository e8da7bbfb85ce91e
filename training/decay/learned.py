"""Chains of learned editors of the package: plain ones, and mixtures with other wear between."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from functools import cache, partial

import numpy as np

from convergebench.editors.find import make_editor
from convergebench.images.decode import decode
from convergebench.images.encode import encode_png
from convergebench.images.frame import Pixels
from convergebench.types import Edited, Editor, EditRequest
from training.decay import latent
from training.decay.damage import Random, Step, to_pixels

AUTOENCODERS = ("taesd", "taesdxl", "taesd3", "taef1", "taef2")
RESTORERS = ("waifu2x-denoise", "span-x2", "realesr-anime", "realesrgan-x4")


@cache
def _editor(name: str) -> Editor:
    return make_editor(name, threads=1) if name in RESTORERS else make_editor(name)


def edited(name: str, pixels: Pixels) -> Pixels:
    """What an editor makes of a picture."""
    request = EditRequest(encode_png(pixels), "image/png", "reproduce this image")

    async def asked() -> Edited:
        return await _editor(name).edit(request)

    answer = asyncio.run(asked())
    return np.ascontiguousarray(decode(answer.image, what=f"the answer of {name}").pixels)


def mixed(random: Random) -> tuple[str, Step]:
    """One to three autoencoders in turn, often on a wandering grid and with other wear between; and their names."""
    names = [str(name) for name in random.choice(AUTOENCODERS, size=int(random.integers(1, 4)), replace=False)]
    return "+".join(names), _in_turn([partial(edited, name) for name in names], random)


def _in_turn(editors: Sequence[Callable[[Pixels], Pixels]], random: Random) -> Step:
    """Steps that each take one of the editors, perhaps on a wandering grid, perhaps with other wear between.

    Some keep a share of what they were given, as an editor does that sees the picture beside its code.
    """
    wander, more = bool(random.random() < 0.5), bool(random.random() < 0.4)
    keep = float(random.choice([0.0, 0.0, random.uniform(0.2, 0.8)]))
    other = latent.single(random)

    def step(pixels: Pixels, now: Random) -> Pixels:
        across, down = (int(shift) for shift in now.integers(0, 8, 2)) if wander else (0, 0)
        height, width = pixels.shape[:2]
        padded = np.pad(pixels, ((down, 8 - down), (across, 8 - across), (0, 0)), mode="reflect") if wander else pixels
        done = editors[int(now.integers(len(editors)))](np.ascontiguousarray(padded))
        done = np.ascontiguousarray(done[down : down + height, across : across + width])
        if keep:
            done = to_pixels(keep * pixels.astype(np.float32) + (1 - keep) * done)
        return other(done, now) if more and now.random() < 0.5 else done

    return step
