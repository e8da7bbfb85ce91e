"""Faults that real editors have, each under its name: what a judge should notice.

A fault is drawn from the seed alone, so another attempt at the same instruction may succeed, and the record (`used`)
says which one it was: benchmarks compare a judge with it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable

import cv2
import numpy as np

from convergebench.editors.simulated.pixels import Pixels
from convergebench.editors.studio.answer import StudioAnswer, mixed
from convergebench.editors.studio.scene import box_of, grown
from convergebench.editors.studio.tones import cv2_pixels
from convergebench.vision.networks import Mask

LARGE = 0.6
"""Share of the picture from which on a change counts as one of the whole picture."""


def draw_fault(share: float, seed: int) -> bool:
    """Whether the call of this seed goes wrong."""
    return int.from_bytes(hashlib.sha256(f"studio-fault:{seed}".encode()).digest()[:6], "big") / 2**48 < share


def faulty(before: Pixels, done: StudioAnswer, random: np.random.Generator) -> tuple[Pixels, str]:
    """The picture as it came out, and the name of the fault."""
    same_size = before.shape == done.pixels.shape
    local = same_size and done.where is not None and 0 < done.where.mean() < LARGE
    names = [*EVERYWHERE, *(WHEREVER if same_size else ()), *(LOCAL if local else GLOBAL if same_size else ())]
    name = names[int(random.integers(len(names)))]
    where = done.where if local and done.where is not None else np.ones(done.pixels.shape[:2], np.bool_)
    return FAULTS[name](before, done.pixels, where, random), name


def _nothing(before: Pixels, after: Pixels, where: Mask, random: np.random.Generator) -> Pixels:
    return before


def _too_weak(before: Pixels, after: Pixels, where: Mask, random: np.random.Generator) -> Pixels:
    return mixed(before, after, np.full(before.shape[:2], 0.16, np.float32))


def _wrong_place(before: Pixels, after: Pixels, where: Mask, random: np.random.Generator) -> Pixels:
    """What was to change stays; a piece of the new picture lands beside it."""
    height, width = where.shape
    box = box_of(where)
    left = 0 if (box.left + box.right) / 2 > width / 2 else width - box.width
    top = int(np.clip(box.top + random.uniform(-0.25, 0.25) * height, 0, height - box.height))
    if abs(left - box.left) < 0.1 * width:
        top = 0 if box.top > height / 2 - box.height / 2 else height - box.height
    out = before.copy()
    piece, shape = after[box.top : box.bottom, box.left : box.right], where[box.top : box.bottom, box.left : box.right]
    out[top : top + box.height, left : left + box.width][shape] = piece[shape]
    return out


def _seam(before: Pixels, after: Pixels, where: Mask, random: np.random.Generator) -> Pixels:
    """A light rim around what was changed, and another tone inside."""
    width = max(1, round(0.006 * max(where.shape)))
    inside = cv2.erode(where.astype(np.uint8), np.ones((3, 3), np.uint8), iterations=width) > 0
    rim = (grown(where, width) & ~inside).astype(np.float32)
    off = np.clip(after.astype(np.float32) * 1.07 + 6, 0, 255)
    toned = mixed(after, cv2_pixels(off), where.astype(np.float32))
    return mixed(toned, np.full_like(after, 236), 0.75 * rim)


def _half_done(before: Pixels, after: Pixels, where: Mask, random: np.random.Generator) -> Pixels:
    """Only one half is changed, with a hard edge."""
    out, half = before.copy(), before.shape[1] // 2
    side = np.s_[:, :half] if random.random() < 0.5 else np.s_[:, half:]
    out[side] = after[side]
    return out


def _tint(before: Pixels, after: Pixels, where: Mask, random: np.random.Generator) -> Pixels:
    """A cast over everything that nobody asked for."""
    gains = np.array([(0.84, 1.08, 0.88), (1.08, 0.84, 1.06)][int(random.integers(2))])
    return cv2_pixels(np.clip(after * gains, 0, 255).round())


def _soft(before: Pixels, after: Pixels, where: Mask, random: np.random.Generator) -> Pixels:
    """Detail is lost everywhere, as after shrinking and enlarging."""
    height, width = after.shape[:2]
    small = cv2.resize(after, (max(1, width // 4), max(1, height // 4)), interpolation=cv2.INTER_AREA)
    return cv2_pixels(cv2.resize(small, (width, height), interpolation=cv2.INTER_LINEAR))


def _noise(before: Pixels, after: Pixels, where: Mask, random: np.random.Generator) -> Pixels:
    return cv2_pixels(np.clip(after + random.normal(0, 22, after.shape), 0, 255).round())


Fault = Callable[[Pixels, Pixels, Mask, np.random.Generator], Pixels]
FAULTS: dict[str, Fault] = {
    "nothing": _nothing,
    "tint": _tint,
    "soft": _soft,
    "noise": _noise,
    "too-weak": _too_weak,
    "wrong-place": _wrong_place,
    "seam": _seam,
    "half-done": _half_done,
}
EVERYWHERE = ("nothing", "tint", "soft", "noise")
WHEREVER = ("too-weak",)
LOCAL = ("wrong-place", "seam")
GLOBAL = ("half-done",)
