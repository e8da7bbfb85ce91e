"""Digital zoom: few pixels of a sensor, smoothed, compressed, enlarged to the whole picture and sharpened.

The framing stays: the picture is reduced instead of cut, so that it can be compared with the clean one.
"""

from __future__ import annotations

import cv2
import numpy as np

from convergebench.degradations._compression import jpeg, quality
from convergebench.degradations._linear_light import display, levels, to_light, to_pixels
from convergebench.degradations._noise import exposed
from convergebench.degradations._picture_size import reduced_size, reduction, resized
from convergebench.degradations._psf import softened
from convergebench.degradations.base import degradation
from convergebench.images.frame import Pixels

ZOOM = (3.0, 5.0)
"""How many times the picture is enlarged at severity 1, for a picture of 1024 pixels."""
QUALITY = (60.0, 85.0)
SHARPENING = (0.6, 1.4)


@degradation("digital-zoom", title="Digital Zoom", family="Low-Quality Imaging")
def digital_zoom(pixels: Pixels, draw: np.random.Generator, severity: float) -> Pixels:
    """A small part of a sensor enlarged: few pixels, noise, compression, interpolation and sharpening halos."""
    plan, noise = draw.spawn(2)
    zoom = reduction(plan.uniform(*ZOOM), severity, pixels)
    usual, halo = plan.uniform(*QUALITY), plan.uniform(*SHARPENING)
    method = cv2.INTER_CUBIC if plan.uniform() < 0.6 else cv2.INTER_LINEAR
    height, width = pixels.shape[:2]
    few = resized(to_light(pixels), reduced_size(pixels, zoom))
    noisy = to_pixels(exposed(softened(few, 0.45 * severity), noise, shot=6e-4 * severity, read=3e-3 * severity))
    smooth = np.asarray(cv2.bilateralFilter(noisy, 5, 18 * min(severity, 2), 1.5), np.uint8)
    stored = jpeg(smooth, quality(usual, severity))
    large = resized(display(stored), (width, height), method)
    return levels(large + np.float32(halo * min(severity, 1)) * (large - softened(large, 0.55 * zoom)))
