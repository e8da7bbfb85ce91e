"""Hair on a face: beards and moustaches, drawn hair by hair."""

from __future__ import annotations

import cv2
import numpy as np

from convergebench.editors.simulated.objects.canvas import Canvas, Colour, Shape, Sprite


def beard(colour: Colour) -> Sprite:
    """A full beard with moustache; cheeks at the top, chin below, an opening for the mouth."""
    canvas = Canvas(0.92)
    outline = [
        (0.015, 0.02),
        (0.05, 0.20),
        (0.13, 0.30),
        (0.27, 0.285),
        (0.37, 0.20),
        (0.5, 0.175),
        (0.63, 0.20),
        (0.73, 0.285),
        (0.87, 0.30),
        (0.95, 0.20),
        (0.985, 0.02),
        (0.975, 0.38),
        (0.90, 0.62),
        (0.74, 0.82),
        (0.5, 0.885),
        (0.26, 0.82),
        (0.10, 0.62),
        (0.025, 0.38),
    ]
    mouth = canvas.polygon(
        [
            (0.33, 0.335),
            (0.42, 0.305),
            (0.5, 0.318),
            (0.58, 0.305),
            (0.67, 0.335),
            (0.585, 0.40),
            (0.5, 0.415),
            (0.415, 0.40),
        ],
        smooth=True,
    )
    _hair(canvas, canvas.polygon(outline, smooth=True) * (1 - mouth), colour, strands=2600)
    canvas.shadow(dy=0.012, blur=0.012, opacity=0.25)
    return canvas.sprite


def moustache(colour: Colour) -> Sprite:
    """Two wings under the nose."""
    canvas = Canvas(0.36)
    outline = [
        (0.5, 0.075),
        (0.64, 0.045),
        (0.80, 0.12),
        (0.97, 0.27),
        (0.93, 0.315),
        (0.76, 0.29),
        (0.60, 0.245),
        (0.5, 0.20),
        (0.40, 0.245),
        (0.24, 0.29),
        (0.07, 0.315),
        (0.03, 0.27),
        (0.20, 0.12),
        (0.36, 0.045),
    ]
    _hair(canvas, canvas.polygon(outline, smooth=True), colour, strands=1100)
    canvas.shadow(dy=0.02, blur=0.018, opacity=0.3)
    return canvas.sprite


def _hair(canvas: Canvas, shape: Shape, colour: Colour, *, strands: int) -> None:
    """Fill a shape with strands that grow outwards and down, darker below, soft at the edge."""
    rng = np.random.default_rng(11)
    soft = np.asarray(cv2.GaussianBlur(shape, (0, 0), canvas.width * 0.008), np.float32)
    canvas.paint(soft, colour, round_by=0.12, opacity=0.88)
    rows, columns = np.nonzero(shape > 0.6)
    for pick in rng.integers(0, rows.size, strands):
        x, y = columns[pick], rows[pick]
        lean = (x / canvas.width - 0.5) * 0.9 + rng.normal(0, 0.22)
        length = canvas.width * rng.uniform(0.025, 0.06)
        end = (int(x + lean * length), int(y + length))
        tone = rng.uniform(0.55, 1.5)
        red, green, blue = (float(min(255.0, part * tone)) for part in colour)
        # Straight into the sprite: thousands of masks would take seconds.
        cv2.line(canvas.sprite, (int(x), int(y)), end, (red, green, blue, 0.97), 1, cv2.LINE_8)
