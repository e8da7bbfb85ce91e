"""IL-NIQE written down plainly, in float64 and without haste, to hold the fast one against.

Direct convolutions instead of separable ones, boolean masks instead of sums, a bracketing search for the Weibull shape.
Like the fast one it takes differences of grey levels under 10⁻⁹ for the zero they are.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import ndimage, optimize, signal, special

from convergebench.images.frame import Pixels
from convergebench.weights import locate
from convergebench.weights.loading import matlab

Array = NDArray[np.float64]


def ilniqe(pixels: Pixels, *, rounded: bool, faintest: float) -> float:
    """Mean distance of 36 patches from natural ones."""
    image = resized(pixels, rounded)[:504, :504]
    opponent = np.stack(
        [
            image @ np.array([0.3, 0.04, -0.35]),
            image @ np.array([0.34, -0.6, 0.17]),
            image @ np.array([0.06, 0.63, 0.27]),
        ],
        axis=2,
    )
    features = []
    for scale in (1, 2):
        planes = maps(image, opponent, scale, faintest)
        features.append(np.array([patch_features(*(p[box] for p in planes)) for box in boxes(84 // scale)]))
        image, opponent = halved(image), halved(opponent)
    return distance(np.concatenate(features, axis=1))


def resized(pixels: Pixels, rounded: bool) -> Array:
    image = pixels.astype(np.float64)
    for axis in sorted((0, 1), key=lambda axis: -pixels.shape[axis]):
        length = pixels.shape[axis]
        scale = 524 / length
        shrink = min(1, scale)
        out = []
        for place in range(524):
            centre = (place + 0.5) / scale - 0.5
            near = np.arange(int(np.floor(centre - 2 / shrink)), int(np.ceil(centre + 2 / shrink)) + 1)
            x = np.abs(near - centre) * shrink
            inner, outer = 1.5 * x**3 - 2.5 * x**2 + 1, -0.5 * x**3 + 2.5 * x**2 - 4 * x + 2
            weights = inner * (x <= 1) + outer * ((x > 1) & (x <= 2))
            mirrored = [n % (2 * length) for n in near]
            mirrored = [n if n < length else 2 * length - 1 - n for n in mirrored]
            out.append(np.tensordot(weights / weights.sum(), np.take(image, mirrored, axis=axis), axes=(0, axis)))
        image = np.stack(out, axis=axis)
        if rounded:
            image = np.floor(image + 0.5).clip(0, 255)
    return image.clip(0, 255)


def maps(image: Array, opponent: Array, scale: int, faintest: float) -> tuple[Array, Array, Array, Array]:
    """Contrast, gradients (Weibull), colours and everything that is nearly Gaussian, channels last."""
    luminance = opponent[:, :, 2]
    x = np.arange(-2, 3)
    window = np.exp(-(x[:, None] ** 2 + x**2) / (2 * (5 / 6) ** 2))
    window /= window.sum()
    mean = ndimage.correlate(luminance, window, mode="nearest")
    deviation = np.sqrt(np.abs(ndimage.correlate(luminance**2, window, mode="nearest") - mean**2))
    contrast = settled((luminance - mean) / (deviation + 1))
    logs = np.log(image + 1e-5)
    red, green, blue = np.moveaxis(logs - logs.mean(axis=(0, 1)), 2, 0)
    colours = [(red + green + blue) / np.sqrt(3), (red + green - 2 * blue) / np.sqrt(6), (red - green) / np.sqrt(2)]
    sigma = 1.66 / scale**0.28
    reach = int(np.ceil(3 * sigma))
    x = np.arange(-reach, reach + 1)
    bell = np.exp(-(x[:, None] ** 2 + x**2) / (2 * sigma**2))
    kernels = (x * bell, x[:, None] * bell)
    answers: list[Array] = []
    for band in bands(len(luminance), scale):
        answer = np.fft.ifft2(np.fft.fft2(luminance) * band)
        answers += [answer.real, answer.imag]
    first = [settled(signal.convolve2d(o, k, mode="same")) for o in np.moveaxis(opponent, 2, 0) for k in kernels]
    then = [signal.fftconvolve(a, k, mode="same") for a in answers for k in kernels]
    slopes = first + then
    gradients = [np.sqrt(a**2 + b**2 + faintest**2) for a, b in zip(slopes[::2], slopes[1::2], strict=True)]
    return (
        contrast,
        np.stack(gradients, axis=2),
        np.stack(colours, axis=2),
        np.stack([*first, *answers, *then], axis=2),
    )


def bands(side: int, scale: int) -> list[Array]:
    frequency = np.fft.fftfreq(side)
    radius = np.sqrt(frequency[:, None] ** 2 + frequency**2)
    angle = np.arctan2(-frequency[:, None], frequency)
    found = []
    for octave in range(3):
        centre = 1 / (2.4 / scale**0.87 * 1.31**octave)
        with np.errstate(divide="ignore"):
            radial = np.exp(-(np.log(radius / centre) ** 2) / (2 * np.log(0.55) ** 2))
        for turn in range(4):
            away = np.abs((angle - turn * np.pi / 4 + np.pi) % (2 * np.pi) - np.pi)
            found.append(radial * np.exp(-(away**2) / (2 * (np.pi / 4 / 1.1) ** 2)))
    return found


def halved(image: Array) -> Array:
    x = np.arange(6) - 2.5
    window = np.exp(-(x[:, None] ** 2 + x**2) / (2 * 0.9**2))[:, :, None]
    padded = np.pad(image, ((2, 3), (2, 3), (0, 0)), mode="edge")
    return np.asarray(signal.convolve(padded, window / window.sum(), mode="valid", method="direct")[::2, ::2])


def boxes(side: int) -> list[tuple[slice, slice]]:
    starts = [side * i for i in range(6)]
    return [(slice(y, y + side), slice(x, x + side)) for x in starts for y in starts]


def patch_features(contrast: Array, gradients: Array, colours: Array, nearly_gaussian: Array) -> list[float]:
    shape, left, right = asymmetric(contrast)
    found = [shape, (left + right) / 2]
    for shift in ((0, 1), (1, 0), (1, 1), (1, -1)):
        shape, left, right = asymmetric(contrast * np.roll(contrast, shift, axis=(0, 1)))
        found += [shape, (right - left) * special.gamma(2 / shape) / special.gamma(1 / shape), left, right]
    weibulls = [weibull(plane.ravel()) for plane in np.moveaxis(gradients, 2, 0)]
    found += [number for fit in weibulls[:3] for number in fit]
    found += [number for plane in np.moveaxis(colours, 2, 0) for number in (plane.mean(), plane.var(ddof=1))]
    for plane in np.moveaxis(nearly_gaussian, 2, 0):
        shape, left, right = asymmetric(plane)
        found += [shape, (left + right) / 2]
    return found + [number for fit in weibulls[3:] for number in fit]


SHAPES = np.arange(200, 10001) / 1000
RATIOS = special.gamma(2 / SHAPES) ** 2 / (special.gamma(1 / SHAPES) * special.gamma(3 / SHAPES))


def asymmetric(values: Array) -> tuple[float, float, float]:
    if not (values < 0).any() or not (values > 0).any():
        return 0.2, np.nan, np.nan
    left, right = (np.sqrt(np.mean(values[side] ** 2)) for side in (values < 0, values > 0))
    skew = left / right
    ratio = np.mean(np.abs(values)) ** 2 / np.mean(values**2)
    ratio *= (skew**3 + 1) * (skew + 1) / (skew**2 + 1) ** 2
    shape = SHAPES[np.argmin(np.abs(RATIOS - ratio))]
    scale = np.sqrt(special.gamma(1 / shape) / special.gamma(3 / shape))
    return float(shape), float(left * scale), float(right * scale)


def weibull(values: Array) -> tuple[float, float]:
    if values.min() == values.max():
        return float(values[0]), np.inf
    logs = np.log(values)
    logs -= (top := logs.max())

    def slope(shape: float) -> float:
        powers = np.exp(shape * logs)
        return float((powers @ logs) / powers.sum() - logs.mean() - 1 / shape)

    shape = optimize.brentq(slope, 1e-3, 1e4, xtol=1e-10)
    return float(np.exp(top) * np.mean(np.exp(shape * logs)) ** (1 / shape)), float(shape)


def distance(features: Array) -> float:
    mean, covariance, centre, components = matlab(locate("ilniqe-template"))["templateModel"][0]
    features = np.where(np.isinf(features), 10000, features)
    found = (features - centre.T) @ components
    whole = found[~np.isnan(found).any(axis=1)]
    found = np.where(np.isnan(found), whole.mean(axis=0), found) - mean
    inverse = np.linalg.pinv((covariance + np.cov(whole, rowvar=False)) / 2)
    return float(np.mean([np.sqrt(row @ inverse @ row) for row in found]))


def settled(values: Array) -> Array:
    return np.where(np.abs(values) < 1e-9, 0, values)
