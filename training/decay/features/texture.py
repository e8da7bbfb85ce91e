"""Features of a picture's texture: noise at several scales, shapes of distributions, correlations of neighbours.

All are ratios, shapes and correlations of the picture with itself at another scale or place, so that its contrast
does not matter.
"""

from __future__ import annotations

from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

from convergebench.images.frame import Plane

SMALL = 0.25
"""Added to spreads before they are divided: a quarter of a level, about what rounding to whole levels leaves."""
_SAMPLE = 65_536
_LAGS = (1, 2, 3, 4, 6, 8)


def half(plane: Plane) -> Plane:
    """Half the size: means of 2 × 2."""
    return np.asarray(cv2.resize(plane, (plane.shape[1] // 2, plane.shape[0] // 2), interpolation=cv2.INTER_AREA))


def sample(values: NDArray[np.floating[Any]]) -> NDArray[np.floating[Any]]:
    """At most about 65 000 evenly strided values: medians of more cost time and gain nothing."""
    flat = values.ravel()
    return flat[:: max(1, len(flat) // _SAMPLE)]


def middle_of(values: NDArray[np.floating[Any]]) -> float:
    """Median of the sample's magnitudes."""
    return float(np.median(np.abs(sample(values))))


def details(plane: Plane) -> tuple[Plane, Plane, Plane]:
    """Haar details of 2 × 2 pixels at every place: across, down, crosswise."""
    first, right = plane[:-1, :-1], plane[:-1, 1:]
    below, last = plane[1:, :-1], plane[1:, 1:]
    across, down, cross = first - right + below - last, first + right - below - last, first - right - below + last
    return np.asarray(across / 2, np.float32), np.asarray(down / 2, np.float32), np.asarray(cross / 2, np.float32)


def noise_features(luma: Plane, chroma: Plane) -> dict[str, float]:
    """Spreads of details at three scales against one another, in luma, in chroma, and in the most even areas."""
    spreads: list[float] = []
    found: dict[str, float] = {}
    plane = luma
    for scale in range(4):
        across, down, cross = details(plane)
        axis = np.concatenate([sample(across), sample(down)])
        middle, wide = middle_of(axis), float(np.sqrt(np.square(axis).mean()))
        spreads.append(middle)
        found[f"peaked-{scale}"] = float(np.log((wide + SMALL) / (middle + SMALL)))
        found[f"cross-{scale}"] = float(np.log((middle_of(cross) + SMALL) / (middle + SMALL)))
        plane = half(plane)
    for scale in range(3):
        found[f"fall-{scale}"] = float(np.log((spreads[scale] + SMALL) / (spreads[scale + 1] + SMALL)))
    found["level"] = float(np.log(spreads[0] + SMALL))
    fine = [middle_of(np.stack(details(chroma)[:2]))]
    fine.append(middle_of(np.stack(details(half(chroma))[:2])))
    found["chroma"] = float(np.log((fine[0] + SMALL) / (spreads[0] + SMALL)))
    found["chroma-fall"] = float(np.log((fine[0] + SMALL) / (fine[1] + SMALL)))
    return {f"noise-{name}": value for name, value in found.items()}


def even_features(luma: Plane) -> dict[str, float]:
    """The spread of local contrast over blocks of 8, and what is left in the most even tenth of them."""
    found: dict[str, float] = {}
    high = luma - cv2.GaussianBlur(luma, (0, 0), 1.5)
    height, width = (side // 8 * 8 for side in luma.shape)
    blocks = high[:height, :width].reshape(height // 8, 8, width // 8, 8)
    logs = np.log(np.sqrt(np.square(blocks).mean(axis=(1, 3), dtype=np.float64)) + SMALL).ravel()
    low, lower, centre, upper, top = np.quantile(logs, [0.05, 0.25, 0.5, 0.75, 0.95])
    found["floor"] = low
    found["centre"] = centre
    found["range"] = top - low
    found["quarters"] = upper - lower
    found["skew"] = (top + low - 2 * centre) / (top - low + 0.1)
    coarse = half(half(luma))
    broad = coarse - cv2.GaussianBlur(coarse, (0, 0), 1.5)
    height, width = (side // 4 * 4 for side in broad.shape)
    blocks = broad[:height, :width].reshape(height // 4, 4, width // 4, 4)
    wide = np.log(np.sqrt(np.square(blocks).mean(axis=(1, 3), dtype=np.float64)) + SMALL).ravel()
    found["fine-to-broad"] = centre - float(np.median(wide))
    found["floor-to-broad"] = low - float(np.quantile(wide, 0.05))
    return {f"even-{name}": float(value) for name, value in found.items()}


def normalised(plane: Plane) -> Plane:
    """(plane − local mean) / (local deviation + 1), with a Gaussian of σ 7/6."""
    mean = cv2.GaussianBlur(plane, (7, 7), 7 / 6)
    square = cv2.GaussianBlur(plane * plane, (7, 7), 7 / 6)
    return np.asarray((plane - mean) / (np.sqrt(np.maximum(square - mean * mean, 0)) + 1), np.float32)


def shape_features(plane: Plane, prefix: str) -> dict[str, float]:
    """Shape, spread and tilt of locally normalised values, and how neighbours at several distances go together."""
    values = normalised(plane)
    square = float(np.square(values).mean()) + 1e-4
    found = {
        "shape": float(np.log(square / (float(np.abs(values).mean()) + 1e-2) ** 2)),
        "spread": float(np.log(square)),
        "tilt": float(np.power(values, 3).mean()) / square**1.5,
    }
    for lag in _LAGS:
        across = float((values[:, lag:] * values[:, :-lag]).mean())
        down = float((values[lag:] * values[:-lag]).mean())
        found[f"lag-{lag}"] = (across + down) / (2 * square)
    cross = float((values[1:, 1:] * values[:-1, :-1]).mean() + (values[1:, :-1] * values[:-1, 1:]).mean())
    found["lag-diagonal"] = cross / (2 * square)
    return {f"{prefix}-{name}": value for name, value in found.items()}


def line_features(luma: Plane) -> dict[str, float]:
    """Gradients: how peaked, how much of them at which scale, how well they agree on a direction."""
    found: dict[str, float] = {}
    plane, energies = luma, []
    for scale in range(3):
        right = np.asarray(cv2.Sobel(plane, cv2.CV_32F, 1, 0)) / 8
        below = np.asarray(cv2.Sobel(plane, cv2.CV_32F, 0, 1)) / 8
        energy = right * right + below * below
        energies.append(float(np.sqrt(energy.mean())))
        xx, yy = cv2.GaussianBlur(right * right, (0, 0), 2.0), cv2.GaussianBlur(below * below, (0, 0), 2.0)
        xy = cv2.GaussianBlur(right * below, (0, 0), 2.0)
        total = xx + yy
        agree = np.sqrt(np.square(xx - yy) + 4 * xy * xy) / (total + SMALL)
        found[f"agree-{scale}"] = float(agree.mean())
        weak = total < np.median(sample(total))
        found[f"agree-weak-{scale}"] = float(agree[weak].mean()) if weak.any() else float(agree.mean())
        magnitude = np.sqrt(sample(energy))
        found[f"peaked-{scale}"] = float(
            np.log((np.sqrt(np.square(magnitude).mean()) + SMALL) / (magnitude.mean() + SMALL))
        )
        plane = half(plane)
    found["fall-0"] = float(np.log((energies[0] + SMALL) / (energies[1] + SMALL)))
    found["fall-1"] = float(np.log((energies[1] + SMALL) / (energies[2] + SMALL)))
    return {f"line-{name}": value for name, value in found.items()}
