"""A family of editors made of operations that no other one has; first scored at the very end of the second test.

Textures are painted anew from patches of the picture itself, holes are filled from their rims, noise is removed by
non-local means, colours are matched to another picture, filters of OpenCV's photo module paint and lift detail. Nothing
here may be looked at while the metric is being made: see protocol.md.
"""

from __future__ import annotations

import cv2
import numpy as np

from convergebench.images.frame import Pixels
from training.decay.damage import Random, Step, between, one_or_two, to_pixels


def frozen(random: Random) -> Step:
    """Patches, holes, non-local means, painting, colours or detail."""
    return one_or_two(random, [_patches, _holes, _non_local, _painted, _matched, _detail])


def _patches(random: Random) -> Step:
    """Every patch becomes the most similar one among a random few from elsewhere, with overlaps averaged."""
    side, tries, share = int(random.choice([5, 7, 9])), int(random.choice([24, 48])), float(random.uniform(0.3, 0.8))

    def part(pixels: Pixels, now: Random) -> Pixels:
        height, width = pixels.shape[:2]
        values = pixels.astype(np.float32)
        rows, columns = np.arange(0, height - side, side // 2 + 1), np.arange(0, width - side, side // 2 + 1)
        total, count = np.zeros_like(values), np.zeros((height, width, 1), np.float32)
        window = np.lib.stride_tricks.sliding_window_view(values, (side, side), axis=(0, 1))
        for top in rows:
            wanted = window[top, columns].reshape(len(columns), -1)
            ys = np.clip(top + now.integers(-40, 41, (len(columns), tries)), 0, height - side)
            xs = np.clip(columns[:, None] + now.integers(-40, 41, (len(columns), tries)), 0, width - side)
            found = window[ys, xs].reshape(len(columns), tries, -1)
            apart = np.square(found - wanted[:, None]).mean(axis=2)
            apart[(ys == top) & (xs == columns[:, None])] = np.inf
            best = apart.argmin(axis=1)
            for place, left in enumerate(columns):
                patch = window[ys[place, best[place]], xs[place, best[place]]].transpose(1, 2, 0)
                total[top : top + side, left : left + side] += patch
                count[top : top + side, left : left + side] += 1
        painted = np.where(count > 0, total / np.maximum(count, 1), values)
        return to_pixels(values + share * (painted - values))

    return part


def _holes(random: Random) -> Step:
    """Small random holes are filled from their rims."""
    share, size = between(random, 0.01, 0.08), int(random.integers(3, 9))
    way = int(random.choice([cv2.INPAINT_TELEA, cv2.INPAINT_NS]))

    def part(pixels: Pixels, now: Random) -> Pixels:
        height, width = pixels.shape[:2]
        mask = np.zeros((height, width), np.uint8)
        for _ in range(max(1, round(share * height * width / size**2))):
            top, left = int(now.integers(0, height - size)), int(now.integers(0, width - size))
            mask[top : top + size, left : left + size] = 255
        return np.asarray(cv2.inpaint(pixels, mask, 3, way), np.uint8)

    return part


def _non_local(random: Random) -> Step:
    """Non-local means, then an unsharp mask."""
    strength, amount = between(random, 1.5, 8), between(random, 0.1, 0.7)
    radius = float(random.uniform(0.7, 2.0))

    def part(pixels: Pixels, now: Random) -> Pixels:
        smooth = np.asarray(cv2.fastNlMeansDenoisingColored(pixels, None, strength, strength, 5, 11), np.float32)
        return to_pixels(smooth + amount * (smooth - cv2.GaussianBlur(smooth, (0, 0), radius)))

    return part


def _painted(random: Random) -> Step:
    """The edge-preserving filters of OpenCV's photo module, at small strength."""
    size, tone, share = float(random.uniform(4, 20)), float(random.uniform(0.05, 0.25)), float(random.uniform(0.3, 0.9))
    way = int(random.choice([1, 2]))

    def part(pixels: Pixels, now: Random) -> Pixels:
        smooth = cv2.edgePreservingFilter(pixels, flags=way, sigma_s=size, sigma_r=tone)
        return to_pixels(pixels + share * (np.asarray(smooth, np.float32) - pixels))

    return part


def _matched(random: Random) -> Step:
    """Colours drawn towards fixed means and spreads in Lab, as a colour transfer does; and a little blur in colour."""
    centre, spread = random.uniform((90, 118, 118), (170, 140, 140)), random.uniform((40, 8, 8), (75, 28, 28))
    share, sigma = between(random, 0.02, 0.15), float(random.uniform(0.5, 2.0))

    def part(pixels: Pixels, now: Random) -> Pixels:
        lab = np.asarray(cv2.cvtColor(pixels, cv2.COLOR_RGB2Lab), np.float32)
        mean, scale = lab.mean(axis=(0, 1)), lab.std(axis=(0, 1)) + 1
        moved = lab + share * ((lab - mean) / scale * spread + centre - lab)
        moved[..., 1:] = cv2.GaussianBlur(moved[..., 1:], (0, 0), sigma)
        return np.asarray(cv2.cvtColor(to_pixels(moved), cv2.COLOR_Lab2RGB), np.uint8)

    return part


def _detail(random: Random) -> Step:
    """OpenCV's detail enhancement, blended in."""
    size, tone, share = float(random.uniform(4, 14)), float(random.uniform(0.05, 0.2)), between(random, 0.05, 0.4)

    def part(pixels: Pixels, now: Random) -> Pixels:
        lifted = np.asarray(cv2.detailEnhance(pixels, sigma_s=size, sigma_r=tone), np.float32)
        return to_pixels(pixels + share * (lifted - pixels))

    return part
