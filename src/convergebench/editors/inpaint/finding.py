"""Finds the object that an instruction names in a picture: by a detector, by the parts of a face, by colour."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from convergebench.editors.inpaint.eyewear import eyewear_mask
from convergebench.editors.inpaint.headwear import hat_mask
from convergebench.editors.inpaint.jewellery import earring_mask
from convergebench.editors.inpaint.lab import colour_in_lab, to_lab
from convergebench.editors.inpaint.things import THINGS, KnownThing
from convergebench.editors.instructions.vocabulary import Colour
from convergebench.errors import Refused
from convergebench.images.frame import Pixels
from convergebench.vision.face_parts import FacePart, FaceParts, face_parts
from convergebench.vision.faces import FaceMesh, find_faces
from convergebench.vision.masks import object_mask
from convergebench.vision.networks import Mask
from convergebench.vision.objects import DetectedObject, PixelBox, detect_objects

SURE = 0.25
"""Least score of an object in the whole picture; the words say that it is there, so less than usual is enough."""
HINT = 0.12
"""Least score where nothing surer is seen, in the whole picture or in its corners, which are shown enlarged."""
CORNER = 0.6
"""Side of a corner, as a share of the picture's."""
LEAST_OF_FACE = 0.05
"""Least size of a hat, as a share of the face's box; less is noise of the network. A necklace may be a tenth of it."""
NEAR = 38.0
"""Greatest distance (Lab, without lightness) of a patch from the colour that is named."""
COLOURED = 0.3
"""Least share of that colour in the box of a round object."""
ROUND = 0.72
"""Least share of its enclosing circle that a round patch fills."""


@dataclass(frozen=True, eq=False, slots=True)
class FoundThing:
    """The pixels of an object, and how it was found."""

    mask: Mask
    how: str
    box: PixelBox


def find_thing(image: Pixels, name: str, colour: Colour | None, place: str | None) -> FoundThing:
    """The object of that name that fits the colour and the place best; `Refused` if there is none."""
    thing = THINGS.get(name)
    if thing is None:
        raise Refused(f"inpaint has no network that finds a {name}", reason="unknown-object")
    found = _worn(image, thing.part) if thing.part else _detected(image, thing, colour, place)
    if found is None and thing.round and colour is not None:
        found = _round_patch(image, colour)
    if found is None:
        raise Refused(f"inpaint finds no {name} in the image", reason="not-found")
    return found


def main_face(image: Pixels) -> FaceMesh:
    """The largest face; `Refused` if there is none."""
    faces = find_faces(image)
    if not faces:
        raise Refused("inpaint finds no face in the image", reason="no-face")
    return faces[0]


def part_of_face(image: Pixels, part: str) -> Mask:
    """The pixels of `hair`, `clothes`, `lips`, `face` or `eyes`."""
    parts = face_parts(image, main_face(image))
    match part:
        case "hair" | "clothes":
            mask = parts.mask(part)
        case "lips":
            mask = parts.mask("upper lip", "lower lip")
        case "face":
            mask = parts.mask("skin", "nose")
        case "eyes":
            mask = parts.mask("left eye", "right eye")
        case _:
            raise Refused(f"inpaint cannot recolour the {part}", reason="unknown-object")
    if not mask.any():
        raise Refused(f"inpaint finds no {part} in the image", reason="not-found")
    return mask


def main_object(image: Pixels) -> FoundThing:
    """What stands out most in the whole picture."""
    height, width = image.shape[:2]
    mask = object_mask(image, PixelBox(0, 0, width, height))
    if not 0.005 < mask.mean() < 0.9:
        raise Refused("inpaint finds no object that stands out", reason="not-found")
    return FoundThing(mask, "stands out", _box_of(mask))


def _worn(image: Pixels, part: FacePart) -> FoundThing | None:
    for face in find_faces(image):
        mask = _worn_mask(image, face, face_parts(image, face), part)
        if mask is not None:
            return FoundThing(mask, f"part of the face: {part}", _box_of(mask))
    return None


def _worn_mask(image: Pixels, face: FaceMesh, parts: FaceParts, part: FacePart) -> Mask | None:
    match part:
        case "glasses":
            return eyewear_mask(image, face, parts)
        case "earring":
            return earring_mask(image, face, parts)
        case "hat":
            mask = parts.mask(part)
            return hat_mask(image, face, parts) if mask.sum() > LEAST_OF_FACE * face.box.area else None
        case _:
            mask = parts.mask(part)
            return mask if mask.sum() > 0.1 * LEAST_OF_FACE * face.box.area else None


def _detected(image: Pixels, thing: KnownThing, colour: Colour | None, place: str | None) -> FoundThing | None:
    objects = detect_objects(image, threshold=HINT)
    candidates = [one for one in objects if one.label in thing.labels and one.score >= SURE]
    if not candidates:
        candidates = [one for one in (*objects, *_in_corners(image)) if one.label in thing.labels]
    if thing.round and colour is not None:  # a fruit is no red ball unless it is red
        candidates = [one for one in candidates if _share_of_colour(image, one, colour) > COLOURED]
    if not candidates:
        return None
    best = max(candidates, key=lambda one: _fit(image, one, thing, colour, place))
    mask = object_mask(image, best.box)
    inside = _filled_box(image.shape, best.box)
    if mask.sum() < 0.12 * best.box.area:
        mask = inside  # nothing stands out in the box: all of it goes
    return FoundThing(mask, f"detector: {best.label} {best.score:.2f}", best.box)


def _in_corners(image: Pixels) -> list[DetectedObject]:
    """What is seen in the four corners, each looked at by itself: small objects are larger there."""
    height, width = image.shape[:2]
    tall, wide = max(1, round(CORNER * height)), max(1, round(CORNER * width))
    found = []
    for top in (0, height - tall):
        for left in (0, width - wide):
            for one in detect_objects(image[top : top + tall, left : left + wide], threshold=HINT):
                box = PixelBox(one.box.left + left, one.box.top + top, one.box.right + left, one.box.bottom + top)
                found.append(DetectedObject(one.label, one.score, box))
    return found


def _fit(image: Pixels, one: DetectedObject, thing: KnownThing, colour: Colour | None, place: str | None) -> float:
    """Score of the network, more for the first of its names, for the place that is named and for the colour."""
    total = one.score - 0.08 * thing.labels.index(one.label)
    middle = (one.box.left + one.box.right) / 2 / image.shape[1]
    if place and place.endswith("left"):
        total += 0.5 * (middle < 0.5)
    elif place and place.endswith("right"):
        total += 0.5 * (middle >= 0.5)
    return total + (0.8 * _share_of_colour(image, one, colour) if colour is not None else 0.0)


def _share_of_colour(image: Pixels, one: DetectedObject, colour: Colour) -> float:
    """Which share of an object's box is of this colour."""
    part = image[one.box.top : one.box.bottom, one.box.left : one.box.right]
    return float((_distance(part, colour) < NEAR).mean()) if part.size else 0.0


def _round_patch(image: Pixels, colour: Colour) -> FoundThing | None:
    """The largest round patch of this colour."""
    import cv2

    patch = (_distance(np.asarray(cv2.GaussianBlur(image, (0, 0), 1.2), np.uint8), colour) < NEAR).astype(np.uint8)
    small, large = (cv2.getStructuringElement(cv2.MORPH_ELLIPSE, (side, side)) for side in (3, 11))
    # lines and letters on a ball do not split it
    close = cv2.morphologyEx(cv2.morphologyEx(patch, cv2.MORPH_OPEN, small), cv2.MORPH_CLOSE, large)
    outlines, _ = cv2.findContours(close, cv2.RETR_EXTERNAL, cv2.CHAIN_APPROX_NONE)
    least, best = 0.0015 * close.size, None
    for outline in outlines:
        area = cv2.contourArea(cv2.convexHull(outline))
        (x, y), radius = cv2.minEnclosingCircle(outline)
        solid = cv2.contourArea(outline) > ROUND * area
        if area > least and solid and area > ROUND * np.pi * radius**2:
            least, best = area, (x, y, radius)
    if best is None:
        return None
    mask = np.zeros(close.shape, np.uint8)
    cv2.circle(mask, (round(best[0]), round(best[1])), round(best[2]) + 1, 1, -1)
    return FoundThing(mask > 0, "round patch of that colour", _box_of(mask > 0))


def _distance(image: Pixels, colour: Colour) -> NDArray[np.float32]:
    """Distance from a colour in hue and saturation (Lab); far for pixels too dark or too bright to tell."""
    lab, wanted = to_lab(np.ascontiguousarray(image)), colour_in_lab(colour)
    chroma, strength = np.hypot(lab[..., 1], lab[..., 2]), float(np.hypot(wanted[1], wanted[2]))
    if strength < 12:
        return np.asarray(np.abs(lab[..., 0] - wanted[0]) + chroma, np.float32)
    # the direction counts more than the strength: shade and light weaken a colour
    cosine = (lab[..., 1] * wanted[1] + lab[..., 2] * wanted[2]) / np.maximum(chroma * strength, 1e-3)
    angle = np.degrees(np.arccos(np.clip(cosine, -1, 1)))
    return np.where(chroma > 0.3 * strength, angle * 1.3, 180).astype(np.float32)


def _filled_box(shape: tuple[int, ...], box: PixelBox) -> Mask:
    mask = np.zeros(shape[:2], np.bool_)
    mask[box.top : box.bottom, box.left : box.right] = True
    return mask


def _box_of(mask: Mask) -> PixelBox:
    rows, columns = np.nonzero(mask)
    return PixelBox(int(columns.min()), int(rows.min()), int(columns.max()) + 1, int(rows.max()) + 1)
