"""Soft masks of the parts of a picture that instructions can name."""

from __future__ import annotations

import cv2
import numpy as np
from numpy.typing import NDArray

from convergebench.editors.simulated.face import FaceLayout, find_face
from convergebench.editors.simulated.pixels import Pixels

Soft = NDArray[np.float32]
"""Height × width, 0 … 1."""


def region(pixels: Pixels, subject: str) -> Soft:
    """Mask of `hair`, `background`, `sky`, `clothes`, `lips`, `eyes`, `face` or the `main` object."""
    height, width = pixels.shape[:2]
    if subject == "main":
        return _salient(pixels)
    if subject == "background":
        return np.asarray(1 - _subject(pixels), np.float32)
    if subject == "sky":
        return _oval(pixels, 0.5 * width, 0.0, 0.9 * width, 0.5 * height) * _calm(pixels)
    face = find_face(pixels)
    oval = _on_face(pixels, face, subject)
    if subject == "hair":
        skin = _oval(pixels, face.x, face.eyes + 0.36 * face.width, 0.5 * face.width, 0.74 * face.width)
        sample = (face.x, face.eyes - 0.62 * face.width)
        return oval * (1 - skin) * _like(pixels, sample, 22)
    if subject == "clothes":
        return oval * _like(pixels, (face.x + 0.5 * face.width, face.chin + 0.8 * face.width), 30)
    return oval


def _subject(pixels: Pixels) -> Soft:
    """The person if there is one, else the salient object."""
    face = find_face(pixels)
    if face.score is None:
        return _salient(pixels)
    head = _oval(pixels, face.x, face.eyes - 0.05 * face.width, 0.72 * face.width, 0.95 * face.width)
    body = _oval(pixels, face.x, face.chin + 2.4 * face.width, 1.9 * face.width, 2.3 * face.width)
    return np.maximum(head, body)


def _on_face(pixels: Pixels, face: FaceLayout, subject: str) -> Soft:
    wide = face.width
    x, y, rx, ry = {
        "hair": (face.x, face.eyes - 0.25 * wide, 0.72 * wide, 0.72 * wide),
        "clothes": (face.x, face.chin + 1.3 * wide, 1.6 * wide, 1.15 * wide),
        "lips": (face.x, face.mouth, 0.2 * wide, 0.07 * wide),
        "eyes": (face.x, face.eyes, 0.32 * wide, 0.06 * wide),
        "face": (face.x, face.eyes + 0.2 * wide, 0.5 * wide, 0.66 * wide),
    }[subject]
    return _oval(pixels, x, y, rx, ry)


def _oval(pixels: Pixels, x: float, y: float, rx: float, ry: float) -> Soft:
    rows, columns = np.ogrid[: pixels.shape[0], : pixels.shape[1]]
    inside = ((columns - x) / max(1.0, rx)) ** 2 + ((rows - y) / max(1.0, ry)) ** 2
    return np.asarray(np.clip((1.15 - inside) / 0.3, 0, 1), np.float32)


def _like(pixels: Pixels, point: tuple[float, float], reach: float) -> Soft:
    """Similarity of each pixel's colour to that around a point."""
    column = int(np.clip(point[0], 0, pixels.shape[1] - 1))
    row = int(np.clip(point[1], 0, pixels.shape[0] - 1))
    lab = np.asarray(cv2.cvtColor(cv2.GaussianBlur(pixels, (0, 0), 0.8), cv2.COLOR_RGB2LAB), np.float32)
    sample = np.median(lab[max(0, row - 6) : row + 7, max(0, column - 6) : column + 7].reshape(-1, 3), axis=0)
    far = np.sqrt((((lab - sample) * (0.2, 1, 1)) ** 2).sum(axis=2))
    return np.asarray(np.clip((reach - far) / (0.5 * reach), 0, 1), np.float32)


def _calm(pixels: Pixels) -> Soft:
    grey = np.asarray(cv2.cvtColor(pixels, cv2.COLOR_RGB2GRAY), np.float32)
    rough = cv2.GaussianBlur(np.abs(cv2.Laplacian(grey, cv2.CV_32F)), (0, 0), 5)
    return np.asarray(np.clip((12 - np.asarray(rough)) / 8, 0, 1), np.float32)


def _salient(pixels: Pixels) -> Soft:
    """What differs from the picture's border and is near its centre."""
    height, width = pixels.shape[:2]
    size = (min(width, 96), min(height, 96))
    lab = np.asarray(
        cv2.cvtColor(cv2.resize(pixels, size, interpolation=cv2.INTER_AREA), cv2.COLOR_RGB2LAB), np.float32
    )
    rim = np.concatenate(
        [lab[:3].reshape(-1, 3), lab[:, :3].reshape(-1, 3), lab[:, -3:].reshape(-1, 3), lab[-3:].reshape(-1, 3)]
    )
    far = np.full(lab.shape[:2], np.inf, np.float32)
    for sample in np.percentile(rim, (10, 30, 50, 70, 90), axis=0):
        far = np.minimum(far, np.sqrt((((lab - sample) * (0.7, 1, 1)) ** 2).sum(axis=2)))
    across, down = np.linspace(-1, 1, size[0]), np.linspace(-1, 1, size[1])
    far *= np.exp(-1.2 * (across[None, :] ** 2 + down[:, None] ** 2))
    level = np.clip(far / max(1.0, float(far.max())) * 255, 0, 255).astype(np.uint8)
    _, mask = cv2.threshold(level, 0, 255, cv2.THRESH_BINARY + cv2.THRESH_OTSU)
    kernel = np.ones((3, 3), np.uint8)
    mask = cv2.morphologyEx(cv2.morphologyEx(mask, cv2.MORPH_OPEN, kernel), cv2.MORPH_CLOSE, kernel, iterations=2)
    soft = cv2.GaussianBlur(np.asarray(mask, np.float32) / 255, (0, 0), 1.0)
    return np.asarray(np.clip(cv2.resize(soft, (width, height), interpolation=cv2.INTER_LINEAR), 0, 1), np.float32)
