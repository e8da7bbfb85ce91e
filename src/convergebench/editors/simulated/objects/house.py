"""Furniture and household things."""

from __future__ import annotations

import itertools

from convergebench.editors.simulated.objects.canvas import Canvas, Colour, Points, Sprite, shade


def chair(colour: Colour) -> Sprite:
    """A wooden chair seen from the front, a little from the right."""
    canvas = Canvas(1.62)

    def post(a: tuple[float, float], b: tuple[float, float], width: float, tone: float) -> None:
        canvas.paint(canvas.stroke([a, b], width, smooth=False), shade(colour, tone), round_by=width * 0.55, grain=0.03)

    post((0.22, 0.95), (0.22, 1.38), 0.055, 0.6)
    post((0.76, 0.95), (0.78, 1.38), 0.055, 0.6)
    post((0.20, 1.17), (0.80, 1.17), 0.035, 0.6)
    post((0.20, 0.07), (0.215, 0.95), 0.065, 0.95)
    post((0.74, 0.07), (0.765, 0.95), 0.065, 0.9)
    for x in (0.335, 0.475, 0.615):
        post((x, 0.20), (x + 0.012, 0.86), 0.045, 0.82)
    top: Points = [(0.165, 0.06), (0.47, 0.02), (0.785, 0.06), (0.79, 0.235), (0.48, 0.20), (0.165, 0.235)]
    canvas.paint(canvas.polygon(top, smooth=True), colour, round_by=0.05, grain=0.04)
    seat: Points = [(0.20, 0.86), (0.79, 0.86), (0.93, 1.03), (0.10, 1.03)]
    canvas.paint(canvas.polygon(seat), shade(colour, 1.12), fade=(0.8, 1.15), grain=0.04)
    canvas.paint(
        canvas.polygon([(0.10, 1.03), (0.93, 1.03), (0.925, 1.10), (0.105, 1.10)]), shade(colour, 0.72), grain=0.04
    )
    post((0.14, 1.09), (0.115, 1.55), 0.07, 1.0)
    post((0.885, 1.09), (0.91, 1.55), 0.07, 0.92)
    post((0.135, 1.33), (0.89, 1.33), 0.038, 0.8)
    canvas.ground(0.52, 1.55, 0.43, 0.055, opacity=0.5)
    return canvas.sprite


def lamp(colour: Colour) -> Sprite:
    """A table lamp, lit."""
    canvas = Canvas(1.55)
    canvas.paint(canvas.ellipse(0.5, 1.45, 0.21, 0.045), (120, 92, 60), round_by=0.04, gloss=0.4)
    canvas.paint(
        canvas.stroke([(0.5, 0.72), (0.5, 1.43)], 0.045, smooth=False), (150, 118, 76), round_by=0.024, gloss=0.6
    )
    body: Points = [
        (0.5, 0.86),
        (0.61, 1.03),
        (0.635, 1.18),
        (0.56, 1.36),
        (0.5, 1.39),
        (0.44, 1.36),
        (0.365, 1.18),
        (0.39, 1.03),
    ]
    canvas.paint(canvas.polygon(body, smooth=True), (74, 104, 128), round_by=0.13, gloss=0.7)
    dark: Points = [(0.30, 0.06), (0.70, 0.06), (0.95, 0.74), (0.05, 0.74)]
    canvas.paint(canvas.polygon(dark), colour, fade=(0.82, 1.04), round_by=0.10)
    canvas.paint(canvas.ellipse(0.5, 0.745, 0.45, 0.038), shade(colour, 0.78))
    canvas.paint(canvas.ellipse(0.5, 0.52, 0.20, 0.21), (255, 246, 214), opacity=0.35)
    canvas.paint(canvas.ellipse(0.5, 0.062, 0.20, 0.017), shade(colour, 0.7))
    canvas.ground(0.52, 1.47, 0.27, 0.05)
    return canvas.sprite


def candle(colour: Colour) -> Sprite:
    """A burning pillar candle on a small dish."""
    canvas = Canvas(2.0)
    canvas.paint(canvas.ellipse(0.5, 1.84, 0.42, 0.085), (176, 148, 96), round_by=0.05, gloss=0.6)
    canvas.paint(canvas.box(0.27, 0.66, 0.46, 1.17, radius=0.06), colour, round_by=0.21)
    canvas.paint(canvas.ellipse(0.5, 0.68, 0.23, 0.055), shade(colour, 1.06))
    canvas.paint(canvas.ellipse(0.5, 0.685, 0.15, 0.032), (255, 236, 186), opacity=0.8)
    canvas.paint(canvas.stroke([(0.5, 0.68), (0.505, 0.57)], 0.024), (50, 42, 38))
    canvas.paint(canvas.ellipse(0.5, 0.40, 0.20, 0.30), (255, 196, 90), opacity=0.16)
    flame: Points = [(0.5, 0.14), (0.575, 0.34), (0.595, 0.46), (0.5, 0.585), (0.405, 0.46), (0.425, 0.34)]
    canvas.paint(canvas.polygon(flame, smooth=True), (255, 168, 48), fade=(1.05, 1.0), opacity=0.95)
    core: Points = [(0.5, 0.28), (0.545, 0.42), (0.55, 0.48), (0.5, 0.56), (0.45, 0.48), (0.455, 0.42)]
    canvas.paint(canvas.polygon(core, smooth=True), (255, 244, 190))
    canvas.ground(0.5, 1.87, 0.44, 0.08)
    return canvas.sprite


def cup(colour: Colour) -> Sprite:
    """A cup of coffee on a saucer."""
    canvas = Canvas(0.80)
    canvas.paint(canvas.ellipse(0.45, 0.68, 0.43, 0.085), shade(colour, 0.94), round_by=0.045, gloss=0.3)
    canvas.paint(canvas.ellipse(0.45, 0.67, 0.26, 0.045), shade(colour, 0.72), opacity=0.6)
    canvas.paint(
        canvas.stroke([(0.70, 0.25), (0.86, 0.24), (0.90, 0.36), (0.82, 0.47), (0.66, 0.52)], 0.052),
        shade(colour, 0.92),
        round_by=0.03,
        gloss=0.4,
    )
    body: Points = [
        (0.15, 0.17),
        (0.75, 0.17),
        (0.735, 0.35),
        (0.675, 0.55),
        (0.59, 0.665),
        (0.45, 0.69),
        (0.31, 0.665),
        (0.225, 0.55),
        (0.165, 0.35),
    ]
    canvas.paint(canvas.polygon(body), colour, round_by=0.17, gloss=0.4)
    canvas.paint(canvas.ellipse(0.45, 0.17, 0.30, 0.078), shade(colour, 1.05))
    canvas.paint(canvas.ellipse(0.45, 0.178, 0.272, 0.064), shade(colour, 0.62))
    canvas.paint(canvas.ellipse(0.45, 0.19, 0.262, 0.054), (74, 44, 26), fade=(0.8, 1.4))
    canvas.paint(canvas.ellipse(0.38, 0.18, 0.09, 0.012, angle=-6), (150, 108, 74), opacity=0.6)
    canvas.ground(0.47, 0.715, 0.44, 0.06)
    return canvas.sprite


def book(colour: Colour) -> Sprite:
    """An open book lying flat, seen from the front."""
    canvas = Canvas(0.60)
    canvas.paint(
        canvas.polygon([(0.02, 0.50), (0.12, 0.13), (0.88, 0.13), (0.98, 0.50), (0.5, 0.565)]), colour, round_by=0.02
    )
    for step, tone in ((0.03, 0.80), (0.016, 0.90), (0.0, 1.0)):
        for side in (-1, 1):
            page: Points = [
                (0.5, 0.12 + step),
                (0.5 + 0.16 * side, 0.075 + step),
                (0.5 + 0.37 * side, 0.105 + step),
                (0.5 + 0.455 * side, 0.455 + step),
                (0.5 + 0.22 * side, 0.435 + step),
                (0.5, 0.50 + step),
            ]
            canvas.paint(canvas.polygon(page), shade((250, 244, 228), tone), fade=(0.97, 1.0))
    for side in (-1, 1):
        for line in range(8):
            t = 0.12 + 0.10 * line
            y, reach = 0.115 + 0.36 * t, 0.355 + 0.075 * t
            text = canvas.stroke(
                [(0.5 + 0.05 * side, y + 0.02), (0.5 + 0.19 * side, y - 0.012), (0.5 + reach * side, y + 0.004)], 0.009
            )
            canvas.paint(text, (92, 88, 92), opacity=0.65)
    canvas.paint(
        canvas.polygon([(0.465, 0.115), (0.5, 0.12), (0.535, 0.115), (0.55, 0.48), (0.5, 0.50), (0.45, 0.48)]),
        (120, 105, 84),
        opacity=0.28,
    )
    canvas.ground(0.5, 0.52, 0.49, 0.05)
    return canvas.sprite


def umbrella(colour: Colour) -> Sprite:
    """An open umbrella, upright."""
    canvas = Canvas(1.15)
    canvas.paint(canvas.stroke([(0.5, 0.03), (0.5, 1.0)], 0.018, smooth=False), (126, 120, 116), round_by=0.01)
    handle: Points = [(0.5, 0.92), (0.5, 1.02), (0.535, 1.085), (0.59, 1.075), (0.605, 1.01)]
    canvas.paint(canvas.stroke(handle, 0.036), (112, 70, 40), round_by=0.02, gloss=0.4)
    ribs = [0.02, 0.212, 0.404, 0.596, 0.788, 0.98]
    for number, (left, right) in enumerate(itertools.pairwise(ribs)):
        bow = (left + right) / 2
        panel: Points = [
            (0.5, 0.07),
            (0.5 + (left - 0.5) * 0.72, 0.20),
            (left, 0.52),
            (bow, 0.465),
            (right, 0.52),
            (0.5 + (right - 0.5) * 0.72, 0.20),
        ]
        tone = (1.12, 1.05, 0.98, 0.84, 0.68)[number]
        canvas.paint(canvas.polygon(panel), shade(colour, tone), fade=(1.1, 0.88))
    for x in ribs[1:-1]:
        canvas.paint(
            canvas.stroke([(0.5, 0.07), (0.5 + (x - 0.5) * 0.72, 0.20), (x, 0.52)], 0.008),
            shade(colour, 0.5),
            opacity=0.6,
        )
    canvas.paint(canvas.stroke([(0.5, 0.02), (0.5, 0.08)], 0.02, smooth=False), (90, 84, 80))
    canvas.shadow(dx=0.01, dy=0.02, blur=0.02, opacity=0.3)
    return canvas.sprite
