"""Damages that mimic a learned editor: a picture goes through a coarse code and is painted anew at every step.

Each maker mixes parts that real editors were seen to have: a code on a grid of blocks that drops or boosts some
frequencies, a drift of colour, contrast and saturation, sharpening against smoothing, grain and lattices of the
decoder's own, and outlines that wander.
"""

from __future__ import annotations

from collections.abc import Callable

import cv2
import numpy as np
from scipy.fft import dctn, idctn

from convergebench.images.frame import Pixels
from training.decay.damage import Random, Step, Values, between, to_pixels

Part = Callable[[Values, Random], Values]
_TO_CODE = np.array([[0.299, 0.587, 0.114], [-0.168736, -0.331264, 0.5], [0.5, -0.418688, -0.081312]], np.float32)
_FROM_CODE = np.linalg.inv(_TO_CODE).astype(np.float32)


def mimic(random: Random) -> Step:
    """Two to five parts, one after another, at every step the same; the picture is 8 bits in between."""
    makers = [_code, _tone, _focus, _grain, _lattice, _smooth, _wander, _local_contrast, _filter, _levels]
    weights = np.array([3, 2, 2, 2, 1.5, 1.5, 1, 1, 2, 0.5])
    chosen = random.choice(len(makers), size=int(random.integers(2, 6)), replace=False, p=weights / weights.sum())
    parts = [makers[number](random) for number in sorted(chosen)]

    def step(pixels: Pixels, now: Random) -> Pixels:
        values = pixels.astype(np.float32)
        for part in parts:
            values = part(values, now)
        return to_pixels(values)

    return step


def single(random: Random) -> Step:
    """One part alone, somewhat stronger on average because nothing else helps it."""
    makers = [_code, _tone, _focus, _grain, _lattice, _smooth, _wander, _local_contrast, _filter]
    part = makers[int(random.integers(len(makers)))](random)
    return lambda pixels, now: to_pixels(part(pixels.astype(np.float32), now))


def _code(random: Random) -> Part:
    """Blocks of 4, 8 or 16 pixels as cosine coefficients: some gains fall, some rise, static on the code."""
    side = int(random.choice([4, 8, 8, 16]))
    frequency = np.hypot(*np.meshgrid(np.arange(side), np.arange(side), indexing="ij")) / side
    cut, soft = random.uniform(0.25, 1.2), random.uniform(0.05, 0.3)
    boost = random.uniform(-0.03, 0.08)
    keep = 1 / (1 + np.exp((frequency - cut) / soft))
    gain = keep * (1 + boost * np.sin(np.pi * np.clip(frequency / cut, 0, 1)))
    gain = gain * (1 + random.uniform(0, 0.03) * random.normal(size=(side, side)))
    gain[0, 0] = 1
    gain = gain * random.choice([1.0, 1 / max(1e-6, float(gain[0, 1]))], p=[0.7, 0.3])
    static = random.choice([0.0, between(random, 0.2, 4)])
    coarse = random.choice([0.0, between(random, 1, 10)])
    colour = random.uniform(0.2, 1.0)

    def part(values: Values, now: Random) -> Values:
        height, width = values.shape[:2]
        planes = cv2.transform(values, _TO_CODE)
        planes = np.pad(planes, ((0, -height % side), (0, -width % side), (0, 0)), mode="edge")
        tall, broad = planes.shape[:2]
        blocks = planes.reshape(tall // side, side, broad // side, side, 3)
        code = dctn(blocks, axes=(1, 3), norm="ortho")
        shaped = np.stack(
            [gain, gain ** (1 / colour), gain ** (1 / colour)] if (gain >= 0).all() else [gain] * 3, axis=-1
        )
        code = code * shaped[None, :, None, :, :]
        if static:
            code = code + static * now.normal(size=code.shape)
        if coarse:
            code = np.rint(code / coarse) * coarse
        back = idctn(code, axes=(1, 3), norm="ortho").reshape(tall, broad, 3)[:height, :width]
        return np.asarray(cv2.transform(np.ascontiguousarray(back, np.float32), _FROM_CODE))

    return part


def _tone(random: Random) -> Part:
    """Contrast, saturation, brightness and a cast grow (or fade) by a little."""
    contrast, saturation = 1 + random.normal(0.012, 0.02), 1 + random.normal(0.02, 0.03)
    shift, gamma = random.normal(0, 0.7, 3), np.exp(random.normal(0, 0.015, 3))

    def part(values: Values, now: Random) -> Values:
        middle = 128 + (values - 128) * contrast
        grey = middle @ _TO_CODE[0]
        coloured = grey[..., None] + (middle - grey[..., None]) * saturation + shift
        return np.asarray(255 * np.power(np.clip(coloured, 0, 255) / 255, gamma), np.float32)

    return part


def _focus(random: Random) -> Part:
    """Sharpened and blurred at two radii, in either balance."""
    amount, radius = between(random, 0.05, 0.8), random.uniform(0.6, 2.5)
    blur = random.choice([0.0, random.uniform(0.25, 0.8)], p=[0.35, 0.65])

    def part(values: Values, now: Random) -> Values:
        if blur:
            values = np.asarray(cv2.GaussianBlur(values, (0, 0), float(blur)))
        return values + amount * (values - cv2.GaussianBlur(values, (0, 0), radius))

    return part


def _grain(random: Random) -> Part:
    """Static of a colour and a size, stronger where there is texture, or everywhere."""
    sigma, size = between(random, 0.4, 5), random.choice([0.0, random.uniform(0.5, 2.0)])
    grey, masked = random.uniform(0, 1), bool(random.random() < 0.4)

    def part(values: Values, now: Random) -> Values:
        static = now.normal(size=values.shape).astype(np.float32)
        static = grey * static[..., :1] + (1 - grey) * static
        if size:
            static = np.asarray(cv2.GaussianBlur(static, (0, 0), float(size)))
        static = static * (sigma / (float(static.std()) + 1e-6))
        if masked:
            spread = np.abs(values - cv2.GaussianBlur(values, (0, 0), 2.0)).mean(axis=2, keepdims=True)
            static = static * np.clip(spread / (float(spread.mean()) + 1e-3), 0, 3)
        return values + static

    return part


def _lattice(random: Random) -> Part:
    """The same small tile over and over, everywhere or in proportion to local contrast."""
    period = int(random.choice([2, 4, 8, 16]))
    tile = random.normal(size=(period, period, 1)) * np.ones(3) + 0.5 * random.normal(size=(period, period, 3))
    tile = (tile - tile.mean(axis=(0, 1))) * between(random, 0.15, 1.5)
    masked = bool(random.random() < 0.5)

    def part(values: Values, now: Random) -> Values:
        height, width = values.shape[:2]
        whole = np.tile(tile, (height // period + 1, width // period + 1, 1))[:height, :width].astype(np.float32)
        if masked:
            spread = np.abs(values - cv2.GaussianBlur(values, (0, 0), 3.0)).mean(axis=2, keepdims=True)
            whole = whole * np.clip(spread / (float(spread.mean()) + 1e-3), 0, 3)
        return values + whole

    return part


def _smooth(random: Random) -> Part:
    """Texture melts and outlines stay: bilateral or median."""
    strength, share = between(random, 5, 40), random.uniform(0.3, 1.0)
    median = bool(random.random() < 0.35)

    def part(values: Values, now: Random) -> Values:
        if median:
            smooth = np.asarray(cv2.medianBlur(to_pixels(values), 3), np.float32)
        else:
            smooth = np.asarray(cv2.bilateralFilter(np.ascontiguousarray(values, np.float32), 5, strength, 1.6))
        return values + share * (smooth - values)

    return part


def _wander(random: Random) -> Part:
    """A smooth random shift of up to a pixel, another one at each step."""
    most, wavelength = between(random, 0.1, 1.0), random.uniform(5, 40)

    def part(values: Values, now: Random) -> Values:
        height, width = values.shape[:2]
        grid = (max(3, round(height / wavelength)), max(3, round(width / wavelength)), 2)
        shift = cv2.resize(
            (most * now.normal(size=grid)).astype(np.float32), (width, height), interpolation=cv2.INTER_CUBIC
        )
        there_x = shift[..., 0] + np.arange(width, dtype=np.float32)
        there_y = shift[..., 1] + np.arange(height, dtype=np.float32)[:, None]
        return np.asarray(cv2.remap(values, there_x, there_y, cv2.INTER_CUBIC, borderMode=cv2.BORDER_REFLECT))

    return part


def _local_contrast(random: Random) -> Part:
    """Detail is lifted where it is weak: what an enhancer does."""
    radius, amount = random.uniform(2, 10), between(random, 0.02, 0.3)

    def part(values: Values, now: Random) -> Values:
        mean = cv2.GaussianBlur(values, (0, 0), radius)
        detail = values - mean
        spread = np.sqrt(cv2.GaussianBlur(detail * detail, (0, 0), radius)) + 4
        return np.asarray(values + amount * detail * (8 / spread), np.float32)

    return part


def _filter(random: Random) -> Part:
    """A random kernel near the identity, then a bend of small differences: they fade or they grow."""
    side = int(random.choice([3, 5, 7]))
    kernel = random.normal(size=(side, side)) * between(random, 0.002, 0.02)
    kernel -= kernel.mean()
    kernel[side // 2, side // 2] += 1
    bend, knee = random.uniform(-0.25, 0.25), between(random, 1, 8)

    def part(values: Values, now: Random) -> Values:
        done = np.asarray(cv2.filter2D(values, cv2.CV_32F, kernel, borderType=cv2.BORDER_REFLECT))
        mean = cv2.GaussianBlur(done, (0, 0), 1.2)
        detail = done - mean
        return np.asarray(mean + detail * (1 + bend * np.exp(-np.square(detail / knee))), np.float32)

    return part


def _levels(random: Random) -> Part:
    """Fewer levels than 256, in a range that is a little off."""
    count, off = int(random.integers(40, 160)), random.normal(0, 0.6)

    def part(values: Values, now: Random) -> Values:
        return np.asarray(np.rint(values / 255 * count + off * 0.1) * 255 / count, np.float32)

    return part
