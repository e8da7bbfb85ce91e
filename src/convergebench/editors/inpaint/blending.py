"""Puts a cut-out into a picture: brightness and colour of the light as around it, a soft shadow, soft edges."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from convergebench.editors.inpaint.cutouts import Alpha, Cutout
from convergebench.editors.inpaint.lab import from_lab, to_lab
from convergebench.images.frame import Pixels

BRIGHTNESS = (0.5, 1.15)
"""Least and greatest factor of the cut-out's lightness."""
USUAL_LIGHTNESS = 55.0
"""Mean lightness (Lab) of the scenes from which cut-outs come."""
TINT = 0.5
"""Share of the picture's mean tint that the cut-out takes on."""
GREY = 3.0
"""Mean chroma below which a picture counts as more or less black and white."""
SHADOW = 0.42
"""Darkness of the shadow under a standing object."""


Move = NDArray[np.float64]
"""An affine map, 2 × 3."""


@dataclass(frozen=True, eq=False, slots=True)
class PlacedCutout:
    """A cut-out moved to its place: colours and opacity, both of the picture's size."""

    pixels: Pixels
    alpha: Alpha

    @property
    def mask(self) -> NDArray[np.bool_]:
        """Where it is mostly opaque."""
        return self.alpha > 0.5


def warped(cutout: Cutout, move: Move, shape: tuple[int, ...]) -> PlacedCutout:
    """The cut-out under an affine map from its pixels to those of a picture of this shape."""
    import cv2

    height, width = shape[:2]
    scale = float(np.sqrt(abs(np.linalg.det(move[:, :2]))))
    pixels, alpha = cutout.pixels, cutout.alpha
    if scale < 0.7:
        # shrunk first: the map alone would skip pixels
        sizes = max(1, round(alpha.shape[1] * scale)), max(1, round(alpha.shape[0] * scale))
        shrunk = sizes[0] / alpha.shape[1], sizes[1] / alpha.shape[0]
        pixels = np.asarray(cv2.resize(pixels, sizes, interpolation=cv2.INTER_AREA), np.uint8)
        alpha = np.asarray(cv2.resize(alpha, sizes, interpolation=cv2.INTER_AREA), np.float32)
        move = move @ np.diag([1 / shrunk[0], 1 / shrunk[1], 1.0])
    flags = cv2.INTER_LINEAR
    placed = cv2.warpAffine(pixels, move, (width, height), flags=flags, borderMode=cv2.BORDER_REPLICATE)
    soft = cv2.warpAffine(np.ascontiguousarray(alpha), move, (width, height), flags=flags)
    return PlacedCutout(np.asarray(placed, np.uint8), np.asarray(np.clip(soft, 0, 1), np.float32))


def standing(cutout: Cutout, middle: float, base: float, height: float, shape: tuple[int, ...]) -> PlacedCutout:
    """The cut-out upright: its middle at this column, its base at this row, so many pixels high."""
    scale = height / cutout.alpha.shape[0]
    move = np.array([[scale, 0, middle - scale * cutout.alpha.shape[1] / 2], [0, scale, base - height]], np.float64)
    return warped(cutout, move, shape)


def blended(image: Pixels, layer: PlacedCutout) -> Pixels:
    """The picture with the layer over it, in the light of the picture."""
    lit = _in_the_light_of(image, layer)
    mixed = image + (lit.astype(np.float32) - image) * layer.alpha[..., None]
    return np.clip(mixed, 0, 255).round().astype(np.uint8)


def with_contact_shadow(image: Pixels, layer: PlacedCutout) -> Pixels:
    """The picture with a soft, flat shadow where the layer's object stands."""
    import cv2

    rows, columns = np.nonzero(layer.mask)
    if not rows.size:
        return image
    base, left, right = int(rows.max()), int(columns.min()), int(columns.max())
    height = base - int(rows.min()) + 1
    # where the lowest sixth of the object is, it touches the ground
    low = columns[rows >= base - height / 6]
    left, right = (int(low.min()), int(low.max())) if low.size else (left, right)
    ground = np.zeros(layer.alpha.shape, np.float32)
    centre = (int((left + right) / 2), min(base, image.shape[0] - 1))
    radii = max(1, int((right - left) * 0.56)), max(1, int(min((right - left) * 0.16, height * 0.14)))
    cv2.ellipse(ground, centre, radii, 0, 0, 360, 1.0, -1)
    soft = cv2.GaussianBlur(ground, (0, 0), max(0.6, radii[1] * 0.6))
    return np.clip(image * (1 - SHADOW * soft[..., None]), 0, 255).round().astype(np.uint8)


def with_cast_shadow(image: Pixels, layer: PlacedCutout, distance: float, *, darkness: float) -> Pixels:
    """The picture with the layer's own shape as a shadow just below it, as of something worn."""
    import cv2

    move = np.array([[1, 0, 0], [0, 1, distance]], np.float64)
    height, width = layer.alpha.shape
    shape = cv2.GaussianBlur(cv2.warpAffine(layer.alpha, move, (width, height)), (0, 0), max(0.6, distance * 0.7))
    return np.clip(image * (1 - darkness * shape[..., None]), 0, 255).round().astype(np.uint8)


def _in_the_light_of(image: Pixels, layer: PlacedCutout) -> Pixels:
    around = _surroundings(layer.mask)
    scene, own = to_lab(image), to_lab(layer.pixels)
    mean = scene.reshape(-1, 3).mean(axis=0)
    near = scene[around].mean(axis=0) if around.any() else mean
    lightness = float(0.5 * mean[0] + 0.5 * near[0])
    factor = float(np.clip(0.45 + 0.55 * lightness / USUAL_LIGHTNESS, *BRIGHTNESS))
    tint = TINT * np.clip(mean[1:], -14, 14)
    # a black and white picture gets a black and white object
    saturation = float(np.clip(np.hypot(scene[..., 1], scene[..., 2]).mean() / GREY, 0, 1))
    lit = np.concatenate([own[..., :1] * factor, (own[..., 1:] + tint) * saturation], axis=2)
    return from_lab(np.asarray(lit, np.float32))


def _surroundings(mask: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """A band around the mask."""
    import cv2

    rows, _ = np.nonzero(mask)
    reach = max(3, int((rows.max() - rows.min()) * 0.15)) if rows.size else 3
    kernel = cv2.getStructuringElement(cv2.MORPH_ELLIPSE, (2 * reach + 1, 2 * reach + 1))
    return np.asarray(cv2.dilate(mask.astype(np.uint8), kernel) > 0) & ~mask
