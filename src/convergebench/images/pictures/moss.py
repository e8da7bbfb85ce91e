"""Tree bark with moss and lichen: soft, fine, never repeating."""

from __future__ import annotations

import numpy as np

from convergebench.images.frame import Pixels
from convergebench.images.pictures.colour import hsv, linear, mix, smoothstep
from convergebench.images.pictures.develop import develop
from convergebench.images.pictures.noise import cells, fractal, slope, soften, warp
from convergebench.images.pictures.sheet import Colours, Plane, Sheet


def draw(sheet: Sheet) -> Pixels:
    """The whole picture."""
    rng = sheet.random("moss")
    bark, plates = _bark(sheet)
    cover = (
        fractal(sheet, "moss cover", 1.1, octaves=6, gain=0.55)
        + 0.35 * float(rng.choice([-1, 1])) * sheet.x
        + 0.25 * (0.5 - plates)
    )
    where = smoothstep(-0.30 + 0.2 * float(rng.random()), 0.25, cover)
    cushions, tone = cells(sheet, "cushions", 420)
    fuzz = fractal(sheet, "fuzz", 26.0, octaves=6, gain=0.82)
    dome = np.clip(1 - cushions / 0.085, 0, 1) ** 0.6
    pile = where * (0.05 + 0.030 * dome + 0.006 * fuzz)
    lichen, rim = _lichen(sheet, rng)
    lichen = lichen * (1 - where)
    height = bark * 0.11 + soften(pile, 0.8) + 0.012 * lichen + 0.008 * rim * lichen
    across, down = slope(height.astype(np.float32), sheet)
    side = float(rng.choice([-1, 1]))
    lit = np.clip(0.62 - side * -0.62 * across - 0.62 * down, 0.03, 2.2) / np.sqrt(1 + across * across + down * down)
    hollow = np.clip(0.55 + 9 * (height - soften(height.astype(np.float32), 0.03 * sheet.unit)), 0.25, 1.25)
    colour = _coloured(sheet, rng, plates, where, lichen, tone, fuzz, dome, rim)
    warm = np.array([1.0, 0.96, 0.88], dtype=np.float32)[:, None, None]
    light = colour * (warm * lit * 1.5 + np.float32(0.32)) * hollow
    return develop(light, sheet, exposure=0.9, vignette=0.4)


def _bark(sheet: Sheet) -> tuple[Plane, Plane]:
    """Height of the bark and its plates: deep upright cracks between flaking slabs."""
    sway = fractal(sheet, "sway", 1.2, octaves=4, gain=0.5)
    cracks = np.abs(fractal(sheet, "cracks", 2.4, octaves=6, gain=0.5, stretch=(1.5, 0.42)))
    cracks = warp(cracks.astype(np.float32), sheet, 0.10 * sway, 0.25 * sway)
    cross = np.abs(fractal(sheet, "cross", 2.0, octaves=5, gain=0.5, stretch=(0.6, 2.0)))
    plates = smoothstep(0.0, 0.30, cracks) * (0.55 + 0.45 * smoothstep(0.0, 0.16, cross))
    fibre = fractal(sheet, "fibre", 14.0, octaves=6, gain=0.75, stretch=(2.4, 0.5))
    flakes = fractal(sheet, "flakes", 7.0, octaves=6, gain=0.65)
    terraces = np.floor(flakes * 3) / 3
    return plates + 0.16 * fibre + 0.10 * flakes + 0.12 * terraces, plates


def _lichen(sheet: Sheet, rng: np.random.Generator) -> tuple[Plane, Plane]:
    """Rosettes with crinkled rims; gives coverage and nearness to the rim."""
    wobble = fractal(sheet, "wobble", 7.0, octaves=6, gain=0.65)
    field = sheet.plane(-1.0)
    for x, y, share in rng.random((60, 3)):
        px, py, size = (2 * x - 1) * sheet.right, (2 * y - 1) * sheet.bottom, 0.03 + 0.15 * share**3
        np.maximum(field, size - np.sqrt(np.square(sheet.x - px) + np.square(sheet.y - py)), out=field)
    edge = field + 0.045 * wobble
    lobes = fractal(sheet, "lobes", 30.0, octaves=4, gain=0.7)
    cover = smoothstep(0.0, 0.012, edge + 0.012 * lobes)
    return cover, np.exp(-np.square(edge / 0.022)) + 0.5 * lobes


def _coloured(
    sheet: Sheet,
    rng: np.random.Generator,
    plates: Plane,
    where: Plane,
    lichen: Plane,
    tone: Plane,
    fuzz: Plane,
    dome: Plane,
    rim: Plane,
) -> Colours:
    stain = fractal(sheet, "stain", 2.6, octaves=7, gain=0.6)
    dark, pale = (("2a1e16", "8a705a"), ("2b2622", "857d72"), ("33211a", "9a6f50"))[rng.integers(3)]
    bark = mix(
        linear(dark)[:, None, None], linear(pale)[:, None, None], np.clip(0.15 + 0.6 * plates + 0.3 * stain, 0, 1)
    )
    hue = float(rng.uniform(0.17, 0.26))
    deep, bright = hsv(hue + 0.03, 0.75, 0.24), hsv(hue - 0.02, 0.72, 0.66)
    moss = mix(
        deep[:, None, None], bright[:, None, None], np.clip(0.25 + 0.4 * dome + 0.35 * fuzz + 0.25 * (tone - 0.5), 0, 1)
    )
    moss = mix(moss, linear("a08a3c")[:, None, None], smoothstep(0.5, 0.9, stain + 0.3 * fuzz) * 0.5)
    grey = mix(
        linear("9aa88e")[:, None, None], linear("d5dcc4")[:, None, None], np.clip(0.4 + 0.4 * rim + 0.2 * fuzz, 0, 1)
    )
    gold = linear("c9982e")[:, None, None] * (0.8 + 0.3 * np.clip(fuzz, -1, 1))
    patch = smoothstep(0.25, 0.45, fractal(sheet, "kind", 1.0, octaves=2))
    colour = mix(bark, mix(grey, gold, patch), lichen * 0.92)
    return mix(colour, moss, where)
