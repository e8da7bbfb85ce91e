"""Jewellery and watches."""

from __future__ import annotations

import math

from convergebench.editors.simulated.objects.canvas import Canvas, Colour, Sprite, shade

GOLD: Colour = (214, 170, 70)


def earrings(colour: Colour) -> Sprite:
    """One drop at each side; the canvas spans from ear to ear."""
    canvas = Canvas(0.30)
    for x in (0.045, 0.955):
        canvas.paint(canvas.ellipse(x, 0.03, 0.018, 0.018), colour, round_by=0.016, gloss=0.9)
        canvas.paint(canvas.stroke([(x, 0.045), (x, 0.10)], 0.008), shade(colour, 0.8), round_by=0.005)
        drop = [(x, 0.09), (x + 0.026, 0.15), (x + 0.034, 0.195), (x, 0.235), (x - 0.034, 0.195), (x - 0.026, 0.15)]
        canvas.paint(canvas.polygon(drop, smooth=True), colour, round_by=0.032, gloss=1.0)
        canvas.paint(canvas.ellipse(x, 0.19, 0.016, 0.02), (120, 30, 45), round_by=0.014, gloss=1.0)
    canvas.shadow(dx=0.008, dy=0.012, blur=0.01, opacity=0.45)
    return canvas.sprite


def necklace(colour: Colour) -> Sprite:
    """A string of beads with a pendant."""
    canvas = Canvas(0.72)
    count = 31
    for bead in range(count):
        across = bead / (count - 1) * 2 - 1
        x, y = 0.5 + 0.45 * across, 0.06 + 0.42 * (1 - abs(across) ** 2.2)
        canvas.paint(canvas.ellipse(x, y, 0.0175, 0.0175), colour, round_by=0.017, gloss=0.9)
    drop = [(0.5, 0.485), (0.545, 0.56), (0.55, 0.61), (0.5, 0.66), (0.45, 0.61), (0.455, 0.56)]
    canvas.paint(canvas.polygon(drop, smooth=True), colour, round_by=0.05, gloss=1.0)
    canvas.paint(canvas.ellipse(0.5, 0.595, 0.027, 0.033), (30, 70, 150), round_by=0.025, gloss=1.0)
    canvas.shadow(dx=0.006, dy=0.014, blur=0.01, opacity=0.5)
    return canvas.sprite


def watch(colour: Colour) -> Sprite:
    """A wristwatch lying across the wrist: strap left and right, round dial."""
    canvas = Canvas(0.56)
    canvas.paint(canvas.box(0.01, 0.145, 0.98, 0.27, radius=0.05), colour, round_by=0.10, grain=0.03)
    for y in (0.175, 0.385):
        canvas.paint(canvas.stroke([(0.04, y), (0.96, y)], 0.006, smooth=False), shade(colour, 1.8), opacity=0.5)
    canvas.paint(canvas.box(0.77, 0.25, 0.05, 0.06, radius=0.02), (190, 190, 196), round_by=0.02, gloss=0.6)
    canvas.paint(canvas.ellipse(0.5, 0.28, 0.265, 0.265), (196, 198, 204), round_by=0.045, gloss=0.8)
    canvas.paint(canvas.ellipse(0.5, 0.28, 0.215, 0.215), (246, 245, 238), fade=(0.9, 1.03))
    for tick in range(12):
        a = math.radians(30 * tick)
        ends = [(0.5 + r * math.sin(a), 0.28 - r * math.cos(a)) for r in (0.165, 0.195)]
        canvas.paint(canvas.stroke(ends, 0.012, smooth=False), (60, 60, 66))
    canvas.paint(canvas.stroke([(0.5, 0.28), (0.43, 0.19)], 0.02, smooth=False), (30, 30, 36))
    canvas.paint(canvas.stroke([(0.5, 0.28), (0.61, 0.15)], 0.014, smooth=False), (30, 30, 36))
    canvas.paint(canvas.ellipse(0.5, 0.28, 0.016, 0.016), (160, 40, 40))
    canvas.shadow(dx=0.01, dy=0.018, blur=0.016, opacity=0.5)
    return canvas.sprite
