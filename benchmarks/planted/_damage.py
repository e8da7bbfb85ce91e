"""What is planted: each failure as a function of a picture, a strength (0 subtle, 1 clear, 2 strong) and chance.

None of this shares code with the detectors or with the simulated editors: a detector that knows how its failure was
made would be measured on its own reflection. Most failures come in two makes, taken by turns.
"""

from __future__ import annotations

from collections.abc import Callable

import cv2
import numpy as np
from numpy.typing import NDArray

from convergebench.images.frame import Pixels

Chance = np.random.Generator
Damage = Callable[[Pixels, int, Chance], Pixels]
Floats = NDArray[np.float32]


def _whole(values: NDArray[np.floating]) -> Pixels:
    return np.asarray(np.clip(np.rint(values), 0, 255), np.uint8)


def _grey(pixels: Pixels) -> Floats:
    return np.asarray(cv2.cvtColor(pixels, cv2.COLOR_RGB2GRAY), np.float32)


def coloured_static(pixels: Pixels, strength: int, chance: Chance) -> Pixels:
    """Independent noise on every channel of every pixel: σ of 4, 8 or 16 levels."""
    return _whole(pixels + chance.normal(0, (4, 8, 16)[strength], pixels.shape))


def grain(pixels: Pixels, strength: int, chance: Chance) -> Pixels:
    """Grey noise in soft grains, about two pixels across: σ of 3, 6 or 12 levels."""
    noise = cv2.GaussianBlur(chance.normal(0, 1, pixels.shape[:2]).astype(np.float32), (0, 0), 0.7)
    return _whole(pixels + (noise / noise.std() * (3, 6, 12)[strength])[..., None])


def bright_and_dark_points(pixels: Pixels, strength: int, chance: Chance) -> Pixels:
    """Specks a pixel or three across, bright or dark: 200, 800 or 3,000 to the megapixel."""
    return _specks(pixels, (200, 800, 3000)[strength], chance, coloured=False)


def coloured_points(pixels: Pixels, strength: int, chance: Chance) -> Pixels:
    """The same in strong colours."""
    return _specks(pixels, (200, 800, 3000)[strength], chance, coloured=True)


def _specks(pixels: Pixels, to_the_megapixel: int, chance: Chance, *, coloured: bool) -> Pixels:
    height, width = pixels.shape[:2]
    out = pixels.astype(np.float32)
    for _ in range(max(6, round(to_the_megapixel * height * width / 1e6))):
        x, y, radius = chance.uniform(4, width - 4), chance.uniform(4, height - 4), chance.uniform(0.5, 1.6)
        rows, columns = np.mgrid[int(y) - 3 : int(y) + 4, int(x) - 3 : int(x) + 4]
        cover = np.clip(radius + 0.5 - np.hypot(columns - x, rows - y), 0, 1)[..., None]
        here = out[int(y) - 3 : int(y) + 4, int(x) - 3 : int(x) + 4]
        change = chance.uniform(50, 110) * (1 if here.mean() < 128 else -1)
        colour = change * np.asarray(chance.permutation([1.0, 0.2, -0.6]) if coloured else [1.0, 1.0, 1.0])
        here += cover * colour
    return _whole(out)


def _outlines(pixels: Pixels) -> NDArray[np.uint8]:
    """The outlines of this picture, strong or weak as they are in it."""
    soft = _grey(np.asarray(cv2.GaussianBlur(pixels, (0, 0), 1.5), np.uint8))
    slope = np.abs(cv2.Sobel(soft, cv2.CV_32F, 1, 0)) + np.abs(cv2.Sobel(soft, cv2.CV_32F, 0, 1))
    high = max(20.0, float(np.quantile(slope, 0.95)))
    return np.asarray(cv2.Canny(np.rint(soft).astype(np.uint8), 0.4 * high, high), np.uint8)


def echoed_outlines(pixels: Pixels, strength: int, chance: Chance) -> Pixels:
    """Ripples beside every outline, parallel to it, dying away within 20 pixels: 5, 10 or 20 levels high."""
    away = np.asarray(cv2.distanceTransform(255 - _outlines(pixels), cv2.DIST_L2, 5), np.float32)
    wave = np.cos(away * (2 * np.pi / chance.uniform(5, 8))) * np.exp(-away / 9) * (away > 1.5)
    return _whole(pixels + ((5, 10, 20)[strength] * wave)[..., None])


def wavy_outlines(pixels: Pixels, strength: int, chance: Chance) -> Pixels:
    """Outlines that meander about where they were: by 0.4, 0.8 or 1.5 pixels, with a wavelength of 8 to 12."""
    height, width = pixels.shape[:2]
    near = cv2.GaussianBlur(cv2.dilate(_outlines(pixels), np.ones((9, 9), np.uint8)), (0, 0), 3).astype(np.float32)
    cell = chance.uniform(4, 6)
    grid = chance.normal(0, 1, (round(height / cell), round(width / cell), 2)).astype(np.float32)
    shift = cv2.resize(grid, (width, height), interpolation=cv2.INTER_CUBIC) * (near / 255)[..., None]
    shift = shift * np.float32((0.4, 0.8, 1.5)[strength])
    rows, columns = np.mgrid[0:height, 0:width].astype(np.float32)
    moved = cv2.remap(pixels, columns + shift[..., 0], rows + shift[..., 1], cv2.INTER_CUBIC, borderMode=2)
    return np.asarray(moved, np.uint8)


def waves(pixels: Pixels, strength: int, chance: Chance) -> Pixels:
    """A fine regular pattern as transposed convolutions leave it: period 4, 8 or 16, amplitude 1.5, 3 or 6 levels."""
    period = chance.choice([4, 8, 16])
    rows, columns = np.mgrid[0 : pixels.shape[0], 0 : pixels.shape[1]] * (2 * np.pi / period)
    return _whole(pixels + ((1.5, 3, 6)[strength] * (np.cos(columns) + np.cos(rows)) / 1.4)[..., None])


def patches(pixels: Pixels, strength: int, chance: Chance) -> Pixels:
    """Patches of 16 pixels that do not quite agree on the brightness: by 2, 4 or 8 levels (standard deviation)."""
    height, width = pixels.shape[:2]
    offsets = chance.normal(0, (2, 4, 8)[strength], (height // 16 + 1, width // 16 + 1))
    return _whole(pixels + np.kron(offsets, np.ones((16, 16)))[:height, :width, None])


def blocks(pixels: Pixels, strength: int, chance: Chance) -> Pixels:
    """JPEG at quality 30, 18 or 10."""
    return compressed(pixels, (30, 18, 10)[strength])


def compressed(pixels: Pixels, quality: int) -> Pixels:
    """Through JPEG and back."""
    _, data = cv2.imencode(".jpg", pixels[..., ::-1], [cv2.IMWRITE_JPEG_QUALITY, quality])
    return np.asarray(cv2.imdecode(data, cv2.IMREAD_COLOR), np.uint8)[..., ::-1].copy()


def cast(pixels: Pixels, strength: int, chance: Chance) -> Pixels:
    """All colours move by 5, 9 or 16 in the a*b* plane, somewhere near one direction for the whole chain."""
    angle, length = chance.uniform(0, 2 * np.pi), (5, 9, 16)[strength]
    lab = np.asarray(cv2.cvtColor(pixels.astype(np.float32) / 255, cv2.COLOR_RGB2LAB), np.float32)
    lab[..., 1] += length * np.cos(angle)
    lab[..., 2] += length * np.sin(angle)
    return _whole(np.asarray(cv2.cvtColor(lab, cv2.COLOR_LAB2RGB), np.float32) * 255)


def green_light(pixels: Pixels, strength: int, chance: Chance) -> Pixels:
    """As if seen through green glass: red and blue weaker by 6, 11 or 20 per cent."""
    return _whole(pixels * np.array([1 - each for each in ((0.06, 0, 0.06), (0.11, 0, 0.11), (0.2, 0, 0.2))[strength]]))


def softened(pixels: Pixels, strength: int, chance: Chance) -> Pixels:
    """Out of focus: σ of 0.9, 1.4 or 2.2 pixels."""
    return np.asarray(cv2.GaussianBlur(pixels, (0, 0), (0.9, 1.4, 2.2)[strength]), np.uint8)


def melted(pixels: Pixels, strength: int, chance: Chance) -> Pixels:
    """Texture gone, outlines sharp: non-local means of filter strength 6, 12 or 24."""
    h = (6, 12, 24)[strength]
    return np.asarray(cv2.fastNlMeansDenoisingColored(np.ascontiguousarray(pixels), None, h, h, 5, 11), np.uint8)


def few_colours_in_places(pixels: Pixels, strength: int, chance: Chance) -> Pixels:
    """One, three or eight windows, each a twentieth of the picture, redrawn in 4, 3 or 3 flat colours."""
    out = pixels.copy()
    height, width = pixels.shape[:2]
    tall, wide = round(height * 0.22), round(width * 0.22)
    places = _busiest(pixels, tall, wide, (1, 3, 8)[strength])
    for top, left in places:
        window = out[top : top + tall, left : left + wide]
        window[:] = _redrawn(window, (4, 3, 3)[strength])
    return out


def few_colours(pixels: Pixels, strength: int, chance: Chance) -> Pixels:
    """All of it in 24, 12 or 6 flat colours."""
    return _redrawn(pixels, (24, 12, 6)[strength])


def _redrawn(window: Pixels, count: int) -> Pixels:
    soft = cv2.medianBlur(np.ascontiguousarray(window), 5)
    samples = soft.reshape(-1, 3).astype(np.float32)
    cv2.setRNGSeed(1)
    stop = (cv2.TERM_CRITERIA_EPS + cv2.TERM_CRITERIA_MAX_ITER, 12, 1.0)
    _, labels, centres = cv2.kmeans(samples, count, None, stop, 1, cv2.KMEANS_PP_CENTERS)  # type: ignore[call-overload]
    return _whole(centres[labels.ravel()].reshape(window.shape))


def _busiest(pixels: Pixels, tall: int, wide: int, count: int) -> list[tuple[int, int]]:
    """Windows with the most colours in them: a plain wall has nothing to simplify."""
    soft = cv2.GaussianBlur(pixels, (0, 0), 2).astype(np.float32)
    mean, square = (np.asarray(cv2.blur(each, (wide, tall)), np.float32) for each in (soft, soft**2))
    spread = (square - mean**2).sum(axis=-1)
    places = []
    for _ in range(count):
        inner = spread[tall // 2 : -tall // 2, wide // 2 : -wide // 2]
        top, left = np.unravel_index(int(inner.argmax()), inner.shape)
        places.append((int(top), int(left)))
        spread[max(0, top - tall // 2) : top + 3 * tall // 2, max(0, left - wide // 2) : left + 3 * wide // 2] = 0
    return places


MAKES: dict[str, tuple[Damage, ...]] = {
    "static-noise": (coloured_static, grain),
    "scatter-points": (bright_and_dark_points, coloured_points),
    "contour-wrinkles": (echoed_outlines, wavy_outlines),
    "lattice": (waves, patches, blocks),
    "colour-cast": (cast, green_light),
    "texture-loss": (softened, melted),
    "simplification": (few_colours_in_places, few_colours),
}
