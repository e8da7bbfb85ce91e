"""The frame of a picture: closer, or wider than the camera saw."""

from __future__ import annotations

import cv2
import numpy as np

from convergebench.editors.studio.answer import StudioAnswer
from convergebench.editors.studio.scene import StudioScene, box_of, grown
from convergebench.editors.studio.task import StudioTask
from convergebench.editors.studio.tones import cv2_pixels
from convergebench.errors import Refused

CLOSER = 1.7
WIDER = 0.2
"""What is added on a side, as a share of the picture's."""
LARGEST = 2048
"""Longest side of a canvas that is still made larger."""


def zoom(scene: StudioScene, task: StudioTask) -> StudioAnswer:
    """A part of the picture, enlarged to the size of the whole."""
    height, width = scene.shape
    across, down, found = _middle(scene, task)
    wide, tall = max(1, round(width / CLOSER)), max(1, round(height / CLOSER))
    left, top = round(np.clip(across - wide / 2, 0, width - wide)), round(np.clip(down - tall / 2, 0, height - tall))
    part = scene.pixels[top : top + tall, left : left + wide]
    return StudioAnswer(
        cv2_pixels(cv2.resize(part, (width, height), interpolation=cv2.INTER_CUBIC)), None,
        {"found": found, "from": [left, top, left + wide, top + tall]}, moved=True,
    )  # fmt: skip


def extend(scene: StudioScene, task: StudioTask) -> StudioAnswer:
    """A larger canvas: MI-GAN makes up what is new, else the picture is mirrored and blurred outwards."""
    height, width = scene.shape
    if max(height, width) * (1 + 2 * WIDER) > LARGEST:
        raise Refused(f"sim-studio makes no canvas of more than {LARGEST} pixels", reason="too-large")
    place = task.place or "all"
    sides = {
        "left": ("left",),
        "right": ("right",),
        "top": ("top",),
        "bottom": ("bottom",),
        "both": ("left", "right"),
    }.get(place, ("left", "right", "top", "bottom"))
    beside, above = round(WIDER * width), round(WIDER * height)
    left, right = beside * ("left" in sides), beside * ("right" in sides)
    top, bottom = above * ("top" in sides), above * ("bottom" in sides)
    mirrored = cv2_pixels(cv2.copyMakeBorder(scene.pixels, top, bottom, left, right, cv2.BORDER_REFLECT_101))
    new = np.ones(mirrored.shape[:2], np.bool_)
    new[top : top + height, left : left + width] = False
    if "mi-gan" in scene.networks:
        from convergebench.vision.inpainting import fill

        pixels = fill(mirrored, grown(new, 2))
    else:
        far = np.asarray(cv2.distanceTransform(new.astype(np.uint8), cv2.DIST_L2, 5), np.float32)
        blurred = cv2.GaussianBlur(mirrored, (0, 0), max(2.0, 0.02 * max(height, width)))
        weight = np.clip(far / (0.35 * max(beside, above, 1)), 0, 1)[..., None]
        pixels = cv2_pixels((mirrored + (np.asarray(blurred, np.float32) - mirrored) * weight).round())
    pixels[top : top + height, left : left + width] = scene.pixels
    return StudioAnswer(pixels, new, {"sides": list(sides), "at": [left, top]}, moved=True)


def _middle(scene: StudioScene, task: StudioTask) -> tuple[float, float, str]:
    """What to come closer to."""
    height, width = scene.shape
    if task.target or not task.place:
        try:
            mask, how = scene.thing(task.target or "main")
            box = box_of(mask)
            # of something taller than the new frame its upper part is shown, where faces are
            down = min((box.top + box.bottom) / 2, box.top + 0.48 * height / CLOSER)
            return (box.left + box.right) / 2, down, how
        except Refused:
            if task.target not in ("", "main", "it"):
                raise
    place = task.place or "centre"
    across = 0.25 if "left" in place else 0.75 if "right" in place else 0.5
    down = 0.25 if place.startswith("top") else 0.75 if place in ("bottom", "foreground") else 0.5
    return across * width, down * height, f"place: {place}"
