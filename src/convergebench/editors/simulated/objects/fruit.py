"""Fruit: a few shapes, a hundred names."""

from __future__ import annotations

from convergebench.editors.simulated.objects.canvas import Canvas, Colour, Points, Sprite, shade

LEAF: Colour = (78, 142, 62)
STALK: Colour = (98, 70, 42)


def apple(colour: Colour) -> Sprite:
    """Round with a dimple, a stalk and a leaf."""
    canvas = Canvas(1.1)
    body: Points = [
        (0.5, 0.27),
        (0.64, 0.205),
        (0.83, 0.26),
        (0.93, 0.47),
        (0.88, 0.74),
        (0.72, 0.97),
        (0.58, 1.0),
        (0.5, 0.975),
        (0.42, 1.0),
        (0.28, 0.97),
        (0.12, 0.74),
        (0.07, 0.47),
        (0.17, 0.26),
        (0.36, 0.205),
    ]
    canvas.paint(canvas.polygon(body, smooth=True), colour, round_by=0.38, gloss=0.55)
    canvas.paint(canvas.ellipse(0.5, 0.275, 0.13, 0.04), shade(colour, 0.42), opacity=0.7)
    canvas.paint(canvas.stroke([(0.5, 0.28), (0.51, 0.16), (0.55, 0.06)], 0.034), STALK, round_by=0.018)
    leaf: Points = [(0.54, 0.16), (0.64, 0.05), (0.80, 0.04), (0.72, 0.15), (0.62, 0.185)]
    canvas.paint(canvas.polygon(leaf, smooth=True), LEAF, round_by=0.05)
    canvas.ground(0.52, 0.995, 0.38, 0.05)
    return canvas.sprite


def pear(colour: Colour) -> Sprite:
    """Narrow shoulders, wide hips."""
    canvas = Canvas(1.4)
    body: Points = [
        (0.5, 0.18),
        (0.64, 0.24),
        (0.68, 0.45),
        (0.84, 0.72),
        (0.88, 0.98),
        (0.74, 1.24),
        (0.5, 1.30),
        (0.26, 1.24),
        (0.12, 0.98),
        (0.16, 0.72),
        (0.32, 0.45),
        (0.36, 0.24),
    ]
    canvas.paint(canvas.polygon(body, smooth=True), colour, round_by=0.32, gloss=0.3, grain=0.02)
    canvas.paint(canvas.stroke([(0.5, 0.20), (0.53, 0.04)], 0.034), STALK, round_by=0.018)
    canvas.ground(0.52, 1.30, 0.36, 0.05)
    return canvas.sprite


def banana(colour: Colour) -> Sprite:
    """One banana, lying."""
    canvas = Canvas(0.62)
    body: Points = [
        (0.04, 0.12),
        (0.11, 0.10),
        (0.20, 0.26),
        (0.40, 0.385),
        (0.64, 0.37),
        (0.86, 0.22),
        (0.955, 0.18),
        (0.96, 0.25),
        (0.84, 0.43),
        (0.62, 0.555),
        (0.36, 0.555),
        (0.14, 0.40),
    ]
    canvas.paint(canvas.polygon(body, smooth=True), colour, round_by=0.09, gloss=0.2)
    canvas.paint(
        canvas.stroke([(0.12, 0.24), (0.28, 0.42), (0.5, 0.475), (0.72, 0.43), (0.9, 0.27)], 0.010),
        shade(colour, 0.7),
        opacity=0.6,
    )
    canvas.paint(
        canvas.polygon([(0.03, 0.05), (0.085, 0.03), (0.115, 0.13), (0.05, 0.14)]), (132, 112, 44), round_by=0.02
    )
    canvas.paint(canvas.ellipse(0.955, 0.21, 0.018, 0.03), (70, 54, 34))
    canvas.ground(0.5, 0.565, 0.40, 0.035)
    return canvas.sprite


def bunch(colour: Colour) -> Sprite:
    """Many small globes on one stalk: grapes, currants."""
    canvas = Canvas(1.3)
    canvas.paint(canvas.stroke([(0.5, 0.24), (0.52, 0.04)], 0.034), STALK, round_by=0.018)
    for row, count in enumerate((4, 5, 4, 3, 2, 1)):
        for k in range(count):
            x = 0.5 + (k - (count - 1) / 2) * 0.19
            tone = 0.85 + 0.1 * ((row * 3 + k * 5) % 4)
            canvas.paint(
                canvas.ellipse(x, 0.30 + 0.165 * row, 0.115, 0.115), shade(colour, tone), round_by=0.11, gloss=0.6
            )
    canvas.ground(0.52, 1.24, 0.2, 0.04)
    return canvas.sprite


def berry(colour: Colour) -> Sprite:
    """A pointed berry with seeds and a green crown: strawberry."""
    canvas = Canvas(1.12)
    body: Points = [
        (0.5, 0.20),
        (0.76, 0.20),
        (0.90, 0.40),
        (0.80, 0.70),
        (0.5, 1.04),
        (0.20, 0.70),
        (0.10, 0.40),
        (0.24, 0.20),
    ]
    canvas.paint(canvas.polygon(body, smooth=True), colour, round_by=0.3, gloss=0.4)
    for row, y in enumerate((0.36, 0.48, 0.60, 0.72, 0.84)):
        count = 6 - row
        for k in range(count):
            canvas.paint(canvas.ellipse(0.5 + (k - (count - 1) / 2) * 0.125, y, 0.014, 0.021), (250, 220, 130))
    for x in (0.24, 0.37, 0.5, 0.63, 0.76):
        tip = (x + (x - 0.5) * 0.25, 0.32 - abs(x - 0.5) * 0.25)
        canvas.paint(
            canvas.polygon([(0.5 + (x - 0.5) * 0.5, 0.12), tip, (0.5 + (x - 0.5) * 0.95, 0.17)], smooth=True),
            LEAF,
            round_by=0.03,
        )
    canvas.paint(canvas.stroke([(0.5, 0.15), (0.53, 0.03)], 0.03), LEAF, round_by=0.015)
    canvas.ground(0.52, 1.03, 0.24, 0.04)
    return canvas.sprite


def pineapple(colour: Colour) -> Sprite:
    """Scales below, a crown of leaves above."""
    canvas = Canvas(2.0)
    for x, height in ((0.20, 0.34), (0.80, 0.34), (0.30, 0.18), (0.70, 0.18), (0.40, 0.06), (0.60, 0.06), (0.5, 0.02)):
        canvas.paint(
            canvas.polygon([(0.42 + (x - 0.5) * 0.3, 0.78), (x, height), (0.58 + (x - 0.5) * 0.3, 0.78)]),
            shade(LEAF, 0.8 + abs(x - 0.5)),
            round_by=0.05,
        )
    body = canvas.ellipse(0.5, 1.32, 0.40, 0.60)
    canvas.paint(body, colour, round_by=0.34, gloss=0.2)
    for k in range(-7, 12):
        for slope in (1, -1):
            line = canvas.stroke([(-0.2, 0.7 + 0.14 * k), (1.2, 0.7 + 0.14 * k + slope * 0.98)], 0.014, smooth=False)
            canvas.paint(line * body, shade(colour, 0.5), opacity=0.6)
    canvas.ground(0.52, 1.91, 0.36, 0.06)
    return canvas.sprite


def melon(colour: Colour) -> Sprite:
    """Large, oval, striped."""
    canvas = Canvas(0.86)
    body = canvas.ellipse(0.5, 0.42, 0.46, 0.38)
    canvas.paint(body, colour, round_by=0.36, gloss=0.35)
    for x in (0.14, 0.30, 0.5, 0.70, 0.86):
        bend = (x - 0.5) * 0.35
        canvas.paint(
            canvas.stroke([(0.5 + (x - 0.5) * 0.2, 0.04), (x + bend * 0.6, 0.42), (0.5 + (x - 0.5) * 0.2, 0.80)], 0.035)
            * body,
            shade(colour, 0.55),
            opacity=0.6,
        )
    canvas.ground(0.52, 0.79, 0.40, 0.05)
    return canvas.sprite


def citrus(colour: Colour) -> Sprite:
    """A round fruit with a pitted skin and a small leaf."""
    canvas = Canvas(1.05)
    canvas.paint(canvas.ellipse(0.5, 0.53, 0.44, 0.44), colour, round_by=0.40, gloss=0.45, grain=0.025)
    canvas.paint(canvas.ellipse(0.5, 0.14, 0.05, 0.022), shade(LEAF, 0.8), round_by=0.02)
    canvas.paint(
        canvas.polygon([(0.52, 0.13), (0.64, 0.03), (0.80, 0.03), (0.70, 0.12)], smooth=True), LEAF, round_by=0.04
    )
    canvas.ground(0.52, 0.965, 0.36, 0.05)
    return canvas.sprite
