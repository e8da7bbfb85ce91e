"""Drawn pictures, simple filters as editors, and plain measurements of them."""

from __future__ import annotations

import hashlib
import math
from pathlib import Path
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

Pixels = NDArray[np.uint8]


def draw(kind: str, size: int, seed: int) -> Pixels:
    """A face, an object or a scene, drawn."""
    random = np.random.default_rng(seed)
    down = np.linspace(0, 1, size)[:, None, None]
    image = (np.array([205, 190, 165]) * (1 - down) + np.array([120, 150, 180]) * down) * np.ones((size, size, 1))
    image = np.ascontiguousarray(image + random.normal(0, 4, (size, size, 1))).clip(0, 255).astype(np.uint8)
    unit = size / 100

    def at(*values: float) -> tuple[int, ...]:
        return tuple(round(value * unit) for value in values)

    if kind == "face":
        cv2.ellipse(image, at(50, 100), at(34, 26), 0, 0, 360, (70, 90, 150), -1, cv2.LINE_AA)
        cv2.ellipse(image, at(50, 48), at(23, 30), 0, 0, 360, (170, 200, 235), -1, cv2.LINE_AA)
        cv2.ellipse(image, at(50, 34), at(25, 20), 0, 180, 360, (30, 50, 80), -1, cv2.LINE_AA)
        for x in (41, 59):
            cv2.circle(image, at(x, 46), at(3)[0], (40, 30, 30), -1, cv2.LINE_AA)
        cv2.ellipse(image, at(50, 62), at(8, 4), 0, 0, 180, (70, 70, 170), max(1, at(1.5)[0]), cv2.LINE_AA)
    elif kind == "object":
        cv2.rectangle(image, at(0, 70), at(100, 100), (60, 90, 130), -1)
        cv2.ellipse(image, at(48, 72), at(24, 6), 0, 0, 360, (40, 60, 90), -1, cv2.LINE_AA)
        cv2.rectangle(image, at(28, 34), at(68, 70), (60, 60, 200), -1)
        cv2.ellipse(image, at(70, 52), at(9, 10), 0, -90, 90, (60, 60, 200), max(2, at(4)[0]), cv2.LINE_AA)
        for x in range(32, 66, 6):
            cv2.line(image, at(x, 40), at(x, 64), (235, 235, 245), max(1, at(1)[0]))
    else:
        cv2.circle(image, at(75, 22), at(9)[0], (120, 220, 255), -1, cv2.LINE_AA)
        hills = np.array([at(0, 70), at(30, 38), at(52, 62), at(74, 44), at(100, 72), at(100, 100), at(0, 100)])
        cv2.fillPoly(image, [hills], (95, 120, 80), cv2.LINE_AA)
        for x in range(6, 100, 9):
            tree = np.array([at(x, 96), at(x + 3.5, 72 + x % 7), at(x + 7, 96)])
            cv2.fillPoly(image, [tree], (40, 80 + x % 40, 40), cv2.LINE_AA)
    return np.asarray(image, np.uint8)


def degrade(editor: str, image: Pixels, step: int) -> Pixels:
    """One edit by a pretend editor: the kind of damage is in its name."""
    if "jpeg" in editor:
        data = cv2.imencode(".jpg", image, [cv2.IMWRITE_JPEG_QUALITY, 30])[1]
        return np.asarray(cv2.imdecode(data, cv2.IMREAD_COLOR), np.uint8)
    if "blur" in editor:
        return np.asarray(cv2.GaussianBlur(image, (0, 0), 0.45), np.uint8)
    if "tint" in editor:
        return np.asarray((image + np.array([-1.5, 0.3, 2.2])).clip(0, 255).round(), np.uint8)
    if "noise" in editor:
        noise = np.random.default_rng(step).normal(0, 5, image.shape)
        return (image + noise).clip(0, 255).round().astype(np.uint8)
    return image


def ssim(a: Pixels, b: Pixels) -> float:
    x, y = (cv2.cvtColor(p, cv2.COLOR_BGR2GRAY).astype(np.float64) for p in (a, b))

    def blur(plane: Any) -> Any:
        return cv2.GaussianBlur(plane, (0, 0), 1.5)

    mx, my = blur(x), blur(y)
    vx, vy, cov = blur(x * x) - mx**2, blur(y * y) - my**2, blur(x * y) - mx * my
    return float(
        np.mean((2 * mx * my + 6.5025) * (2 * cov + 58.5225) / ((mx**2 + my**2 + 6.5025) * (vx + vy + 58.5225)))
    )


def readings(image: Pixels, source: Pixels) -> dict[str, float]:
    rmse = float(np.sqrt(np.mean((image.astype(float) - source) ** 2)) / 255)
    small = [cv2.resize(p, (16, 16), interpolation=cv2.INTER_AREA).astype(float).ravel() for p in (image, source)]
    grey = cv2.cvtColor(image, cv2.COLOR_BGR2GRAY).astype(float)
    return {
        "ssim": ssim(image, source),
        "gist": float(np.corrcoef(small[0], small[1])[0, 1]),
        "rmse": rmse,
        "psnr": -20 * math.log10(rmse) if rmse else math.inf,
        "sharpness": float(np.mean(np.abs(np.diff(grey, axis=1)))),
        "brightness": float(grey.mean() / 255),
    }


def lags(image: Pixels, before: list[Pixels]) -> dict[str, float]:
    """Distance to the images one, two, … six rounds before."""
    return {
        f"rmse-lag{lag}": float(np.sqrt(np.mean((image.astype(float) - before[-lag]) ** 2)) / 255)
        for lag in range(1, min(6, len(before)) + 1)
    }


def store(run: Path, image: Pixels) -> str:
    data = cv2.imencode(".png", image)[1].tobytes()
    name = hashlib.sha256(data).hexdigest()
    path = run / "images" / name[:2] / f"{name[2:]}.png"
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    return path.relative_to(run).as_posix()
