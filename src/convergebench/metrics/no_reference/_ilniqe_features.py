"""From an image to IL-NIQE's numbers: 468 features of each of 36 patches, and their distance to natural images."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from convergebench.errors import Prerequisite, Unmeasurable
from convergebench.images.frame import Frame
from convergebench.metrics.no_reference import _ilniqe_fits as fits
from convergebench.metrics.no_reference import _ilniqe_maps as maps
from convergebench.weights import locate
from convergebench.weights.loading import matlab

Array = NDArray[np.float64]

SMALLEST = 32
"""Below this, one of the 36 patches would rest on fewer than 5×5 pixels of the image."""
LARGE = 10000.0
"""What stands for an infinite feature."""
NEIGHBOURS = ((0, 1), (1, 0), (1, 1), (1, -1))


def distance(frame: Frame, *, rounded: bool, faintest: float) -> float:
    """Mean distance of the patches of an image from the model of natural ones.

    `rounded`: whether resizing ends in whole grey levels; `faintest`: the least magnitude a gradient is given.
    """
    if min(frame.size) < SMALLEST:
        raise Unmeasurable("too-small", f"{frame.width}×{frame.height} has a side shorter than {SMALLEST} pixels")
    template = _template(locate("ilniqe-template"))
    return distance_from(template, features(maps.normalised(frame.pixels, rounded=rounded), faintest))


def features(image: Array, faintest: float) -> Array:
    """36 × 468: what 234 features each patch has at full and at half size."""
    opponent = maps.opponent(image)
    found = []
    for scale in (1, 2):
        found.append(_features(image, opponent, scale, faintest))
        if scale == 1:
            image, opponent = maps.halved(image), maps.halved(opponent)
    return np.concatenate(found, axis=1)


def _features(image: Array, opponent: Array, scale: int, faintest: float) -> Array:
    side = maps.PATCH // scale
    luminance = np.ascontiguousarray(opponent[:, :, 2])
    slopes = maps.slopes(opponent, scale, settle=True)
    gradients = [_gradient(slopes, side, faintest)]
    even, derived = [_pairs(slopes, side)], []
    for answer in maps.responses(luminance, scale):
        even.append(fits.tally(answer, side))
        slopes = maps.slopes(answer, scale)
        derived.append(_pairs(slopes, side))
        gradients.append(_gradient(slopes, side, faintest))
    bells = fits.gaussian(np.concatenate([*even, *derived], axis=2), side**2)
    colours = _patches(maps.log_colours(image), side)
    return np.concatenate(
        [
            _contrast(maps.contrast(luminance), side),
            gradients[0],
            _interleaved(colours.mean(axis=1), colours.var(axis=1, ddof=1)),
            _interleaved(bells.shape, (bells.left + bells.right) / 2),
            *gradients[1:],
        ],
        axis=1,
    )


def _contrast(plane: Array, side: int) -> Array:
    """18 numbers: the distribution of the contrast, and of its products with four neighbours inside the patch."""
    patches = _patches(plane[:, :, None], side).reshape(-1, side, side)
    products = [patches * np.roll(patches, shift, axis=(1, 2)) for shift in NEIGHBOURS]
    # patches side by side, so that each counts as one column of patches
    tallies = [fits.tally(np.hstack(list(each))[:, :, None], side)[:, :, 0] for each in (patches, *products)]
    fit = fits.gaussian(np.stack(tallies, axis=2), side**2)
    own = [fit.shape[:, 0], (fit.left[:, 0] + fit.right[:, 0]) / 2]
    for index in range(1, 5):
        own += [part[:, index] for part in (fit.shape, fit.mean, fit.left, fit.right)]
    return np.stack(own, axis=1)


def _pairs(slopes: tuple[Array, Array], side: int) -> Array:
    """Sums for the derivatives: across and down of the first channel, then of the next."""
    across, down = (fits.tally(part, side) for part in slopes)
    return np.stack([across, down], axis=3).reshape(*across.shape[:2], -1)


def _gradient(slopes: tuple[Array, Array], side: int, faintest: float) -> Array:
    across, down = slopes
    fit = fits.weibull(across**2 + down**2 + faintest**2, side)
    return _interleaved(fit.scale, fit.shape)


def _patches(planes: Array, side: int) -> Array:
    rows, columns, channels = planes.shape[0] // side, planes.shape[1] // side, planes.shape[2]
    split = planes.reshape(rows, side, columns, side, channels)
    return split.transpose(2, 0, 1, 3, 4).reshape(rows * columns, side * side, channels)


def _interleaved(first: Array, second: Array) -> Array:
    return np.stack([first, second], axis=2).reshape(len(first), -1)


class Template(NamedTuple):
    """What natural images are like. In these axes half the covariance of their features is the unit matrix."""

    centre: Array
    axes: Array
    mean: Array


def distance_from(template: Template, found: Array) -> float:
    """Mean over patches of the Mahalanobis distance between a patch and natural images.

    Its covariance is the mean of the natural one and of the image's own. The latter spans no more directions than there
    are patches: along those the distance is shortened, across them it is the plain one.
    """
    found = np.where(np.isinf(found), LARGE, found)
    # a patch with a feature that has no value has none in any component; the others' mean stands for it
    whole = ~np.isnan(found).any(axis=1)
    if not whole.any():
        raise Unmeasurable("featureless", "no patch has texture and colour to describe")
    points = (found[whole] - template.centre) @ template.axes - template.mean
    middle = points.mean(axis=0)
    _, sizes, directions = np.linalg.svd((points - middle) / np.sqrt(2 * max(1, len(points) - 1)), full_matrices=False)
    points = np.vstack([points, np.tile(middle, (len(found) - len(points), 1))])
    along = points @ directions.T
    across = points - along @ directions
    return float(np.sqrt((across**2).sum(axis=1) + (along**2 / (1 + sizes**2)).sum(axis=1)).mean())


@lru_cache(maxsize=2)
def _template(path: Path) -> Template:
    content = matlab(path).get("templateModel")
    if content is None or content.size != 4:
        raise Prerequisite(f"{path} is not IL-NIQE's template; fetch it again: cbench weights fetch ilniqe-template")
    mean, covariance, centre, components = (np.asarray(part, np.float64) for part in content.ravel())
    variances, vectors = np.linalg.eigh(covariance / 2)
    turn = vectors / np.sqrt(variances)
    return Template(centre.ravel(), components @ turn, mean.ravel() @ turn)
