"""Persons: drawn in another style, with other clothes, a smile, a larger head. Nothing is made up behind them."""

from __future__ import annotations

import cv2
import numpy as np
from numpy.typing import NDArray

from convergebench.editors.inpaint.lab import from_lab, to_lab
from convergebench.editors.simulated.pixels import Pixels
from convergebench.editors.studio.answer import StudioAnswer, mixed
from convergebench.editors.studio.scene import StudioScene, grown, soft
from convergebench.editors.studio.styles import kuwahara, styled
from convergebench.editors.studio.task import StudioTask
from convergebench.editors.studio.tones import cv2_pixels
from convergebench.errors import Refused
from convergebench.vision.networks import Mask

Plane = NDArray[np.float32]
BEYOND = {"toy": "a toy figure", "brick": "a figure of bricks"}


def person(scene: StudioScene, task: StudioTask, random: np.random.Generator) -> StudioAnswer:
    """The person in another style; the background stays."""
    if task.variant in BEYOND:
        raise Refused(
            f"sim-studio cannot model {BEYOND[task.variant]}: it only draws over what is there",
            reason="beyond-the-studio",
        )
    mask = scene.person
    match task.variant:
        case "sticker":
            return _sticker(scene, mask)
        case "caricature":
            return _caricature(scene, mask)
        case "yellow":
            drawn = styled(_yellow(scene, mask), "cartoon", random)
        case "3d":
            drawn = _rounded(_bulged(scene, 0.24) if scene.mesh is not None else scene.pixels)
        case variant:
            drawn = styled(scene.pixels, variant, random)
    return StudioAnswer(mixed(scene.pixels, drawn, soft(mask)), mask, {"style": task.variant})


def express(scene: StudioScene, task: StudioTask) -> StudioAnswer:
    """A smile, a frown or a straight mouth, by bending the mouth that is there."""
    face = scene.face
    lift = {"smile": 0.13, "sad": -0.11}.get(task.variant, -0.06)
    height, width = scene.shape
    rows, columns = np.mgrid[:height, :width].astype(np.float32)
    mouth = face.mouth if scene.mesh is None else float(scene.mesh.mouth[:, 1].mean())
    middle = face.x if scene.mesh is None else float(scene.mesh.mouth[:, 0].mean())
    half = 0.2 if scene.mesh is None else max(0.08, float(np.ptp(scene.mesh.mouth[:, 0])) / 2 / face.width)
    x, y = (columns - middle) / face.width, (rows - mouth) / face.width
    near = np.exp(-((x / (1.7 * half)) ** 4) - (y / 0.17) ** 2)
    rise = np.clip(near * lift * ((x / half) ** 2 - 0.35), -0.1, 0.16) * face.width
    wider = near * -0.35 * lift * (x / half) * face.width
    bent = cv2.remap(
        scene.pixels,
        columns + wider.astype(np.float32),
        rows + rise.astype(np.float32),
        cv2.INTER_CUBIC,
        borderMode=cv2.BORDER_REPLICATE,
    )
    return StudioAnswer(cv2_pixels(bent), near > 0.1, {"expression": task.variant})


def _sticker(scene: StudioScene, mask: Mask) -> StudioAnswer:
    """Flat colours, a white border and a bold outline around it, on a soft shadow."""
    side = max(scene.shape)
    white, dark = grown(mask, max(2, round(0.02 * side))), grown(mask, max(3, round(0.027 * side)))
    flat = kuwahara(scene.pixels, max(2, round(0.006 * side)))
    lab = to_lab(flat)
    lab[..., 1:] *= 1.3
    picture = scene.pixels.astype(np.float32)
    shadow = cv2.GaussianBlur(np.roll(dark, round(0.012 * side), axis=0).astype(np.float32), (0, 0), 0.012 * side)
    picture *= 1 - 0.4 * shadow[..., None]
    for area, colour in ((dark, (34, 34, 40)), (white, (252, 252, 252))):
        picture += (np.array(colour, np.float32) - picture) * soft(area, 0.8)[..., None]
    picture += (from_lab(lab).astype(np.float32) - picture) * soft(mask, 0.8)[..., None]
    return StudioAnswer(cv2_pixels(np.clip(picture, 0, 255).round()), dark, {"style": "sticker"})


def _caricature(scene: StudioScene, mask: Mask) -> StudioAnswer:
    face = scene.face
    bent = _bulge(scene.pixels, (face.x, face.eyes + 0.28 * face.width), 1.05 * face.width, 0.34)
    where = (
        np.hypot(
            *np.subtract(
                np.mgrid[: scene.shape[0], : scene.shape[1]],
                np.array([face.eyes + 0.28 * face.width, face.x])[:, None, None],
            )
        )
        < 1.05 * face.width
    )
    return StudioAnswer(bent, np.asarray(where), {"style": "caricature"}, moved=True)


def _bulged(scene: StudioScene, amount: float) -> Pixels:
    """Larger eyes."""
    pixels = scene.pixels
    assert scene.mesh is not None
    for eye in (scene.mesh.left_eye, scene.mesh.right_eye):
        centre = eye.mean(axis=0)
        pixels = _bulge(pixels, (float(centre[0]), float(centre[1])), 0.26 * scene.mesh.width, amount + 0.2)
    return pixels


def _bulge(pixels: Pixels, centre: tuple[float, float], radius: float, amount: float) -> Pixels:
    """What is within the radius is enlarged, most in the middle."""
    rows, columns = np.mgrid[: pixels.shape[0], : pixels.shape[1]].astype(np.float32)
    x, y = columns - centre[0], rows - centre[1]
    far = np.clip(np.hypot(x, y) / max(1.0, radius), 0, 1)
    factor = 1 - amount * (1 - far**2) ** 2
    there = (centre[0] + x * factor).astype(np.float32), (centre[1] + y * factor).astype(np.float32)
    return cv2_pixels(cv2.remap(pixels, *there, cv2.INTER_CUBIC, borderMode=cv2.BORDER_REPLICATE))


def _rounded(pixels: Pixels) -> Pixels:
    """As if rendered: no pores, soft shading, strong colours, a light from above."""
    smooth = pixels
    for _ in range(4):
        smooth = cv2_pixels(cv2.bilateralFilter(smooth, 9, 30, 6))
    lab = to_lab(smooth)
    light = np.asarray(lab[..., 0], np.float32)
    wide = cv2.GaussianBlur(light, (0, 0), 0.02 * max(light.shape))
    lab[..., 0] = np.clip(8 + 0.95 * light + 0.35 * (light - wide), 0, 100)
    lab[..., 1:] *= 1.4
    return from_lab(lab)


def _yellow(scene: StudioScene, mask: Mask) -> Pixels:
    """Yellow skin: where the colour is that of the face."""
    lab = to_lab(scene.pixels)
    face = scene.face
    row, column, reach = round(face.eyes + 0.3 * face.width), round(face.x), max(2, round(0.18 * face.width))
    sample = lab[max(0, row - reach) : row + reach, max(0, column - reach) : column + reach].reshape(-1, 3)
    if not sample.size:
        raise Refused("sim-studio finds no face in the image", reason="no-face")
    middle = np.median(sample, axis=0)
    far = np.sqrt((((lab - middle) * (0.3, 1, 1)) ** 2).sum(axis=2))
    skin = np.clip((24 - far) / 10, 0, 1) * mask
    amount = cv2.GaussianBlur(skin.astype(np.float32), (0, 0), 1.5)
    yellow = lab.copy()
    yellow[..., 0] = np.clip(82 + 0.55 * (lab[..., 0] - middle[0]), 0, 100)
    yellow[..., 1], yellow[..., 2] = 2.0, 78.0
    return mixed(scene.pixels, from_lab(yellow), np.asarray(amount, np.float32))
