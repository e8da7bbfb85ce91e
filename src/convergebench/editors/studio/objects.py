"""Things in a picture: put there, taken away, exchanged, recoloured, moved, made larger."""

from __future__ import annotations

import cv2
import numpy as np

from convergebench.editors.inpaint.recolouring import recoloured
from convergebench.editors.instructions.instruction import Intent
from convergebench.editors.simulated.objects.catalogue import THINGS, WORN, aspect, sprite
from convergebench.editors.simulated.pixels import Pixels
from convergebench.editors.simulated.placement import PlacedSprite, composite, coverage, place
from convergebench.editors.studio.answer import StudioAnswer, mixed
from convergebench.editors.studio.scene import StudioScene, box_of, grown, soft
from convergebench.editors.studio.task import StudioTask
from convergebench.errors import Refused
from convergebench.vision.networks import Mask

PARTS = ("hair", "sky", "background", "lips")
MOST = 0.6
"""Share of the picture from which on a thing is too large to be moved or taken away."""


def add(scene: StudioScene, task: StudioTask) -> StudioAnswer:
    """A drawn thing of the catalogue; worn ones on the face."""
    intent = Intent("add", task.thing, task.colour, task.place)
    face = scene.face if THINGS[task.thing].anchor in WORN else None
    return _laid(scene.pixels, place(scene.pixels, intent, already=scene.layered.added, face=face), task)


def remove(scene: StudioScene, task: StudioTask) -> StudioAnswer:
    """The picture without a thing."""
    mask, how = _found(scene, task)
    return StudioAnswer(scene.filled(mask), grown(mask, 3), {"found": how})


def replace(scene: StudioScene, task: StudioTask) -> StudioAnswer:
    """Another thing in the place of the old one, about as large."""
    mask, how = _found(scene, task)
    box = box_of(mask)
    cleared = scene.filled(mask)
    across = min(float(box.width), box.height / aspect(task.thing)) * 1.05
    drawn = sprite(task.thing, task.colour or THINGS[task.thing].colour, max(1, round(across)))
    left, top = (box.left + box.right - drawn.shape[1]) / 2, box.bottom - drawn.shape[0] * 0.98
    answer = _laid(cleared, PlacedSprite(drawn, round(left), round(top)), task)
    where = grown(mask, 3) | (answer.where if answer.where is not None else mask)
    return StudioAnswer(answer.pixels, where, {"found": how}, task.thing, task.colour)


def recolour(scene: StudioScene, task: StudioTask) -> StudioAnswer:
    """Another colour for a thing or a part; light and shade stay."""
    if task.colour is None:
        raise Refused("the instruction names no colour that sim-studio knows", reason="not-understood")
    if task.target in PARTS or task.target == "clothes":
        amount, how = scene.part(task.target), task.target
    else:
        mask, how = scene.thing(task.target or "main", task.place)
        amount = soft(mask)
    if not (amount > 0.5).any():
        raise Refused(f"sim-studio finds no {task.target} in the image", reason="not-found")
    return StudioAnswer(recoloured(scene.pixels, amount, task.colour), amount > 0.5, {"found": how})


def move(scene: StudioScene, task: StudioTask) -> StudioAnswer:
    """The thing elsewhere; where it was is painted over."""
    mask, how = _found(scene, task)
    box = box_of(mask)
    height, width = scene.shape
    # what is nearly as wide as the picture goes partly out of it
    out = 0.2 * box.width if box.width > 0.55 * width else -0.04 * width
    wanted = {"left": -out, "right": width - box.width + out, "centre": (width - box.width) / 2}
    side = next(
        (name for name in wanted if name in str(task.place)), "centre" if task.place in ("centre", "foreground") else ""
    )
    shift_x = wanted[side] - box.left if side else 0.0
    shift_y = 0.0
    if str(task.place).startswith("top"):
        shift_y = 0.04 * height - box.top
    elif task.place in ("bottom", "foreground", "floor"):
        shift_y = 0.98 * height - box.bottom
    if abs(shift_x) + abs(shift_y) < 0.06 * max(height, width):
        raise Refused("sim-studio finds it already there", reason="nothing-to-do")
    return _pasted(scene, mask, np.array([[1, 0, shift_x], [0, 1, shift_y]], np.float64), how)


def reshape(scene: StudioScene, task: StudioTask) -> StudioAnswer:
    """The thing larger, smaller, wider, taller, tilted or mirrored, standing where it stood."""
    mask, how = _found(scene, task)
    box = box_of(mask)
    across, down = {
        "smaller": (0.62, 0.62),
        "larger": (1.4, 1.4),
        "wider": (1.4, 1.0),
        "taller": (1.0, 1.35),
        "mirrored": (-1.0, 1.0),
    }.get(task.variant, (1.0, 1.0))
    middle, base = (box.left + box.right) / 2, float(box.bottom)
    if task.variant == "tilted":
        move_by = np.asarray(cv2.getRotationMatrix2D((middle, (box.top + box.bottom) / 2), 18, 1.0), np.float64)
    else:
        move_by = np.array([[across, 0, middle - across * middle], [0, down, base - down * base]], np.float64)
    return _pasted(scene, mask, move_by, how)


def _found(scene: StudioScene, task: StudioTask) -> tuple[Mask, str]:
    mask, how = scene.thing(task.target or "main", task.place if task.step in ("remove", "replace") else None)
    if mask.mean() > MOST:
        raise Refused("sim-studio cannot do that with an object that fills the image", reason="too-large")
    return mask, how


def _laid(pixels: Pixels, placed: PlacedSprite, task: StudioTask) -> StudioAnswer:
    after = composite(pixels, placed)
    return StudioAnswer(after, coverage(after.shape, placed) > 0, {"thing": task.thing}, task.thing, task.colour)


def _pasted(
    scene: StudioScene, mask: Mask, move_by: np.ndarray[tuple[int, ...], np.dtype[np.float64]], how: str
) -> StudioAnswer:
    """The picture without the thing, and the thing over it after an affine map."""
    height, width = scene.shape
    cleared = scene.filled(mask)
    # a rim of the old background would show: half-clear pixels take the colour of the thing
    solid = cv2.erode(mask.astype(np.uint8), np.ones((3, 3), np.uint8)) > 0
    thing = scene.pixels.astype(np.float32) * solid[..., None]
    weight = cv2.GaussianBlur(solid.astype(np.float32), (0, 0), 2.0)
    spread = cv2.GaussianBlur(thing, (0, 0), 2.0) / np.maximum(weight, 1e-3)[..., None]
    clean = np.where(solid[..., None], scene.pixels, np.clip(spread, 0, 255)).astype(np.uint8)
    alpha = cv2.warpAffine(soft(solid, 0.9), move_by, (width, height), flags=cv2.INTER_LINEAR)
    there = cv2.warpAffine(clean, move_by, (width, height), flags=cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE)
    after = mixed(cleared, np.asarray(there, np.uint8), np.asarray(np.clip(alpha, 0, 1), np.float32))
    return StudioAnswer(after, grown(mask, 3) | np.asarray(alpha > 0.1), {"found": how}, moved=True)
