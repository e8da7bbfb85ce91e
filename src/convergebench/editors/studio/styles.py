"""Paintings and drawings made from a photograph, by filters that follow its edges."""

from __future__ import annotations

from collections.abc import Callable

import cv2
import numpy as np
from numpy.typing import NDArray

from convergebench.editors.inpaint.lab import from_lab, to_lab
from convergebench.editors.simulated.pixels import Pixels
from convergebench.editors.studio.tones import cv2_pixels

Plane = NDArray[np.float32]


def styled(pixels: Pixels, variant: str, random: np.random.Generator) -> Pixels:
    """The picture in the style of that name."""
    return STYLES[variant](pixels, random)


def _oil(pixels: Pixels, random: np.random.Generator) -> Pixels:
    return _saturated(_embossed(kuwahara(pixels, _reach(pixels, 0.013)), random, 5.0), 1.3)


def _swirls(pixels: Pixels, random: np.random.Generator) -> Pixels:
    """Long strokes along the edges, which curl where there are none, in blue and yellow."""
    base = to_lab(kuwahara(pixels, _reach(pixels, 0.006)))
    base[..., 1] *= 1.15
    base[..., 2] = base[..., 2] * 1.3 + np.interp(base[..., 0], (20, 50, 85), (-22, -4, 20))
    return _stroked(from_lab(base), random, length=0.035, relief=15.0, curl=0.9)


def _impressionist(pixels: Pixels, random: np.random.Generator) -> Pixels:
    bright = _saturated(kuwahara(pixels, _reach(pixels, 0.008)), 1.45)
    return _stroked(bright, random, length=0.02, relief=13.0, curl=0.35)


def _watercolour(pixels: Pixels, random: np.random.Generator) -> Pixels:
    """Light washes on paper, darker at their edges."""
    flat = _quantised(kuwahara(pixels, _reach(pixels, 0.012)), 9)
    wash = cv2.GaussianBlur(flat, (0, 0), 1.3)
    lab = to_lab(cv2_pixels(wash))
    lab[..., 0] = 30 + 0.72 * lab[..., 0] - 16 * _outline(flat)
    lab[..., 1:] *= 1.15
    paper = cv2.GaussianBlur(random.standard_normal(lab.shape[:2]).astype(np.float32), (0, 0), 1.1)
    lab[..., 0] += 5 * paper
    return from_lab(lab)


def _pop_art(pixels: Pixels, random: np.random.Generator) -> Pixels:
    """Four flat, loud colours by lightness."""
    light = np.asarray(cv2.GaussianBlur(cv2.cvtColor(pixels, cv2.COLOR_RGB2GRAY), (0, 0), 1.2), np.float32)
    palette = np.array([(32, 22, 96), (228, 34, 108), (32, 190, 206), (252, 226, 60)], np.uint8)
    bounds = np.percentile(light, (25, 50, 75))
    return palette[np.digitize(light, bounds)]


def _dots(pixels: Pixels, random: np.random.Generator) -> Pixels:
    """Dots of pure colour, each a little off."""
    step = max(3, _reach(pixels, 0.011))
    soft = cv2.GaussianBlur(pixels, (0, 0), step / 2)
    canvas = cv2_pixels(np.clip(np.asarray(soft, np.float32) * 0.6 + 90, 0, 255))
    places = [(x, y) for y in range(0, pixels.shape[0], step) for x in range(0, pixels.shape[1], step)]
    for number in random.permutation(len(places)):
        x, y = places[number]
        colour = np.clip(_loud(soft[y, x]) + random.normal(0, 16, 3), 0, 255)
        shift = random.integers(-step // 2, step // 2 + 1, 2)
        cv2.circle(
            canvas, (int(x + shift[0]), int(y + shift[1])), max(1, round(0.62 * step)), colour.tolist(), -1, cv2.LINE_AA
        )
    return canvas


def _anime(pixels: Pixels, random: np.random.Generator) -> Pixels:
    """Smooth, bright, few shades, thin dark lines."""
    flat = _smooth(pixels, 3)
    lab = to_lab(_saturated(flat, 1.45))
    lab[..., 0] = np.clip(12 + 0.95 * _steps(lab[..., 0], 5), 0, 100)
    return _lined(from_lab(lab), pixels, 0.85)


def _cartoon(pixels: Pixels, random: np.random.Generator) -> Pixels:
    flat = _quantised(_saturated(_smooth(pixels, 4), 1.45), 7)
    return _lined(cv2_pixels(cv2.medianBlur(flat, 3)), pixels, 1.0)


def _comic(pixels: Pixels, random: np.random.Generator) -> Pixels:
    """Hard shades, screen dots in the half-tones, bold lines."""
    lab = to_lab(_saturated(_smooth(pixels, 3), 1.6))
    light = np.asarray(lab[..., 0], np.float32)
    lab[..., 0] = np.clip(_steps(light, 4) * 1.05, 0, 100)
    rows, columns = np.mgrid[: light.shape[0], : light.shape[1]].astype(np.float32)
    pitch = max(3.0, 0.011 * max(light.shape))
    screen = np.sin((columns + rows) * np.pi / pitch) * np.sin((columns - rows) * np.pi / pitch)
    dots = (screen > 0.25) & (light > 30) & (light < 62)
    lab[..., 0] = np.where(dots, lab[..., 0] - 15, lab[..., 0])
    return _lined(from_lab(lab), pixels, 1.3)


def _pencil(pixels: Pixels, random: np.random.Generator) -> Pixels:
    """Grey strokes on white: what is darker than its surroundings, with hatching in the shadows."""
    grey = np.asarray(cv2.cvtColor(pixels, cv2.COLOR_RGB2GRAY), np.float32)
    around = cv2.GaussianBlur(grey, (0, 0), max(2.0, 0.018 * max(grey.shape)))
    drawn = np.clip(grey / np.maximum(around, 12), 0, 1) ** 1.8
    lines = cv2.blur(random.standard_normal(grey.shape).astype(np.float32), (13, 1))
    strokes = cv2.warpAffine(lines, _turn(grey.shape, -40), grey.shape[::-1], borderMode=cv2.BORDER_REFLECT)
    hatched = np.clip(1 - np.clip((110 - grey) / 110, 0, 1) * (0.45 + 1.4 * strokes), 0.2, 1)
    return _grey(255 * np.clip(drawn * hatched, 0, 1))


def _charcoal(pixels: Pixels, random: np.random.Generator) -> Pixels:
    light = np.asarray(cv2.cvtColor(kuwahara(pixels, _reach(pixels, 0.008)), cv2.COLOR_RGB2GRAY), np.float32) / 255
    rough = 0.16 * cv2.GaussianBlur(random.standard_normal(light.shape).astype(np.float32), (0, 0), 0.7)
    return _grey(245 * np.clip(np.clip(light * 1.25 + rough, 0, 1) ** 1.3 - 0.55 * _ink_lines(pixels), 0.06, 1))


def _ink(pixels: Pixels, random: np.random.Generator) -> Pixels:
    return _grey(255 * (1 - _ink_lines(pixels)))


STYLES: dict[str, Callable[[Pixels, np.random.Generator], Pixels]] = {
    "oil": _oil,
    "swirls": _swirls,
    "impressionist": _impressionist,
    "watercolour": _watercolour,
    "pop art": _pop_art,
    "dots": _dots,
    "anime": _anime,
    "cartoon": _cartoon,
    "comic": _comic,
    "pencil": _pencil,
    "charcoal": _charcoal,
    "ink": _ink,
}


def kuwahara(pixels: Pixels, reach: int) -> Pixels:
    """Each pixel gets the mean of the calmest of the four squares that it is a corner of (Kuwahara et al., 1976)."""
    values = pixels.astype(np.float32)
    side = 2 * reach + 1
    mean = cv2.blur(values, (side, side))
    grey = cv2.cvtColor(values, cv2.COLOR_RGB2GRAY)
    spread = cv2.blur(grey * grey, (side, side)) - cv2.blur(grey, (side, side)) ** 2
    best, answer = np.full(grey.shape, np.inf, np.float32), values
    for across in (-reach, reach):
        for down in (-reach, reach):
            move = np.array([[1, 0, across], [0, 1, down]], np.float32)
            calm = cv2.warpAffine(spread, move, grey.shape[::-1], borderMode=cv2.BORDER_REPLICATE)
            colour = cv2.warpAffine(mean, move, grey.shape[::-1], borderMode=cv2.BORDER_REPLICATE)
            answer = np.where((calm < best)[..., None], colour, answer)
            best = np.minimum(best, calm)
    return cv2_pixels(np.clip(answer, 0, 255).round())


def _stroked(pixels: Pixels, random: np.random.Generator, *, length: float, relief: float, curl: float) -> Pixels:
    """Colours and noise smeared along the edges of the picture (line integral convolution), as strokes of a brush."""
    grey = np.asarray(cv2.cvtColor(pixels, cv2.COLOR_RGB2GRAY), np.float32)
    height, width = grey.shape
    across, down = cv2.Sobel(grey, cv2.CV_32F, 1, 0, ksize=3), cv2.Sobel(grey, cv2.CV_32F, 0, 1, ksize=3)
    blur = max(2.0, 0.014 * max(height, width))
    xx, yy, xy = (cv2.GaussianBlur(one, (0, 0), blur) for one in (across * across, down * down, across * down))
    angle = 0.5 * np.arctan2(2 * xy, xx - yy) + np.pi / 2
    certain = np.sqrt((xx - yy) ** 2 + 4 * xy**2)
    weight = certain / (certain + float(np.percentile(certain, 60)) + 1e-3)
    swirl = (
        np.pi
        * curl
        * cv2.resize(random.standard_normal((6, 6)).astype(np.float32), (width, height), interpolation=cv2.INTER_CUBIC)
    )
    angle = angle + swirl * (1 - weight)
    step_x, step_y = np.cos(angle).astype(np.float32), np.sin(angle).astype(np.float32)
    noise = cv2.GaussianBlur(
        random.standard_normal(grey.shape).astype(np.float32), (0, 0), 0.9 * max(1.0, max(height, width) / 400)
    )
    canvas = np.dstack([pixels.astype(np.float32), noise / max(1e-6, float(noise.std()))])
    rows, columns = np.mgrid[:height, :width].astype(np.float32)
    total, steps = canvas.copy(), max(4, round(length * max(height, width) / 2))
    for way in (1.0, -1.0):
        x, y = columns.copy(), rows.copy()
        for _ in range(steps):
            dx = cv2.remap(step_x, x, y, cv2.INTER_NEAREST, borderMode=cv2.BORDER_REPLICATE)
            dy = cv2.remap(step_y, x, y, cv2.INTER_NEAREST, borderMode=cv2.BORDER_REPLICATE)
            x, y = x + way * dx, y + way * dy
            total += cv2.remap(canvas, x, y, cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE)
    total /= 2 * steps + 1
    strokes = total[..., 3] / max(1e-6, float(total[..., 3].std()))
    return cv2_pixels(np.clip(total[..., :3] + relief * strokes[..., None], 0, 255).round())


def _embossed(pixels: Pixels, random: np.random.Generator, relief: float) -> Pixels:
    """A weave of canvas and ridges of paint."""
    weave = cv2.GaussianBlur(random.standard_normal(pixels.shape[:2]).astype(np.float32), (0, 0), 1.0)
    ridge = cv2.Sobel(weave, cv2.CV_32F, 1, 1, ksize=3)
    return cv2_pixels(np.clip(pixels + relief * (ridge / max(1e-6, float(ridge.std())))[..., None], 0, 255).round())


def _smooth(pixels: Pixels, times: int) -> Pixels:
    for _ in range(times):
        pixels = cv2_pixels(cv2.bilateralFilter(pixels, 7, 42, 5))
    return pixels


def _quantised(pixels: Pixels, levels: int) -> Pixels:
    """Few steps of lightness; hues stay."""
    lab = to_lab(pixels)
    lab[..., 0] = _steps(lab[..., 0], levels)
    return from_lab(lab)


def _steps(light: NDArray[np.floating], levels: int) -> Plane:
    return np.asarray(np.round(light / 100 * levels) * 100 / levels, np.float32)


def _saturated(pixels: Pixels, factor: float) -> Pixels:
    lab = to_lab(pixels)
    lab[..., 1:] *= factor
    return from_lab(lab)


def _loud(colour: NDArray[np.generic]) -> NDArray[np.float64]:
    values = np.asarray(colour, np.float64)
    return np.asarray(values.mean() + 1.55 * (values - values.mean()), np.float64)


def _outline(pixels: Pixels) -> Plane:
    grey = np.asarray(cv2.cvtColor(pixels, cv2.COLOR_RGB2GRAY), np.float32)
    strength = cv2.magnitude(cv2.Sobel(grey, cv2.CV_32F, 1, 0), cv2.Sobel(grey, cv2.CV_32F, 0, 1))
    return np.clip(strength / 160, 0, 1)


def _ink_lines(pixels: Pixels) -> Plane:
    """1 on lines and in deep shade, 0 elsewhere: a sharpened difference of Gaussians (Winnemöller, 2012)."""
    grey = np.asarray(cv2.cvtColor(_smooth(pixels, 1), cv2.COLOR_RGB2GRAY), np.float32) / 255
    fine = max(0.8, 0.0028 * max(grey.shape))
    sharp = 22 * cv2.GaussianBlur(grey, (0, 0), fine) - 21 * cv2.GaussianBlur(grey, (0, 0), 1.6 * fine)
    light = np.where(sharp > 0.45, 1.0, 1 + np.tanh(7 * (sharp - 0.45)))
    return np.asarray(np.clip(1 - light, 0, 1), np.float32)


def _lined(flat: Pixels, pixels: Pixels, weight: float) -> Pixels:
    """Dark lines of the photograph over flat colours."""
    grey = np.asarray(cv2.cvtColor(_smooth(pixels, 2), cv2.COLOR_RGB2GRAY), np.float32) / 255
    fine = max(0.8, 0.003 * max(grey.shape)) * (0.7 + 0.3 * weight)
    edge = cv2.GaussianBlur(grey, (0, 0), 1.6 * fine) - cv2.GaussianBlur(grey, (0, 0), fine)
    lines = np.clip((edge - 0.012) * 32 * weight, 0, 0.92)
    return cv2_pixels((flat * (1 - lines[..., None])).round())


def _turn(shape: tuple[int, ...], degrees: float) -> NDArray[np.float64]:
    return np.asarray(cv2.getRotationMatrix2D((shape[1] / 2, shape[0] / 2), degrees, 1.5), np.float64)


def _grey(light: NDArray[np.floating]) -> Pixels:
    return np.repeat(np.clip(light, 0, 255).round().astype(np.uint8)[..., None], 3, axis=2)


def _reach(pixels: Pixels, share: float) -> int:
    return max(2, round(share * float(max(pixels.shape[:2]))))
