"""Round and boxed things: balls, balloons, presents, bottles, clocks."""

from __future__ import annotations

import math

from convergebench.editors.simulated.objects.canvas import Canvas, Colour, Points, Sprite, shade


def ball(colour: Colour) -> Sprite:
    """A ball whose main tone is exactly the colour asked for."""
    canvas = Canvas(1.08)
    disc = canvas.ellipse(0.5, 0.5, 0.46, 0.46)
    canvas.paint(disc, colour)
    for step in range(12):
        size = 1 - step / 12
        rim = disc * (1 - canvas.ellipse(0.44, 0.43, 0.30 + 0.24 * size, 0.30 + 0.24 * size))
        canvas.paint(rim, shade(colour, 0.25), opacity=0.085)
    for step in range(8):
        canvas.paint(
            canvas.ellipse(0.34, 0.31, 0.145 - 0.016 * step, 0.105 - 0.012 * step, angle=-40),
            (255, 255, 255),
            opacity=0.10,
        )
    canvas.paint(disc * canvas.ellipse(0.52, 1.28, 0.46, 0.40), shade(colour, 1.5), opacity=0.18)
    canvas.ground(0.53, 0.955, 0.40, 0.06, opacity=0.55)
    return canvas.sprite


def balloon(colour: Colour) -> Sprite:
    """A balloon on a string."""
    canvas = Canvas(2.0)
    canvas.paint(canvas.stroke([(0.5, 1.2), (0.53, 1.4), (0.46, 1.65), (0.52, 1.95)], 0.012), (200, 196, 190))
    body: Points = [
        (0.5, 0.04),
        (0.80, 0.14),
        (0.94, 0.44),
        (0.84, 0.80),
        (0.62, 1.09),
        (0.5, 1.15),
        (0.38, 1.09),
        (0.16, 0.80),
        (0.06, 0.44),
        (0.20, 0.14),
    ]
    canvas.paint(canvas.polygon(body, smooth=True), colour, round_by=0.42, gloss=0.5, opacity=0.97)
    canvas.paint(canvas.polygon([(0.5, 1.13), (0.55, 1.21), (0.45, 1.21)]), shade(colour, 0.75), round_by=0.03)
    canvas.paint(canvas.ellipse(0.31, 0.33, 0.06, 0.13, angle=24), (255, 255, 255), opacity=0.5)
    return canvas.sprite


def bottle(colour: Colour) -> Sprite:
    """A glass bottle with a label."""
    canvas = Canvas(2.6)
    body: Points = [
        (0.40, 0.10),
        (0.60, 0.10),
        (0.61, 0.70),
        (0.74, 0.95),
        (0.80, 1.15),
        (0.80, 2.42),
        (0.72, 2.50),
        (0.28, 2.50),
        (0.20, 2.42),
        (0.20, 1.15),
        (0.26, 0.95),
        (0.39, 0.70),
    ]
    canvas.paint(canvas.polygon(body), colour, round_by=0.22, gloss=0.8, opacity=0.93)
    canvas.paint(canvas.box(0.385, 0.04, 0.23, 0.16, radius=0.03), (150, 40, 40), round_by=0.06)
    canvas.paint(canvas.box(0.20, 1.40, 0.60, 0.66), (240, 232, 208), round_by=0.2)
    for y in (1.58, 1.72, 1.86):
        canvas.paint(canvas.stroke([(0.32, y), (0.68, y)], 0.03, smooth=False), (110, 84, 64), opacity=0.7)
    canvas.ground(0.53, 2.50, 0.38, 0.07)
    return canvas.sprite


def gift(colour: Colour) -> Sprite:
    """A box with a ribbon."""
    canvas = Canvas(1.1)
    canvas.paint(canvas.box(0.08, 0.42, 0.84, 0.58), colour, round_by=0.05)
    canvas.paint(canvas.box(0.04, 0.30, 0.92, 0.16), shade(colour, 1.15), round_by=0.04)
    canvas.paint(canvas.box(0.43, 0.30, 0.14, 0.70), (244, 226, 150), round_by=0.04)
    for side in (-1, 1):
        loop: Points = [(0.5, 0.30), (0.5 + 0.12 * side, 0.10), (0.5 + 0.27 * side, 0.08), (0.5 + 0.26 * side, 0.24)]
        canvas.paint(canvas.stroke(loop, 0.055, closed=True), (244, 226, 150), round_by=0.03)
    canvas.ground(0.52, 1.0, 0.46, 0.06)
    return canvas.sprite


def clock(colour: Colour) -> Sprite:
    """A round wall clock at ten past ten."""
    canvas = Canvas(1.0)
    canvas.paint(canvas.ellipse(0.5, 0.5, 0.47, 0.47), colour, round_by=0.06, gloss=0.4)
    canvas.paint(canvas.ellipse(0.5, 0.5, 0.39, 0.39), (248, 246, 238), fade=(0.92, 1.02))
    for hour in range(12):
        a = math.radians(30 * hour)
        canvas.paint(
            canvas.stroke([(0.5 + r * math.sin(a), 0.5 - r * math.cos(a)) for r in (0.31, 0.36)], 0.02, smooth=False),
            (44, 44, 50),
        )
    canvas.paint(canvas.stroke([(0.5, 0.5), (0.33, 0.40)], 0.03, smooth=False), (30, 30, 34))
    canvas.paint(canvas.stroke([(0.5, 0.5), (0.74, 0.36)], 0.022, smooth=False), (30, 30, 34))
    canvas.paint(canvas.ellipse(0.5, 0.5, 0.026, 0.026), (180, 40, 40))
    canvas.shadow(dx=0.015, dy=0.03, blur=0.03, opacity=0.4)
    return canvas.sprite
