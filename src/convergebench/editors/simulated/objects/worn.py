"""Things a person wears: glasses, hats, cloth."""

from __future__ import annotations

from convergebench.editors.simulated.objects.canvas import Canvas, Colour, Sprite, shade


def glasses(colour: Colour) -> Sprite:
    """Thin frame, clear lenses with a faint reflection. Eyes at mid height."""
    canvas = Canvas(0.40)
    for x in (0.27, 0.73):
        lens = canvas.ellipse(x, 0.20, 0.185, 0.145)
        canvas.paint(lens, (225, 236, 245), opacity=0.04)
        canvas.paint(canvas.stroke([(x - 0.10, 0.20), (x - 0.02, 0.10)], 0.022), (255, 255, 255), opacity=0.06)
    rims = [
        canvas.stroke(
            [
                (x - 0.185, 0.19),
                (x - 0.13, 0.09),
                (x, 0.062),
                (x + 0.13, 0.09),
                (x + 0.185, 0.19),
                (x + 0.13, 0.305),
                (x, 0.34),
                (x - 0.13, 0.305),
            ],
            0.028,
            closed=True,
        )
        for x in (0.27, 0.73)
    ]
    bridge = canvas.stroke([(0.445, 0.175), (0.5, 0.145), (0.555, 0.175)], 0.028)
    sides = [canvas.stroke([(0.085, 0.16), (0.008, 0.12)], 0.028), canvas.stroke([(0.915, 0.16), (0.992, 0.12)], 0.028)]
    for part in [*sides, bridge, *rims]:
        canvas.paint(part, colour, round_by=0.016, gloss=0.5)
    canvas.shadow(dx=0.006, dy=0.022, blur=0.014, opacity=0.38)
    return canvas.sprite


def sunglasses(colour: Colour) -> Sprite:
    """Dark lenses, lighter towards the bottom, with a sky reflection."""
    canvas = Canvas(0.42)
    for x in (0.265, 0.735):
        flip = 1 if x < 0.5 else -1
        outline = [
            (x - 0.20 * flip, 0.09),
            (x, 0.07),
            (x + 0.19 * flip, 0.10),
            (x + 0.17 * flip, 0.25),
            (x + 0.06 * flip, 0.35),
            (x - 0.10 * flip, 0.34),
            (x - 0.19 * flip, 0.24),
        ]
        canvas.paint(canvas.polygon(outline, smooth=True), (34, 30, 34), fade=(0.75, 2.1), opacity=0.965)
        glint = [(x - 0.14, 0.12), (x - 0.02, 0.105), (x - 0.09, 0.27), (x - 0.15, 0.24)]
        canvas.paint(canvas.polygon(glint, smooth=True), (190, 205, 225), opacity=0.16)
        canvas.paint(canvas.stroke(outline, 0.026, closed=True), colour, round_by=0.014, gloss=0.55)
    canvas.paint(canvas.stroke([(0.44, 0.12), (0.5, 0.10), (0.56, 0.12)], 0.032), colour, round_by=0.016, gloss=0.5)
    for x, end in ((0.07, 0.006), (0.93, 0.994)):
        canvas.paint(canvas.stroke([(x, 0.125), (end, 0.115)], 0.034), colour, round_by=0.016, gloss=0.5)
    canvas.shadow(dx=0.006, dy=0.024, blur=0.016, opacity=0.42)
    return canvas.sprite


def hat(colour: Colour) -> Sprite:
    """A felt hat with a band; the brim's front edge is at the bottom."""
    canvas = Canvas(0.60)
    crown = [
        (0.235, 0.46),
        (0.25, 0.22),
        (0.31, 0.075),
        (0.42, 0.055),
        (0.5, 0.095),
        (0.58, 0.055),
        (0.69, 0.075),
        (0.75, 0.22),
        (0.765, 0.46),
        (0.5, 0.52),
    ]
    canvas.paint(canvas.ellipse(0.5, 0.455, 0.485, 0.085), shade(colour, 0.62), round_by=0.05)
    canvas.paint(canvas.polygon(crown, smooth=True), colour, round_by=0.17, grain=0.02, gloss=0.05)
    canvas.paint(canvas.stroke([(0.5, 0.10), (0.495, 0.18), (0.5, 0.25)], 0.012), shade(colour, 0.6), opacity=0.5)
    band = [
        (0.238, 0.37),
        (0.36, 0.415),
        (0.5, 0.43),
        (0.64, 0.415),
        (0.762, 0.37),
        (0.768, 0.455),
        (0.64, 0.505),
        (0.5, 0.52),
        (0.36, 0.505),
        (0.232, 0.455),
    ]
    canvas.paint(canvas.polygon(band, smooth=True), shade(colour, 0.28), round_by=0.05)
    front = [
        (0.015, 0.455),
        (0.12, 0.47),
        (0.25, 0.485),
        (0.5, 0.505),
        (0.75, 0.485),
        (0.88, 0.47),
        (0.985, 0.455),
        (0.86, 0.535),
        (0.66, 0.575),
        (0.5, 0.582),
        (0.34, 0.575),
        (0.14, 0.535),
    ]
    canvas.paint(canvas.polygon(front, smooth=True), shade(colour, 1.06), round_by=0.035, grain=0.02)
    canvas.shadow(dy=0.03, blur=0.022, opacity=0.45)
    return canvas.sprite


def cap(colour: Colour) -> Sprite:
    """A baseball cap from the front."""
    canvas = Canvas(0.62)
    dome = [
        (0.10, 0.45),
        (0.11, 0.26),
        (0.24, 0.10),
        (0.5, 0.045),
        (0.76, 0.10),
        (0.89, 0.26),
        (0.90, 0.45),
        (0.5, 0.50),
    ]
    canvas.paint(canvas.polygon(dome, smooth=True), colour, round_by=0.22, grain=0.012)
    for x in (0.30, 0.5, 0.70):
        line = canvas.stroke([(0.5, 0.055), (0.5 + (x - 0.5) * 0.9, 0.2), (x, 0.44)], 0.006)
        canvas.paint(line, shade(colour, 0.55), opacity=0.7)
    canvas.paint(canvas.ellipse(0.5, 0.05, 0.03, 0.018), shade(colour, 0.8), round_by=0.015)
    visor = [
        (0.09, 0.44),
        (0.3, 0.405),
        (0.5, 0.395),
        (0.7, 0.405),
        (0.91, 0.44),
        (0.86, 0.53),
        (0.66, 0.575),
        (0.5, 0.585),
        (0.34, 0.575),
        (0.14, 0.53),
    ]
    canvas.paint(canvas.polygon(visor, smooth=True), shade(colour, 0.8), round_by=0.05, gloss=0.08)
    canvas.shadow(dy=0.03, blur=0.02, opacity=0.45)
    return canvas.sprite


def scarf(colour: Colour) -> Sprite:
    """Wrapped once round the neck, one end hanging, knitted."""
    canvas = Canvas(0.95)
    tail = [(0.56, 0.30), (0.74, 0.30), (0.78, 0.60), (0.80, 0.88), (0.60, 0.90), (0.57, 0.60)]
    canvas.paint(canvas.polygon(tail), shade(colour, 0.9), round_by=0.09, grain=0.05)
    for x in (0.615, 0.655, 0.695, 0.735, 0.775):
        canvas.paint(canvas.stroke([(x, 0.88), (x + 0.004, 0.935)], 0.016), shade(colour, 0.75), round_by=0.008)
    for y in (0.74, 0.80):
        canvas.paint(
            canvas.stroke([(0.585, y + 0.005), (0.795, y)], 0.022, smooth=False), shade(colour, 1.7), opacity=0.8
        )
    front = [
        (0.07, 0.03),
        (0.20, 0.12),
        (0.5, 0.165),
        (0.80, 0.12),
        (0.93, 0.03),
        (0.985, 0.17),
        (0.93, 0.33),
        (0.76, 0.425),
        (0.5, 0.46),
        (0.24, 0.425),
        (0.07, 0.33),
        (0.015, 0.17),
    ]
    canvas.paint(canvas.polygon(front, smooth=True), colour, round_by=0.11, grain=0.05)
    for drop in (0.0, 0.075, 0.15):
        fold = [(0.06, 0.11 + drop), (0.25, 0.20 + drop), (0.5, 0.235 + drop), (0.75, 0.20 + drop), (0.94, 0.11 + drop)]
        canvas.paint(canvas.stroke(fold, 0.012), shade(colour, 0.45), opacity=0.45)
    canvas.shadow(dy=0.02, blur=0.025, opacity=0.45)
    return canvas.sprite


def bow_tie(colour: Colour) -> Sprite:
    """Two wings and a knot."""
    canvas = Canvas(0.52)
    for side in (-1, 1):
        wing = [
            (0.5, 0.21),
            (0.5 + 0.22 * side, 0.10),
            (0.5 + 0.43 * side, 0.06),
            (0.5 + 0.46 * side, 0.25),
            (0.5 + 0.43 * side, 0.44),
            (0.5 + 0.22 * side, 0.39),
            (0.5, 0.30),
        ]
        canvas.paint(canvas.polygon(wing, smooth=True), colour, round_by=0.11, gloss=0.12)
        for lift in (-0.05, 0.05):
            fold = canvas.stroke([(0.5 + 0.06 * side, 0.25), (0.5 + 0.26 * side, 0.25 + lift)], 0.014)
            canvas.paint(fold, shade(colour, 0.4), opacity=0.6)
    canvas.paint(canvas.box(0.435, 0.165, 0.13, 0.18, radius=0.045), shade(colour, 1.15), round_by=0.05, gloss=0.15)
    canvas.shadow(dy=0.025, blur=0.018, opacity=0.45)
    return canvas.sprite


def tie(colour: Colour) -> Sprite:
    """A long tie with slanted stripes."""
    canvas = Canvas(2.2)
    blade = [(0.36, 0.26), (0.64, 0.26), (0.90, 1.90), (0.5, 2.14), (0.10, 1.90)]
    canvas.paint(canvas.polygon(blade), colour, round_by=0.10)
    inside = canvas.polygon(blade)
    for y in (0.5, 0.85, 1.2, 1.55, 1.9):
        stripe = canvas.polygon([(0, y + 0.3), (1, y - 0.2), (1, y - 0.1), (0, y + 0.4)])
        canvas.paint(stripe * inside, shade(colour, 1.9), opacity=0.55)
    canvas.paint(
        canvas.polygon([(0.28, 0.03), (0.72, 0.03), (0.66, 0.3), (0.34, 0.3)]), shade(colour, 1.1), round_by=0.08
    )
    canvas.shadow(dx=0.02, dy=0.02, blur=0.03, opacity=0.4)
    return canvas.sprite


def headphones(colour: Colour) -> Sprite:
    """A band over the head and two cups; the canvas spans from ear to ear."""
    canvas = Canvas(0.95)
    band = [(0.07, 0.62), (0.075, 0.36), (0.2, 0.13), (0.5, 0.035), (0.8, 0.13), (0.925, 0.36), (0.93, 0.62)]
    canvas.paint(canvas.stroke(band, 0.06), colour, round_by=0.035, gloss=0.3)
    for x in (0.075, 0.925):
        canvas.paint(canvas.box(x - 0.07, 0.50, 0.14, 0.36, radius=0.07), colour, round_by=0.06, gloss=0.3)
        canvas.paint(canvas.box(x - 0.035, 0.57, 0.07, 0.22, radius=0.035), shade(colour, 0.5), round_by=0.03)
    canvas.shadow(dy=0.015, blur=0.018, opacity=0.4)
    return canvas.sprite
