"""What the studio sees of a picture: the main object, named things, persons, writing.

With the networks of the `vision` room it sees well; without them by contrast and colour only, which finds one thing
that stands out and no names.
"""

from __future__ import annotations

from functools import cached_property
from importlib.util import find_spec
from typing import TYPE_CHECKING, Literal

import cv2
import numpy as np

from convergebench.editors.inpaint.things import THINGS as KNOWN
from convergebench.editors.simulated.face import FaceLayout, find_face
from convergebench.editors.simulated.layers import LayeredImage
from convergebench.editors.simulated.pixels import Pixels
from convergebench.editors.simulated.regions import Soft, region
from convergebench.editors.simulated.removal import inpaint
from convergebench.errors import Refused
from convergebench.vision.networks import Mask
from convergebench.vision.objects import COCO_LABELS, DetectedObject, PixelBox
from convergebench.weights.catalogue import find_weight
from convergebench.weights.store import search

if TYPE_CHECKING:
    from convergebench.metrics.semantic._ocr import TextLine
    from convergebench.vision.faces import FaceMesh

PACKAGES = {
    "human-models": "torch",
    "face-parts": "torch",
    "isnet": "onnxruntime",
    "mi-gan": "onnxruntime",
    "ppocr-v4": "onnxruntime",
}
"""Networks, and what runs them."""
HINT, SURE = 0.2, 0.3
"""Least score of an object that the words name, and of a person nobody named."""
SMALL = 160
"""Longer side at which the outline of what stands out is worked out without a network."""


def networks_here() -> tuple[str, ...]:
    """The networks that can be used on this machine."""
    return tuple(
        name for name, package in PACKAGES.items() if find_spec(package) and search(find_weight(name)) is not None
    )


class StudioScene:
    """A picture, and what is looked up in it once."""

    def __init__(self, layered: LayeredImage, networks: frozenset[str]) -> None:
        self.layered = layered
        self.pixels: Pixels = layered.pixels
        self.networks = networks

    @property
    def shape(self) -> tuple[int, int]:
        """Height and width."""
        return self.pixels.shape[0], self.pixels.shape[1]

    @cached_property
    def objects(self) -> list[DetectedObject]:
        """What the detector names; nothing without it."""
        if "human-models" not in self.networks:
            return []
        from convergebench.vision.objects import detect_objects

        return detect_objects(self.pixels, threshold=HINT)

    @cached_property
    def main(self) -> Mask:
        """What stands out; `Refused` if nothing does."""
        if "isnet" in self.networks:
            from convergebench.vision.masks import object_mask

            mask = object_mask(self.pixels, PixelBox(0, 0, self.shape[1], self.shape[0]))
        else:
            mask = _outlined(self.pixels, region(self.pixels, "main"), "all sides")
        if not 0.012 < mask.mean() < 0.92:
            raise Refused("sim-studio finds no object that stands out", reason="not-found")
        return mask

    @cached_property
    def mesh(self) -> FaceMesh | None:
        """The landmarks of the largest face."""
        if "human-models" not in self.networks:
            return None
        from convergebench.vision.faces import find_faces

        return next(iter(find_faces(self.pixels)), None)

    @cached_property
    def face(self) -> FaceLayout:
        """The largest face; `Refused` if there is none."""
        if "human-models" not in self.networks:
            found = find_face(self.pixels)
            if found.score is None:
                raise Refused("sim-studio finds no face in the image", reason="no-face")
            return found
        if self.mesh is None:
            raise Refused("sim-studio finds no face in the image", reason="no-face")
        left, right = self.mesh.left_eye.mean(axis=0), self.mesh.right_eye.mean(axis=0)
        middle = (left + right) / 2
        return FaceLayout(float(middle[0]), float(middle[1]), self.mesh.width, self.mesh.confidence)

    @cached_property
    def person(self) -> Mask:
        """The pixels of persons; `Refused` if there are none."""
        if "human-models" not in self.networks:
            self.face  # noqa: B018 (refuses where there is none)
            ovals = np.asarray(1 - region(self.pixels, "background"), np.float32)
            return _outlined(self.pixels, ovals, "top")  # a person may reach the other sides
        seen = [one for one in self.objects if one.label == "person" and one.score >= SURE]
        if not seen and self.mesh is None:
            raise Refused("sim-studio finds no person in the image", reason="no-person")
        from convergebench.vision.masks import object_mask, person_mask

        mask = person_mask(self.pixels)
        if mask.mean() < 0.03 and seen and "isnet" in self.networks:
            mask = object_mask(self.pixels, max(seen, key=lambda one: one.box.area).box)
        if mask.mean() < 0.004:
            raise Refused("sim-studio finds no person in the image", reason="no-person")
        return _largest_parts(mask)

    @cached_property
    def writing(self) -> tuple[TextLine, ...]:
        """Lines of text; `Refused` if none can be read."""
        if "ppocr-v4" not in self.networks:
            raise Refused("sim-studio cannot read; type: cbench weights fetch ppocr-v4", reason="no-reader")
        from convergebench.images.frame import Frame
        from convergebench.metrics.semantic._ocr import lines

        found = lines(Frame(self.pixels))
        if not found:
            raise Refused("sim-studio finds no text in the image", reason="no-text")
        return found

    def thing(self, name: str, place: str | None = None) -> tuple[Mask, str]:
        """The pixels of what a name means (`main`, `it`, a thing), and how they were found; or `Refused`."""
        added = self._added(name)
        if added is not None:
            return added, "added before"
        if name in ("main", "it"):
            return self.main, "stands out"
        if name == "person":
            return self.person, "person"
        labels = [name] if name in COCO_LABELS else list(KNOWN[name].labels) if name in KNOWN else []
        if not labels or "human-models" not in self.networks:
            raise Refused(f"sim-studio has no way to find a {name} in a picture", reason="unknown-object")
        found = [one for one in self.objects if one.label in labels]
        if not found:
            raise Refused(f"sim-studio finds no {name} in the image", reason="not-found")
        best = max(found, key=lambda one: one.score + 0.5 * _fits(one, place, self.shape))
        return self._outline(best), f"detector: {best.label} {best.score:.2f}"

    def part(self, name: str) -> Soft:
        """A soft mask of `hair`, `lips`, `clothes`, `sky` or the `background`."""
        if name == "background":
            return np.asarray(1 - soft(self.subject()), np.float32)
        if name == "sky":
            return region(self.pixels, "sky")
        if "face-parts" in self.networks and self.mesh is not None:
            from convergebench.vision.face_parts import face_parts

            parts = face_parts(self.pixels, self.mesh)
            mask = parts.mask("upper lip", "lower lip") if name == "lips" else parts.mask(name)  # type: ignore[arg-type]
            if name == "clothes":  # the network sees the collar; the person below the chin is dressed
                below = np.arange(self.shape[0])[:, None] > self.mesh.box.bottom
                mask |= (
                    self.person
                    & below
                    & ~parts.mask("hair", "skin", "neck", "hat", "necklace")
                    & (_unlike_skin(self.pixels, parts.mask("skin")))
                )
        else:
            self.face  # noqa: B018
            return region(self.pixels, name)
        if mask.mean() < 0.001:
            raise Refused(f"sim-studio finds no {name} in the image", reason="not-found")
        return soft(mask)

    def filled(self, mask: Mask) -> Pixels:
        """The picture with what is masked painted over: by MI-GAN, else by Telea's method."""
        reach = max(2, round(0.03 * float(np.sqrt(mask.sum()))) + 1)
        hole = grown(mask, reach)
        if "mi-gan" in self.networks:
            from convergebench.vision.inpainting import fill

            return fill(self.pixels, hole)
        return inpaint(self.pixels, hole.astype(np.uint8) * np.uint8(255))

    def subject(self) -> Mask:
        """The person if there is one, else what stands out."""
        try:
            return self.person
        except Refused:
            return self.main

    def _added(self, name: str) -> Mask | None:
        """Where the newest thing of this name is that a simulated editor has put there."""
        for layer in reversed(self.layered.layers):
            if layer.tag == f"add:{name}" or (name == "it" and layer.tag.startswith("add:")):
                mask = self.layered.mask(layer) > 0
                return mask if mask.any() else None
        return None

    def _outline(self, one: DetectedObject) -> Mask:
        inside = np.zeros(self.shape, np.bool_)
        inside[one.box.top : one.box.bottom, one.box.left : one.box.right] = True
        if "isnet" not in self.networks:
            return inside
        from convergebench.vision.masks import object_mask

        mask = object_mask(self.pixels, one.box)
        return mask if mask.sum() > 0.12 * one.box.area else inside


def grown(mask: Mask, reach: int) -> Mask:
    """The mask with a margin of so many pixels."""
    kernel = cv2.getStructuringElement(cv2.MORPH_ELLIPSE, (2 * reach + 1, 2 * reach + 1))
    return np.asarray(cv2.dilate(mask.astype(np.uint8), kernel) > 0)


def soft(mask: Mask, blur: float = 1.2) -> Soft:
    """The mask with a soft edge."""
    return np.asarray(cv2.GaussianBlur(mask.astype(np.float32), (0, 0), blur), np.float32)


def box_of(mask: Mask) -> PixelBox:
    """The rectangle around a mask that is not empty."""
    rows, columns = np.nonzero(mask)
    return PixelBox(int(columns.min()), int(rows.min()), int(columns.max()) + 1, int(rows.max()) + 1)


def _fits(one: DetectedObject, place: str | None, shape: tuple[int, int]) -> bool:
    middle = (one.box.left + one.box.right) / 2 / shape[1]
    return bool(place) and (
        (str(place).endswith("left") and middle < 0.5) or (str(place).endswith("right") and middle >= 0.5)
    )


def _largest_parts(mask: Mask) -> Mask:
    """Without specks: connected parts of at least a twentieth of the largest."""
    count, labels, facts, _ = cv2.connectedComponentsWithStats(mask.astype(np.uint8))
    areas = facts[:, cv2.CC_STAT_AREA].copy()
    areas[0] = 0
    return np.asarray((areas >= max(1, areas.max() / 20))[labels]) & mask if count > 1 else mask


def _unlike_skin(pixels: Pixels, skin: Mask) -> Mask:
    """Pixels whose colour is not that of the face: hands and arms are no clothes."""
    if not skin.any():
        return np.ones(skin.shape, np.bool_)
    lab = np.asarray(cv2.cvtColor(pixels, cv2.COLOR_RGB2LAB), np.float32)
    middle = np.median(lab[skin], axis=0)
    return np.asarray(np.sqrt((((lab - middle) * (0.35, 1, 1)) ** 2).sum(axis=2)) > 14)


def _outlined(pixels: Pixels, likely: Soft, outside: Literal["top", "all sides"]) -> Mask:
    """A rough region with its outline refined by GrabCut; it does not reach the sides that are `outside`."""
    height, width = likely.shape
    scale = min(1.0, SMALL / max(height, width))
    size = max(8, round(width * scale)), max(8, round(height * scale))
    small = np.asarray(cv2.resize(pixels, size, interpolation=cv2.INTER_AREA), np.uint8)
    guess = np.asarray(cv2.resize(likely, size, interpolation=cv2.INTER_AREA))
    labels = np.where(guess > 0.5, cv2.GC_PR_FGD, cv2.GC_PR_BGD).astype(np.uint8)
    labels[0] = cv2.GC_BGD
    if outside == "all sides":
        labels[-1] = cv2.GC_BGD
        labels[:, [0, -1]] = cv2.GC_BGD
    if not (labels == cv2.GC_PR_FGD).any():
        return likely > 0.5
    cv2.setRNGSeed(1)  # its mixture models start at random
    models = np.zeros((1, 65), np.float64), np.zeros((1, 65), np.float64)
    cv2.grabCut(small, labels, None, *models, 3, cv2.GC_INIT_WITH_MASK)  # type: ignore[call-overload]
    found = np.isin(labels, (cv2.GC_FGD, cv2.GC_PR_FGD)).astype(np.float32)
    mask = np.asarray(cv2.resize(found, (width, height), interpolation=cv2.INTER_LINEAR) > 0.5)
    return _largest_parts(mask) if mask.any() else likely > 0.5
