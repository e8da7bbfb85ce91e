"""Skies: gradients from horizon to zenith, sun glow, clouds."""

from __future__ import annotations

import numpy as np

from convergebench.images.pictures.colour import linear, mix, ramp, smoothstep, tint
from convergebench.images.pictures.noise import fractal
from convergebench.images.pictures.sheet import Colours, Plane, Sheet

PALETTES: dict[str, tuple[tuple[str, ...], str]] = {
    "noon": (("d6e4ee", "a9cbe8", "6fa3d8", "3f76b8"), "fff6e0"),
    "sunset": (("ffb46a", "f58a5c", "a8688c", "3f4a82"), "ffd9a0"),
    "rose": (("f9c8a0", "e89a9a", "9a86b4", "4a5c94"), "ffe4c0"),
    "dusk": (("e8a070", "b57a8a", "5f5f96", "1f2c5c"), "ffc080"),
    "gold": (("f6dcb0", "e8c49a", "a9b4c0", "5c82b0"), "ffeccc"),
    "grey": (("dcdedd", "c3c9cc", "a3adb4", "7f8b95"), "ffffff"),
}


def sky(
    sheet: Sheet, palette: str, *, horizon: float, sun: tuple[float, float] | None = None, clouds: float = 0.5
) -> Colours:
    """The whole sheet as sky; `horizon` and `sun` in sheet coordinates, `clouds` 0…1."""
    codes, sun_code = PALETTES[palette]
    rise = (np.float32(horizon) - sheet.y) / np.float32(sheet.bottom + horizon)
    height = np.clip(rise, -0.2, 1.0) + sheet.plane()
    stops = [(-0.2, linear(codes[0]))] + [(i / (len(codes) - 1), linear(code)) for i, code in enumerate(codes)]
    light = ramp(height, stops)
    if sun is not None:
        away = np.sqrt(np.square(sheet.x - sun[0]) + np.square((sheet.y - sun[1]) * 1.15))
        glow = 0.9 * np.exp(-away * 2.2) + 1.3 * np.exp(-away * 9.0) + 5.0 * smoothstep(0.046, 0.03, away)
        light = light + tint(linear(sun_code), glow)
    if clouds:
        light = _clouded(sheet, light, rise, clouds, sun, linear(sun_code))
    return light


def _clouded(
    sheet: Sheet, light: Colours, rise: Plane, amount: float, sun: tuple[float, float] | None, warm: Plane
) -> Colours:
    """Banks of cloud that flatten towards the horizon, lit from below the sun's side."""
    field = fractal(sheet, "clouds", 0.9, octaves=8, gain=0.55, stretch=(1.0, 2.6))
    high = fractal(sheet, "cirrus", 0.7, octaves=7, gain=0.6, stretch=(1.0, 5.0))
    body = smoothstep(0.35 - 0.75 * amount, 0.95 - 0.4 * amount, field)
    fade = smoothstep(-0.02, 0.25, rise)
    lower = np.roll(field, -max(1, int(0.05 * sheet.unit)), axis=0)
    rim = np.clip(0.55 + 0.8 * (field - lower), 0.0, 1.3)
    near = np.exp(-np.abs(sheet.x - sun[0]) * 0.8) if sun is not None else np.float32(0.5)
    tone = warm[:, None, None] * (0.55 + 0.5 * near * rim) * 0.95
    shade = light * np.float32(0.55) + np.float32(0.12)
    cloud = mix(shade, tone + 0 * light, rim * 0.75)
    light = mix(light, cloud, body * fade * np.float32(min(1.0, 0.5 + amount)))
    return mix(light, tone + 0 * light, smoothstep(0.2, 0.9, high) * fade * np.float32(0.3 * amount))
