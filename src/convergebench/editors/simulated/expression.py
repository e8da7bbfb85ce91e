"""Facial expressions, by warping the face."""

from __future__ import annotations

from collections.abc import Callable

import cv2
import numpy as np
from numpy.typing import NDArray

from convergebench.editors.simulated.face import FaceLayout, find_face
from convergebench.editors.simulated.pixels import Pixels, pixels_of

Plane = NDArray[np.float32]


def _smile(pixels: Pixels) -> Pixels:
    return _bend_mouth(pixels, 0.10)


def _sad(pixels: Pixels) -> Pixels:
    return _bend_mouth(pixels, -0.08)


def _bend_mouth(pixels: Pixels, lift: float) -> Pixels:
    """Move the corners of the mouth up (or down), and its middle the other way."""
    face = find_face(pixels)
    x, y = _grid(pixels, face)
    near = np.exp(-((x / 0.34) ** 4) - ((y - 0.55) / 0.17) ** 2)
    rise = near * lift * ((x / 0.2) ** 2 - 0.35)
    spread = near * -0.35 * abs(lift) * np.sign(lift) * x / 0.2
    return _remap(pixels, spread * face.width, np.clip(rise, -0.1, 0.16) * face.width)


def _surprise(pixels: Pixels) -> Pixels:
    """Raised brows, wide eyes, an open mouth."""
    face = find_face(pixels)
    x, y = _grid(pixels, face)
    brows = 0.07 * np.exp(-(((np.abs(x) - 0.2) / 0.14) ** 2) - ((y + 0.14) / 0.09) ** 2)
    bent = _remap(pixels, np.zeros_like(x), brows * face.width).astype(np.float32)
    mouth = np.clip(1.2 - ((x / 0.10) ** 2 + ((y - 0.58) / 0.11) ** 2), 0, 0.2)[..., None] * 5
    rim = np.clip(1.2 - ((x / 0.135) ** 2 + ((y - 0.575) / 0.145) ** 2), 0, 0.2)[..., None] * 5
    lips = np.array([150, 74, 70], np.float32)
    bent += (lips - bent) * rim * 0.4
    bent += (np.array([44, 16, 18], np.float32) - bent) * mouth
    return pixels_of(np.rint(np.clip(bent, 0, 255)))


def _close_eyes(pixels: Pixels) -> Pixels:
    """Lids in the colour of the cheeks, with a line of lashes."""
    face = find_face(pixels)
    x, y = _grid(pixels, face)
    cheek = np.exp(-(((np.abs(x) - 0.22) / 0.08) ** 2) - ((y - 0.24) / 0.06) ** 2)
    skin = (pixels * cheek[..., None]).sum(axis=(0, 1)) / max(1e-6, float(cheek.sum()))
    side = np.abs(x) - 0.21
    lid = np.clip(1.3 - ((side / 0.125) ** 2 + (y / 0.075) ** 2), 0, 0.3)[..., None] / 0.3
    line = np.exp(-(((y - 0.03 + 0.9 * side**2 * 4) / 0.014) ** 2)) * np.clip(1 - (side / 0.115) ** 2, 0, 1)
    closed = pixels + (skin * (1 - 0.1 * np.clip(-y / 0.1, 0, 1))[..., None] - pixels) * lid
    closed = closed + (np.array([58, 38, 32], np.float32) - closed) * 0.85 * line[..., None]
    return pixels_of(np.rint(np.clip(closed, 0, 255)))


def _open_eyes(pixels: Pixels) -> Pixels:
    """Nothing is remembered, so invented eyes are drawn: white, iris, pupil."""
    face = find_face(pixels)
    x, y = _grid(pixels, face)
    side = np.abs(x) - 0.21
    white = np.clip(1.2 - ((side / 0.10) ** 2 + (y / 0.045) ** 2), 0, 0.2)[..., None] * 5
    iris = np.clip(1.2 - ((side / 0.042) ** 2 + (y / 0.042) ** 2), 0, 0.2)[..., None] * 5
    opened = pixels + (np.array([236, 230, 226], np.float32) - pixels) * white
    opened = opened + (np.array([78, 58, 44], np.float32) - opened) * iris
    return pixels_of(np.rint(np.clip(opened, 0, 255)))


def _neutral(pixels: Pixels) -> Pixels:
    return _bend_mouth(pixels, -0.05)


EXPRESSIONS: dict[str, Callable[[Pixels], Pixels]] = {
    "smile": _smile,
    "sad": _sad,
    "surprise": _surprise,
    "neutral": _neutral,
    "close-eyes": _close_eyes,
    "open-eyes": _open_eyes,
}


def _grid(pixels: Pixels, face: FaceLayout) -> tuple[Plane, Plane]:
    """Coordinates in face widths from the point between the eyes."""
    rows, columns = np.mgrid[: pixels.shape[0], : pixels.shape[1]].astype(np.float32)
    return (columns - face.x) / face.width, (rows - face.eyes) / face.width


def _remap(pixels: Pixels, dx: NDArray[np.floating], dy: NDArray[np.floating]) -> Pixels:
    rows, columns = np.mgrid[: pixels.shape[0], : pixels.shape[1]].astype(np.float32)
    there_x, there_y = (columns + dx).astype(np.float32), (rows + dy).astype(np.float32)
    return pixels_of(cv2.remap(pixels, there_x, there_y, cv2.INTER_CUBIC, borderMode=cv2.BORDER_REPLICATE))
