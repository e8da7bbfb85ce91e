"""The pixels of a hat: what the network of face parts calls a hat, and what goes on in the same colours."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from convergebench.editors.inpaint.lab import to_lab
from convergebench.images.frame import Pixels
from convergebench.vision.face_parts import FaceParts
from convergebench.vision.faces import FaceMesh
from convergebench.vision.networks import Mask

SAME = 14.0
"""Distance of colours (Lab) up to which a neighbour belongs to the hat."""
REACH = 0.35
"""How far the hat may go on beyond what the network saw, in widths of the face."""


def hat_mask(image: Pixels, face: FaceMesh, parts: FaceParts) -> Mask:
    """The hat; a brim in the shade is often taken for hair, so hair and background of the hat's colours go with it."""
    import cv2

    seen = parts.mask("hat")
    lab = to_lab(np.asarray(cv2.GaussianBlur(image, (0, 0), 2.0), np.uint8))
    colours = _main_colours(lab[seen])
    apart = np.min([np.linalg.norm(lab - colour, axis=2) for colour in colours], axis=0)
    size = 2 * max(1, round(REACH * face.width)) + 1
    near = cv2.dilate(seen.astype(np.uint8), cv2.getStructuringElement(cv2.MORPH_ELLIPSE, (size, size))) > 0
    mouth = float(face.mouth[:, 1].mean())
    alike = near & parts.mask("hair", "background") & (apart < SAME)
    alike &= np.arange(seen.shape[0])[:, None] < mouth
    _, labels = cv2.connectedComponents((alike | seen).astype(np.uint8))
    return np.asarray(np.isin(labels, np.unique(labels[seen])) & (alike | seen), np.bool_)


def _main_colours(pixels: NDArray[np.float32]) -> NDArray[np.float32]:
    """Three colours between dark and light that the pixels gather around."""
    order = np.argsort(pixels[:, 0])
    return np.array([np.median(part, axis=0) for part in np.array_split(pixels[order], 3)], np.float32)
