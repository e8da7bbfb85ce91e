"""The family of editors that was written after the third network was taught, and scored once, with it.

The first frozen family had been scored with the second network; what was learned from that might help on it. Here
are other operations again: few colours with dither, openings and closings, shifts of phase, heat that flows along
edges, equalised histograms, changed perspective, and softness that comes and goes in places. See protocol.md.
"""

from __future__ import annotations

import cv2
import numpy as np
from PIL import Image

from convergebench.images.frame import Pixels
from training.decay.damage import Random, Step, between, one_or_two, to_pixels


def last(random: Random) -> Step:
    """Few colours, openings, phases, heat, histograms, perspective or softness in places."""
    return one_or_two(random, [_few_colours, _opened, _phases, _heat, _equalised, _bent, _patchy])


def _few_colours(random: Random) -> Step:
    """A palette of the picture's own colours, with dither, then a little blur."""
    colours, sigma = int(random.choice([64, 128, 256])), float(random.uniform(0.35, 0.8))

    def part(pixels: Pixels, now: Random) -> Pixels:
        small = Image.fromarray(pixels).quantize(colours, dither=Image.Dither.FLOYDSTEINBERG)
        return np.asarray(cv2.GaussianBlur(np.asarray(small.convert("RGB"), np.uint8), (0, 0), sigma), np.uint8)

    return part


def _opened(random: Random) -> Step:
    """An opening, a closing or the mean of both, blended in."""
    kind, share = int(random.integers(3)), between(random, 0.1, 0.6)
    element = cv2.getStructuringElement(int(random.choice([cv2.MORPH_RECT, cv2.MORPH_ELLIPSE])), (3, 3))

    def part(pixels: Pixels, now: Random) -> Pixels:
        opened = cv2.morphologyEx(pixels, cv2.MORPH_OPEN, element).astype(np.float32)
        closed = cv2.morphologyEx(pixels, cv2.MORPH_CLOSE, element).astype(np.float32)
        found = (opened, closed, (opened + closed) / 2)[kind]
        return to_pixels(pixels + share * (found - pixels))

    return part


def _phases(random: Random) -> Step:
    """Waves of the picture move a little against each other, fine ones more; their strengths stay."""
    strength, power = between(random, 0.02, 0.2), float(random.uniform(0.3, 1.5))

    def part(pixels: Pixels, now: Random) -> Pixels:
        height, width = pixels.shape[:2]
        rows, columns = np.fft.fftfreq(height)[:, None], np.fft.rfftfreq(width)[None, :]
        reach = strength * (2 * np.hypot(rows, columns)) ** power
        turn = np.exp(1j * reach * now.standard_normal(reach.shape))
        waves = np.fft.rfft2(pixels.astype(np.float64), axes=(0, 1)) * turn[..., None]
        return to_pixels(np.fft.irfft2(waves, s=(height, width), axes=(0, 1)))

    return part


def _heat(random: Random) -> Step:
    """Perona and Malik: colours flow where there is no edge."""
    rounds, edge, pace = int(random.integers(1, 5)), between(random, 3, 20), float(random.uniform(0.05, 0.2))

    def part(pixels: Pixels, now: Random) -> Pixels:
        values = pixels.astype(np.float32)
        for _ in range(rounds):
            change = np.zeros_like(values)
            for axis in (0, 1):
                for by in (-1, 1):
                    apart = np.roll(values, by, axis) - values
                    change += apart * np.exp(-np.square(apart / edge))
            values += pace * change
        return to_pixels(values)

    return part


def _equalised(random: Random) -> Step:
    """The histogram of brightness made even in places (CLAHE), blended in."""
    clip, cells, share = float(random.uniform(1.0, 3.0)), int(random.choice([2, 4, 8])), between(random, 0.03, 0.25)

    def part(pixels: Pixels, now: Random) -> Pixels:
        lab = np.asarray(cv2.cvtColor(pixels, cv2.COLOR_RGB2Lab), np.uint8)
        even = cv2.createCLAHE(clip, (cells, cells)).apply(np.ascontiguousarray(lab[..., 0]))
        lab[..., 0] = to_pixels(lab[..., 0] + share * (even.astype(np.float32) - lab[..., 0]))
        return np.asarray(cv2.cvtColor(lab, cv2.COLOR_Lab2RGB), np.uint8)

    return part


def _bent(random: Random) -> Step:
    """Seen from slightly elsewhere, and back: corners move by a fraction of a pixel to some pixels."""
    reach, way = between(random, 0.5, 4), int(random.choice([cv2.INTER_LINEAR, cv2.INTER_CUBIC]))

    def part(pixels: Pixels, now: Random) -> Pixels:
        height, width = pixels.shape[:2]
        corners = np.array([[0, 0], [width, 0], [width, height], [0, height]], np.float32)
        there = cv2.getPerspectiveTransform(corners, corners + now.uniform(-reach, reach, (4, 2)).astype(np.float32))
        done = pixels
        for matrix in (there, np.linalg.inv(there)):
            done = np.asarray(
                cv2.warpPerspective(done, matrix, (width, height), flags=way, borderMode=cv2.BORDER_REFLECT_101),
                np.uint8,
            )
        return done

    return part


def _patchy(random: Random) -> Step:
    """Soft in some places and crisp in others, elsewhere at every step."""
    sigma, amount, size = float(random.uniform(0.5, 1.5)), between(random, 0.1, 0.6), int(random.integers(3, 8))

    def part(pixels: Pixels, now: Random) -> Pixels:
        height, width = pixels.shape[:2]
        grid = now.uniform(-1, 1, (size, size)).astype(np.float32)
        where = amount * np.asarray(cv2.resize(grid, (width, height), interpolation=cv2.INTER_CUBIC), np.float32)
        values = pixels.astype(np.float32)
        return to_pixels(values + where[..., None] * (values - cv2.GaussianBlur(values, (0, 0), sigma)))

    return part
