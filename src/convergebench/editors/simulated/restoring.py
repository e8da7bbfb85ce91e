"""The pixel work of `sim-restorer`: what it repairs, and what it makes up."""

from __future__ import annotations

import cv2
import numpy as np

from convergebench.editors.simulated.pixels import Mask, Pixels, pixels_of
from convergebench.editors.simulated.restoring_words import RestorationWish
from convergebench.images.frame import Plane

SMALLEST = 8
"""Shorter side from which on there is anything to repair or to paint in."""
ROUNDS = 4
"""Corrections of the scale of invented detail for what is cut off at black and white."""
CAUTION = 0.5
"""Share of the restoring that is done when fidelity is asked for."""

SPARED = 2.0
"""Differences up to this many levels are not sharpened."""


def restored(pixels: Pixels, wish: RestorationWish, strength: float) -> Pixels:
    """Less noise, sharper, more contrast: each as much as was asked for."""
    amount = strength * (CAUTION if wish.fidelity else 1.0)
    if not amount or min(pixels.shape[:2]) < SMALLEST:
        return pixels
    given = pixels.astype(np.float32)
    smooth = cv2.bilateralFilter(given, 9, 15 + 60 * wish.denoise, 1.8)
    done = given + amount * wish.denoise * (smooth - given)
    for radius, share in ((1.2, 1.8 * wish.sharpen), (3.0, 0.5 * wish.detail)):
        fine = done - cv2.GaussianBlur(done, (0, 0), radius)
        done = done + amount * share * np.sign(fine) * np.maximum(np.abs(fine) - SPARED, 0)
    low, high = np.quantile(done[::4, ::4], (0.005, 0.995))
    stretched = (done - low) * (255 / max(high - low, 60.0))
    done = done + 0.35 * amount * wish.colour * (stretched - done)
    return pixels_of(np.rint(np.clip(done, 0, 255)))


def with_detail(pixels: Pixels, psnr: float, draw: np.random.Generator) -> Pixels:
    """The picture with invented detail, mostly where there is detail already, at this PSNR to what it was."""
    height, width = pixels.shape[:2]
    field = draw.normal(size=(height, width)).astype(np.float32)
    field = cv2.GaussianBlur(field, (0, 0), 0.7) - 0.7 * cv2.GaussianBlur(field, (0, 0), 2.0)
    field = field * _busy(pixels)
    target = 255 * 10 ** (-psnr / 20)
    scale = target / max(float(np.sqrt(np.mean(np.square(field)))), 1e-6)
    done = pixels
    for _ in range(ROUNDS):
        done = pixels_of(np.rint(np.clip(pixels + scale * field[..., None], 0, 255)))
        reached = float(np.sqrt(np.mean(np.square(done.astype(np.float32) - pixels))))
        scale *= float(np.clip(target / max(reached, 1e-3), 0.25, 4))
    return done


def _busy(pixels: Pixels) -> Plane:
    """From 0.5 on plain ground to 2 in texture."""
    grey = cv2.cvtColor(pixels, cv2.COLOR_RGB2GRAY).astype(np.float32)
    local = np.sqrt(cv2.GaussianBlur(np.square(grey - cv2.GaussianBlur(grey, (0, 0), 2)), (0, 0), 4))
    return np.asarray(np.clip(local / max(float(local.mean()), 1e-3), 0.5, 2), np.float32)


def with_thing(pixels: Pixels, draw: np.random.Generator) -> tuple[Pixels, Mask]:
    """The picture with something painted in that was not there: a mirrored piece of it, harder and elsewhere."""
    height, width = pixels.shape[:2]
    mask = np.zeros((height, width), np.uint8)
    side = round(min(height, width) * draw.uniform(0.14, 0.24))
    if side < SMALLEST // 2:
        return pixels, mask
    top, left, from_top, from_left = (int(draw.integers(0, room - side + 1)) for room in (height, width) * 2)
    piece = pixels[from_top : from_top + side, from_left : from_left + side, :][:, ::-1].astype(np.float32)
    piece = piece + 1.5 * (piece - cv2.GaussianBlur(piece, (0, 0), 2))
    rings = np.hypot(*np.meshgrid(*(np.arange(side) - side * draw.uniform(0.35, 0.65) for _ in range(2))))
    piece = piece + 40 * np.sign(np.sin(rings * draw.uniform(0.5, 1.2)))[..., None]
    centre, axes = (left + side // 2, top + side // 2), (side // 2 - 1, round(side * draw.uniform(0.3, 0.48)))
    cv2.ellipse(mask, centre, axes, float(draw.uniform(0, 180)), 0, 360, 255, -1)
    soft = cv2.GaussianBlur(mask, (0, 0), max(0.5, side / 30)).astype(np.float32)[..., None] / 255
    whole = pixels.astype(np.float32)
    whole[top : top + side, left : left + side] = piece
    return pixels_of(np.rint(np.clip(pixels + soft * (whole - pixels), 0, 255))), mask
