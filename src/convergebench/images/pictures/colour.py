"""Colours: from the eye's numbers to linear light, and mixing."""

from __future__ import annotations

import colorsys

import numpy as np

from convergebench.images.pictures.sheet import Colours, Plane


def linear(code: str) -> Plane:
    """Linear light of a hex code such as `d8a27c`."""
    values = np.array([int(code[i : i + 2], 16) for i in (0, 2, 4)], dtype=np.float32) / 255
    return decode(values)


def hsv(hue: float, saturation: float, value: float) -> Plane:
    """Linear light of hue (turns), saturation and value."""
    return decode(np.array(colorsys.hsv_to_rgb(hue % 1.0, saturation, value), dtype=np.float32))


def decode(values: Plane) -> Plane:
    """SRGB numbers in 0…1 to linear light."""
    return np.where(values <= 0.04045, values / 12.92, ((values + 0.055) / 1.055) ** 2.4).astype(np.float32)


def encode(values: Plane) -> Plane:
    """Linear light to sRGB numbers."""
    low = np.clip(values, 0.0, None)
    return np.where(low <= 0.0031308, low * 12.92, 1.055 * np.power(low, 1 / 2.4) - 0.055).astype(np.float32)


def tint(colour: Plane, amount: Plane) -> Colours:
    """A plane of amounts times one colour, colour first."""
    return np.stack([amount * np.float32(c) for c in colour])


def mix(first: Colours, second: Colours, weight: Plane | float) -> Colours:
    """`first` where weight is 0, `second` where it is 1; single colours are spread to fit."""
    shape = np.broadcast_shapes(first.shape[1:], second.shape[1:], np.shape(weight))
    out = np.empty((3, *shape), dtype=np.float32)
    for channel in range(3):
        np.add(first[channel], (second[channel] - first[channel]) * weight, out=out[channel])
    return out


def ramp(position: Plane, stops: list[tuple[float, Plane]]) -> Colours:
    """Smooth gradient through (position, colour) stops, sorted by position."""
    places = np.array([place for place, _ in stops], dtype=np.float32)
    table = np.stack([colour for _, colour in stops])
    fine = np.linspace(places[0], places[-1], 512, dtype=np.float32)
    out = np.empty((3, *position.shape), dtype=np.float32)
    for channel in range(3):
        smooth = _smooth_curve(places, table[:, channel], fine)
        out[channel] = np.interp(position.ravel(), fine, smooth).reshape(position.shape)
    return out


def _smooth_curve(places: Plane, values: Plane, fine: Plane) -> Plane:
    """Monotone cubic through the stops: no corners (they show as Mach bands), no overshoot."""
    if len(places) < 3:
        return np.interp(fine, places, values).astype(np.float32)
    from scipy.interpolate import PchipInterpolator

    return np.asarray(PchipInterpolator(places, values)(fine), dtype=np.float32)


def smoothstep(low: float, high: float, value: Plane) -> Plane:
    """0 below low, 1 above high, S-shaped between (low may exceed high)."""
    t = np.clip((value - np.float32(low)) / np.float32(high - low), 0.0, 1.0)
    found: Plane = t * t * (3.0 - 2.0 * t)
    return found


def luminance(colours: Colours) -> Plane:
    """Relative luminance of linear light."""
    found: Plane = 0.2126 * colours[0] + 0.7152 * colours[1] + 0.0722 * colours[2]
    return found
