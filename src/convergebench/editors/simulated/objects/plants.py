"""Plants."""

from __future__ import annotations

import math

import numpy as np

from convergebench.editors.simulated.objects.canvas import Canvas, Colour, Points, Sprite, shade

LEAF: Colour = (62, 128, 58)


def _leaf(
    canvas: Canvas, start: tuple[float, float], end: tuple[float, float], *, width: float, colour: Colour
) -> None:
    """A pointed leaf with a lighter vein."""
    (x0, y0), (x1, y1) = start, end
    dx, dy = x1 - x0, y1 - y0
    side: list[tuple[float, float]] = []
    for t in (0.0, 0.15, 0.4, 0.7, 0.9, 1.0):
        bulge = width * math.sin(math.pi * min(1.0, t * 0.9 + 0.04)) ** 0.8
        side.append((x0 + dx * t - dy * bulge, y0 + dy * t + dx * bulge))
    other = [
        (2 * (x0 + dx * t) - x, 2 * (y0 + dy * t) - y)
        for t, (x, y) in zip((0.0, 0.15, 0.4, 0.7, 0.9, 1.0), side, strict=True)
    ]
    canvas.paint(canvas.polygon([*side, *reversed(other)]), colour, round_by=0.045, gloss=0.08)
    canvas.paint(canvas.stroke([start, end], 0.006, smooth=False), shade(colour, 1.5), opacity=0.6)


def plant(colour: Colour) -> Sprite:
    """A leafy plant in a clay pot."""
    canvas = Canvas(1.45)
    rng = np.random.default_rng(5)
    root = (0.5, 0.95)
    angles = np.concatenate([np.linspace(-82, 82, 13), np.linspace(-60, 60, 9), np.linspace(-35, 35, 6)])
    reach = np.concatenate([np.full(13, 0.52), np.full(9, 0.66), np.full(6, 0.78)])
    for angle, length in zip(angles, reach, strict=True):
        a = math.radians(float(angle) + rng.normal(0, 4))
        size = float(length) * rng.uniform(0.82, 1.08)
        tip = (0.5 + size * math.sin(a) * 0.62, 0.95 - size * math.cos(a) - 0.06)
        middle = (0.5 + 0.35 * (tip[0] - 0.5), root[1] + 0.45 * (tip[1] - root[1]))
        canvas.paint(canvas.stroke([root, middle], 0.012), shade(colour, 0.6))
        _leaf(canvas, middle, tip, width=0.19, colour=shade(colour, float(rng.uniform(0.7, 1.25))))
    pot: Points = [(0.27, 0.94), (0.73, 0.94), (0.66, 1.36), (0.34, 1.36)]
    canvas.paint(canvas.polygon(pot), (178, 98, 62), round_by=0.15, gloss=0.05)
    canvas.paint(canvas.box(0.245, 0.90, 0.51, 0.09, radius=0.02), (192, 110, 72), round_by=0.08)
    canvas.ground(0.52, 1.365, 0.27, 0.05, opacity=0.5)
    return canvas.sprite


def vase(colour: Colour) -> Sprite:
    """A glazed vase with a bunch of flowers."""
    canvas = Canvas(1.75)
    heads = [
        (0.50, 0.20, (232, 90, 120)),
        (0.28, 0.33, (250, 205, 80)),
        (0.72, 0.32, (240, 240, 236)),
        (0.14, 0.55, (206, 78, 106)),
        (0.86, 0.54, (246, 150, 70)),
        (0.40, 0.48, (244, 240, 244)),
        (0.61, 0.50, (222, 84, 140)),
    ]
    for x, y, _ in heads:
        canvas.paint(
            canvas.stroke([(x, y), (0.5 + (x - 0.5) * 0.45, 0.75), (0.5 + (x - 0.5) * 0.1, 1.02)], 0.014), (70, 118, 60)
        )
    for tip in ((0.10, 0.74), (0.90, 0.74), (0.30, 0.66), (0.70, 0.67)):
        _leaf(canvas, (0.5 + (tip[0] - 0.5) * 0.25, 0.95), tip, width=0.17, colour=LEAF)
    for x, y, petal in heads:
        for k in range(7):
            a = 2 * math.pi * k / 7
            canvas.paint(
                canvas.ellipse(x + 0.065 * math.cos(a), y + 0.06 * math.sin(a), 0.058, 0.045, angle=math.degrees(a)),
                petal,
                round_by=0.045,
            )
        canvas.paint(canvas.ellipse(x, y, 0.042, 0.038), (214, 152, 46), round_by=0.035, grain=0.05)
    body: Points = [
        (0.41, 0.96),
        (0.59, 0.96),
        (0.575, 1.06),
        (0.70, 1.24),
        (0.72, 1.42),
        (0.62, 1.64),
        (0.38, 1.64),
        (0.28, 1.42),
        (0.30, 1.24),
        (0.425, 1.06),
    ]
    canvas.paint(canvas.polygon(body, smooth=True), colour, round_by=0.2, gloss=0.75)
    canvas.paint(canvas.ellipse(0.5, 0.965, 0.10, 0.022), shade(colour, 0.5))
    canvas.ground(0.53, 1.655, 0.27, 0.05)
    return canvas.sprite
