"""The mixture that learned restorers are trained on: blur, fewer pixels, noise and compression, each of them twice.

After the second-order model of Real-ESRGAN (Wang et al. 2021), with milder ranges: the picture must stay recognisable,
since results are compared with the clean one.
"""

from __future__ import annotations

import math

import cv2
import numpy as np

from convergebench.degradations._compression import jpeg, quality
from convergebench.degradations._linear_light import display, levels, to_light, to_pixels
from convergebench.degradations._noise import white
from convergebench.degradations._picture_size import reduced_size, reduction, resized, scale_of
from convergebench.degradations._psf import blurred, gaussian
from convergebench.degradations.base import degradation
from convergebench.images.frame import Pixels, Plane

BLUR = ((1.0, 4.0), (0.3, 1.2))
"""Width of the Gaussian of each pass at severity 1, for a picture of 1024 pixels, and in pixels of the reduced one."""
REDUCTION = ((1.3, 2.4), (1.2, 2.0))
NOISE = ((3.0, 12.0), (2.0, 8.0))
"""Width of the noise in levels of 255."""
QUALITY = ((55.0, 90.0), (45.0, 85.0))
_METHODS = (cv2.INTER_AREA, cv2.INTER_LINEAR, cv2.INTER_CUBIC)


@degradation("mixed", title="Mixed", family="Mixed")
def mixed(pixels: Pixels, draw: np.random.Generator, severity: float) -> Pixels:
    """Blur, fewer pixels, noise and JPEG, twice over, then enlarged again: what real-world restorers are trained on."""
    plan, *noises = draw.spawn(3)
    height, width = pixels.shape[:2]
    picture, size = pixels, scale_of(pixels)
    for turn, noise in enumerate(noises):
        sigma = plan.uniform(*BLUR[turn]) * severity * (size if turn == 0 else 1)
        across = sigma * plan.uniform(0.5, 1)
        picture = to_pixels(blurred(to_light(picture), gaussian(sigma, across, plan.uniform(0, math.pi))))
        smaller = reduction(plan.uniform(*REDUCTION[turn]), severity, pixels)
        method = _METHODS[plan.integers(len(_METHODS))]
        values = resized(display(picture), reduced_size(picture, smaller), method)
        picture = levels(_noisy(values, plan, noise, width=plan.uniform(*NOISE[turn]) * severity / 255))
        picture = jpeg(picture, quality(plan.uniform(*QUALITY[turn]), severity))
    return levels(resized(display(picture), (width, height), cv2.INTER_CUBIC))


def _noisy(values: Plane, plan: np.random.Generator, draw: np.random.Generator, *, width: float) -> Plane:
    """Noise that is even or grows with the light, in colour or in grey."""
    grows, grey = plan.uniform() < 0.5, plan.uniform() < 0.4
    shape = (*values.shape[:2], 1) if grey else values.shape
    spread = np.float32(width) * (np.sqrt(np.clip(values, 0.02, 1) / np.float32(0.4)) if grows else np.float32(1))
    return np.asarray(values + spread * white(shape, draw), np.float32)
