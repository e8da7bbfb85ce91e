"""BRISQUE: how far the statistics of an image are from those of natural scenes, on a scale learned from people.

Mittal, Moorthy, Bovik: No-reference image quality assessment in the spatial domain (2012). At full and at half size,
luma is divided by its local contrast; the shapes of what is left, and of the products of neighbours in four directions,
are 36 numbers, which a support vector machine turns into a score. It was trained on the difference mean opinion scores
of the LIVE database (JPEG, JPEG 2000, noise, blur, fading). Lower is better: about 0 for a clean photograph, 100 for a
ruined one. Nothing holds the value there, clean images go below 0 and odd ones above 100, and it is never clipped.

This follows the authors' MATLAB release to the letter: luma of rgb2gray rounded to 8 bits, a border of zeros,
neighbours that wrap around the image's edges, antialiased bicubic halving, shapes from a grid of 0.001, and features
that pass through text with six digits on their way to the machine. One thing is ours: even areas are exactly zero and
belong to neither side of a distribution, where the release lets rounding errors decide. On TID2013's calibration images
I03, I04, I06, I08 and I19 this value is 0.002, 0.0001, 0.002, 0.55 and 2.2 away from MATLAB's, pyiqa's 0.003, 0.001,
0.08, 0.22 and 5.5; I04 has no even area, I19 is one third even. Strong JPEG makes even areas everywhere: at quality 20,
with up to 70 % of an image even, it is up to 5.0 away from pyiqa's on ten photographs; where under 1 % is even, 0.01.
MATLAB's built-in `brisque` has another model and gives other numbers.

Traps: it knows the five kinds of damage it was trained on. On drawings, screens and large even areas it says little,
and whatever is like nothing in training scores about 153.59, the machine's offset. A frame or letterboxing counts as
content. It needs 14 pixels a side, and an image that is one even grey has no value. Code: Apache-2.0. Weights
`brisque-live`: the release's own model, free for any purpose with the notice of the Laboratory for Image and Video
Engineering, The University of Texas at Austin.
"""

from __future__ import annotations

from functools import cache
from math import inf
from pathlib import Path
from typing import NamedTuple

import cv2
import numpy as np

from convergebench.errors import Prerequisite, Unmeasurable
from convergebench.images.frame import Pixels, Plane
from convergebench.metrics.base import Item, metric
from convergebench.metrics.no_reference._natural_scenes import (
    Numbers,
    asymmetric_shape,
    centre,
    coefficients,
    halved,
    moments_of_all,
    spread,
    symmetric_shape,
    textured_luma,
)
from convergebench.weights import locate

SMALLEST = 14
"""The window of 7 pixels still fits into half the size."""

# The smallest and the largest value of each feature in training; the model expects them mapped to −1…1.
_LOWEST = np.array(
    [
        [0.338, 0.017204, 0.236, -0.123884, 0.000155, 0.001122, 0.244, -0.123586, 0.000152, 0.000975, 0.249, -0.135687],
        [0.000174, 0.000913, 0.258, -0.143408, 0.000179, 0.000888, 0.471, 0.012809, 0.218, -0.094876, 1.5e-5, 0.001272],
        [0.222, -0.115772, 1.6e-5, 0.001374, 0.227, -0.117188, 3e-5, 0.001122, 0.228, -0.12243, 2.8e-5, 0.001118],
    ]
).ravel()
_HIGHEST = np.array(
    [
        [10, 0.806612, 1.642, 0.20293, 0.712298, 0.470257, 1.641, 0.179083, 0.710456, 0.470984, 1.555, 0.100858],
        [0.684173, 0.534174, 1.561, 0.100486, 0.685696, 0.536508, 3.264, 0.703171, 1.046, 0.187459, 0.442057, 0.40803],
        [1.042, 0.162604, 0.444362, 0.40243, 0.996, 0.098323, 0.531903, 0.369589, 0.99, 0.098658, 0.530092, 0.370399],
    ]
).ravel()


class SupportVectorModel(NamedTuple):
    """A support vector regression with a radial kernel."""

    vectors: Numbers
    weights: Numbers
    gamma: float
    offset: float

    def predict(self, features: Numbers) -> float:
        """Its value for one set of features."""
        distances = np.square(self.vectors - features).sum(axis=1)
        return float(self.weights @ np.exp(-self.gamma * distances)) - self.offset


@metric(
    "brisque",
    kind="no-reference",
    better="lower",
    range=(-inf, inf),
    typical=(0.0, 150.0),
    roles=("source", "return"),
    aligned=False,
    paper="Mittal, Moorthy, Bovik 2012, doi:10.1109/TIP.2012.2214050",
    licence="Apache-2.0 (own code); model: LIVE permission notice",
    weights=("brisque-live",),
)
def brisque(item: Item) -> float:
    """Distance of spatial statistics from natural ones, learned from opinion scores on LIVE."""
    luma = textured_luma(item.subject, smallest=SMALLEST)
    features = np.concatenate([_features(luma), _features(halved(luma))])
    if np.isnan(features).any():
        raise Unmeasurable("featureless", "the texture is too regular to fit a distribution to")
    # the release writes features with %f and their scaled values with %g into text files; so do we
    scaled = 2 * (features.round(6) - _LOWEST) / (_HIGHEST - _LOWEST) - 1
    return read_machine(locate("brisque-live")).predict(np.array([float(f"{value:.6g}") for value in scaled]))


def _features(plane: Pixels | Plane) -> Numbers:
    """The 18 numbers of one size."""
    own, *pairs = moments_of_all(coefficients(plane, cv2.BORDER_CONSTANT))
    features = [symmetric_shape(own), own.square]
    for pair in pairs:
        shape = asymmetric_shape(pair)
        mean = (pair.right - pair.left) * centre(shape) * spread(shape)
        features += [shape, mean, pair.left**2, pair.right**2]
    return np.concatenate(features)


@cache
def read_machine(path: Path) -> SupportVectorModel:
    """The model out of LIBSVM's text file."""
    try:
        return _read_machine(path)
    except (ValueError, LookupError, OverflowError) as error:
        raise _damaged(path) from error


def _damaged(path: Path) -> Prerequisite:
    return Prerequisite(f"{path} is not a complete BRISQUE model; fetch it again: cbench weights fetch brisque-live")


def _read_machine(path: Path) -> SupportVectorModel:
    head, _, body = path.read_text(encoding="ascii").partition("SV\n")
    facts = dict(line.split(maxsplit=1) for line in head.splitlines())
    lines = [line.split() for line in body.splitlines()]
    vectors = np.zeros((len(lines), len(_LOWEST)))
    for row, (_, *entries) in enumerate(lines):
        for entry in entries:
            place, _, value = entry.partition(":")
            vectors[row, int(place) - 1] = float(value)  # what is not written is 0
    if facts.get("kernel_type") != "rbf" or len(lines) != int(facts.get("total_sv", 0)):
        raise _damaged(path)
    weights = np.array([float(first) for first, *_ in lines])
    return SupportVectorModel(vectors, weights, float(facts["gamma"]), float(facts["rho"]))
