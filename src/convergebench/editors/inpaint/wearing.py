"""Puts glasses, hats and earrings on a face, by its landmarks."""

from __future__ import annotations

import numpy as np

from convergebench.editors.inpaint.blending import Move, PlacedCutout, blended, warped, with_cast_shadow
from convergebench.editors.inpaint.cutouts import Cutout
from convergebench.editors.inpaint.jewellery import lobes
from convergebench.editors.inpaint.removing import grown
from convergebench.errors import Refused
from convergebench.images.frame import Pixels
from convergebench.vision.face_parts import FaceParts, face_parts
from convergebench.vision.faces import FaceMesh
from convergebench.vision.inpainting import fill
from convergebench.vision.networks import Mask

EARRING = 0.34
"""Length of an earring, in distances between the eyes."""
ROOM = 1.03
"""Width of a hat's opening, in widths of the head."""
FIT = 0.85, 1.5
"""Least and greatest change of a hat's size that makes it fit."""


def put_on_eyes(image: Pixels, face: FaceMesh, cutout: Cutout) -> Pixels:
    """Glasses: the cut-out's eyes come to lie on those of the face."""
    layer = warped(cutout, _onto_face(cutout, face), image.shape)
    shaded = with_cast_shadow(image, layer, 0.018 * face.width, darkness=0.22)
    return blended(shaded, layer)


def put_on_head(image: Pixels, face: FaceMesh, cutout: Cutout) -> Pixels:
    """A hat; hair that would stick out above it is removed first."""
    parts = face_parts(image, face)
    layer = warped(cutout, _fitted(cutout, face, parts), image.shape)
    if not layer.mask.any():
        raise Refused("inpaint has no room for a hat: the head is cut off", reason="no-room")
    above = _hair_above(parts, layer)
    if above.sum() > 0.02 * layer.mask.sum():
        image = fill(image, grown(above) & ~_kept(parts))
    shaded = with_cast_shadow(image, layer, 0.05 * face.width, darkness=0.3)
    return blended(shaded, layer)


def put_on_ears(image: Pixels, face: FaceMesh, cutout: Cutout) -> Pixels:
    """An earring on each ear that can be seen; the right one is the mirror image."""
    apart = float(np.hypot(*(face.right_eye.mean(axis=0) - face.left_eye.mean(axis=0))))
    scale = EARRING * 2 * apart / cutout.alpha.shape[0]
    width = cutout.alpha.shape[1]
    hook = np.array(cutout.origin.anchors[0]) * width
    for lobe, mirrored in zip(lobes(face, face_parts(image, face)), (True, False), strict=True):
        if lobe is None:
            continue
        across = -scale if mirrored else scale
        move = np.array([[across, 0, lobe[0] - across * hook[0]], [0, scale, lobe[1] - scale * hook[1]]], np.float64)
        image = blended(image, warped(cutout, move, image.shape))
    return image


def _onto_face(cutout: Cutout, face: FaceMesh) -> Move:
    """The map that brings the eyes of the cut-out's wearer onto those of this face: moved, turned and scaled."""
    given = np.array(cutout.origin.anchors, np.float64) * cutout.alpha.shape[1]
    wanted = np.array([face.left_eye.mean(axis=0), face.right_eye.mean(axis=0)], np.float64)
    # as complex numbers, a turn with a change of size is one product
    before, after = (points[:, 0] + 1j * points[:, 1] for points in (given, wanted))
    turn = (after[1] - after[0]) / (before[1] - before[0])
    shift = after[0] - turn * before[0]
    return np.array([[turn.real, -turn.imag, shift.real], [turn.imag, turn.real, shift.imag]], np.float64)


def _fitted(cutout: Cutout, face: FaceMesh, parts: FaceParts) -> Move:
    """`_onto_face`, made larger or smaller for the width of this head with its hair."""
    move = _onto_face(cutout, face)
    left, right = face.left_eye.mean(axis=0), face.right_eye.mean(axis=0)
    middle, apart = (left + right) / 2, right - left
    # just above the brows, where the edge of a hat sits
    pivot = middle + np.array([apart[1], -apart[0]]) * 0.5
    row = int(np.clip(round(float(pivot[1])), 0, parts.labels.shape[0] - 1))
    columns = np.flatnonzero(parts.mask("hair", "skin", "left ear", "right ear", "hat")[row])
    columns = columns[np.abs(columns - pivot[0]) < 1.1 * face.width]
    if not columns.size:
        return move
    opening = cutout.origin.opening * cutout.alpha.shape[1] * float(np.hypot(move[0, 0], move[1, 0]))
    factor = float(np.clip(ROOM * (columns.max() - columns.min()) / max(1.0, opening), *FIT))
    return np.asarray(factor * move + np.array([[0, 0, 1 - factor]]) * pivot[:, None], np.float64)


def _hair_above(parts: FaceParts, layer: PlacedCutout) -> Mask:
    """Hair outside the hat and higher than its lower edge."""
    worn = layer.mask
    height = worn.shape[0]
    rows = np.arange(height)[:, None]
    lowest = np.where(worn.any(axis=0), height - 1 - np.argmax(worn[::-1], axis=0), -1)
    columns = np.flatnonzero(lowest >= 0)
    # beside the hat its edge goes on level at half the height of the hat
    level = int((np.argmax(worn.any(axis=1)) + lowest.max()) / 2)
    edge = np.where(lowest >= 0, lowest, level)
    reach = max(1, (columns.max() - columns.min()) // 4)
    near = np.zeros(worn.shape[1], np.bool_)
    near[max(0, columns.min() - reach) : columns.max() + reach + 1] = True
    return np.asarray(parts.mask("hair") & ~worn & (rows < np.minimum(edge, level + reach)) & near[None, :], np.bool_)


def _kept(parts: FaceParts) -> Mask:
    return parts.mask(
        "skin", "left eye", "right eye", "left brow", "right brow", "nose", "glasses", "left ear", "right ear"
    )
