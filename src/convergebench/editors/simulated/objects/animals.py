"""Animals."""

from __future__ import annotations

from convergebench.editors.simulated.objects.canvas import Canvas, Colour, Points, Sprite, shade


def cat(colour: Colour) -> Sprite:
    """A sitting cat, facing us."""
    canvas = Canvas(1.35)
    canvas.paint(
        canvas.stroke([(0.72, 1.18), (0.93, 1.16), (0.96, 0.98), (0.88, 0.86)], 0.085),
        shade(colour, 0.85),
        round_by=0.05,
        grain=0.05,
    )
    body: Points = [
        (0.5, 0.42),
        (0.67, 0.55),
        (0.76, 0.82),
        (0.80, 1.08),
        (0.70, 1.26),
        (0.5, 1.28),
        (0.30, 1.26),
        (0.20, 1.08),
        (0.24, 0.82),
        (0.33, 0.55),
    ]
    canvas.paint(canvas.polygon(body, smooth=True), colour, round_by=0.24, grain=0.06)
    chest: Points = [(0.5, 0.58), (0.58, 0.68), (0.58, 0.88), (0.5, 1.0), (0.42, 0.88), (0.42, 0.68)]
    canvas.paint(canvas.polygon(chest, smooth=True), shade(colour, 1.75), opacity=0.8, grain=0.05)
    for x in (0.41, 0.59):
        canvas.paint(
            canvas.box(x - 0.062, 0.84, 0.124, 0.44, radius=0.06), shade(colour, 1.04), round_by=0.06, grain=0.05
        )
        canvas.paint(canvas.ellipse(x, 1.265, 0.078, 0.045), shade(colour, 1.5), round_by=0.045)
    for side in (-1, 1):
        ear: Points = [(0.5 + 0.06 * side, 0.20), (0.5 + 0.205 * side, 0.02), (0.5 + 0.245 * side, 0.29)]
        canvas.paint(canvas.polygon(ear), shade(colour, 0.92), round_by=0.04, grain=0.04)
        inner: Points = [(0.5 + 0.11 * side, 0.19), (0.5 + 0.19 * side, 0.075), (0.5 + 0.215 * side, 0.235)]
        canvas.paint(canvas.polygon(inner), (206, 140, 136), opacity=0.8)
    head: Points = [
        (0.5, 0.13),
        (0.65, 0.165),
        (0.755, 0.30),
        (0.755, 0.41),
        (0.64, 0.52),
        (0.5, 0.55),
        (0.36, 0.52),
        (0.245, 0.41),
        (0.245, 0.30),
        (0.35, 0.165),
    ]
    canvas.paint(canvas.polygon(head, smooth=True), colour, round_by=0.2, grain=0.05)
    for x in (-0.06, 0.0, 0.06):
        canvas.paint(canvas.stroke([(0.5 + x * 0.8, 0.155), (0.5 + x, 0.24)], 0.018), shade(colour, 0.5), opacity=0.6)
    canvas.paint(canvas.ellipse(0.5, 0.455, 0.115, 0.075), shade(colour, 1.75), opacity=0.85)
    for x in (0.40, 0.60):
        canvas.paint(canvas.ellipse(x, 0.335, 0.056, 0.05), (30, 34, 24))
        canvas.paint(canvas.ellipse(x, 0.335, 0.047, 0.043), (176, 190, 70), fade=(0.75, 1.15))
        canvas.paint(canvas.ellipse(x, 0.335, 0.016, 0.038), (12, 14, 12))
        canvas.paint(canvas.ellipse(x - 0.014, 0.318, 0.010, 0.010), (255, 255, 255))
    canvas.paint(canvas.polygon([(0.472, 0.412), (0.528, 0.412), (0.5, 0.443)], smooth=True), (196, 110, 112))
    for side in (-1, 1):
        canvas.paint(
            canvas.stroke([(0.5, 0.44), (0.5 + 0.022 * side, 0.475), (0.5 + 0.058 * side, 0.47)], 0.010), (70, 50, 46)
        )
        for lift in (-0.03, 0.0, 0.03):
            canvas.paint(
                canvas.stroke(
                    [(0.5 + 0.09 * side, 0.455 + lift * 0.3), (0.5 + 0.31 * side, 0.445 + lift)], 0.005, smooth=False
                ),
                (240, 236, 230),
                opacity=0.75,
            )
    canvas.ground(0.53, 1.285, 0.42, 0.05, opacity=0.5)
    return canvas.sprite


def dog(colour: Colour) -> Sprite:
    """A sitting dog with hanging ears, facing us."""
    canvas = Canvas(1.38)
    canvas.paint(canvas.stroke([(0.74, 1.16), (0.88, 1.10), (0.94, 0.94)], 0.07), colour, round_by=0.04, grain=0.05)
    body: Points = [
        (0.5, 0.46),
        (0.67, 0.56),
        (0.75, 0.82),
        (0.82, 1.12),
        (0.72, 1.29),
        (0.5, 1.30),
        (0.28, 1.29),
        (0.18, 1.12),
        (0.25, 0.82),
        (0.33, 0.56),
    ]
    canvas.paint(canvas.polygon(body, smooth=True), colour, round_by=0.22, grain=0.06)
    chest: Points = [(0.5, 0.60), (0.62, 0.72), (0.6, 0.95), (0.5, 1.06), (0.40, 0.95), (0.38, 0.72)]
    canvas.paint(canvas.polygon(chest, smooth=True), (238, 228, 210), opacity=0.92, round_by=0.1, grain=0.05)
    for x in (0.395, 0.605):
        canvas.paint(
            canvas.box(x - 0.07, 0.84, 0.14, 0.46, radius=0.06), shade(colour, 1.02), round_by=0.07, grain=0.05
        )
        canvas.paint(canvas.ellipse(x, 1.285, 0.095, 0.05), (236, 226, 208), round_by=0.05)
    head: Points = [
        (0.5, 0.06),
        (0.66, 0.10),
        (0.745, 0.24),
        (0.72, 0.40),
        (0.62, 0.53),
        (0.5, 0.57),
        (0.38, 0.53),
        (0.28, 0.40),
        (0.255, 0.24),
        (0.34, 0.10),
    ]
    canvas.paint(canvas.polygon(head, smooth=True), colour, round_by=0.2, grain=0.05)
    canvas.paint(
        canvas.polygon([(0.5, 0.06), (0.55, 0.18), (0.56, 0.35), (0.44, 0.35), (0.45, 0.18)], smooth=True),
        (240, 230, 214),
        opacity=0.9,
    )
    for side in (-1, 1):
        ear: Points = [
            (0.5 + 0.17 * side, 0.085),
            (0.5 + 0.29 * side, 0.13),
            (0.5 + 0.345 * side, 0.33),
            (0.5 + 0.29 * side, 0.48),
            (0.5 + 0.215 * side, 0.33),
        ]
        canvas.paint(canvas.polygon(ear, smooth=True), shade(colour, 0.6), round_by=0.07, grain=0.05)
    canvas.paint(canvas.ellipse(0.5, 0.45, 0.145, 0.115), (242, 234, 220), round_by=0.1)
    for x in (0.405, 0.595):
        canvas.paint(canvas.ellipse(x, 0.285, 0.042, 0.045), (40, 26, 18))
        canvas.paint(canvas.ellipse(x - 0.012, 0.27, 0.012, 0.012), (255, 255, 255))
    canvas.paint(
        canvas.polygon(
            [(0.43, 0.375), (0.5, 0.355), (0.57, 0.375), (0.545, 0.425), (0.5, 0.45), (0.455, 0.425)], smooth=True
        ),
        (34, 28, 30),
        round_by=0.03,
        gloss=0.5,
    )
    canvas.paint(canvas.stroke([(0.5, 0.45), (0.5, 0.49)], 0.012), (64, 46, 42))
    canvas.paint(canvas.ellipse(0.5, 0.545, 0.048, 0.055), (222, 112, 120), round_by=0.04)
    canvas.paint(
        canvas.stroke([(0.40, 0.485), (0.45, 0.512), (0.5, 0.49), (0.55, 0.512), (0.60, 0.485)], 0.012), (64, 46, 42)
    )
    canvas.ground(0.53, 1.305, 0.43, 0.05, opacity=0.5)
    return canvas.sprite


def bird(colour: Colour) -> Sprite:
    """A small bird, standing, looking left."""
    canvas = Canvas(0.95)
    for x in (0.46, 0.54):
        canvas.paint(canvas.stroke([(x, 0.70), (x - 0.01, 0.88), (x - 0.07, 0.90)], 0.016), (120, 84, 50))
    canvas.paint(
        canvas.polygon([(0.68, 0.46), (0.98, 0.36), (0.97, 0.46), (0.72, 0.62)]), shade(colour, 0.7), round_by=0.04
    )
    body: Points = [
        (0.26, 0.24),
        (0.42, 0.26),
        (0.62, 0.36),
        (0.76, 0.52),
        (0.66, 0.70),
        (0.46, 0.76),
        (0.27, 0.65),
        (0.20, 0.45),
    ]
    canvas.paint(canvas.polygon(body, smooth=True), colour, round_by=0.2, grain=0.04)
    canvas.paint(canvas.ellipse(0.36, 0.60, 0.13, 0.11, angle=25), (240, 226, 200), opacity=0.85)
    canvas.paint(canvas.ellipse(0.29, 0.26, 0.145, 0.14), colour, round_by=0.12, grain=0.04)
    canvas.paint(
        canvas.polygon([(0.42, 0.40), (0.62, 0.42), (0.78, 0.55), (0.56, 0.60), (0.42, 0.52)], smooth=True),
        shade(colour, 0.68),
        round_by=0.07,
    )
    canvas.paint(canvas.polygon([(0.16, 0.24), (0.04, 0.28), (0.165, 0.31)]), (226, 150, 40), round_by=0.02)
    canvas.paint(canvas.ellipse(0.25, 0.23, 0.022, 0.024), (16, 16, 18))
    canvas.paint(canvas.ellipse(0.243, 0.222, 0.007, 0.007), (255, 255, 255))
    canvas.ground(0.5, 0.905, 0.28, 0.03)
    return canvas.sprite
