"""A still life in oils: the same kinds of fruit again and again, each with its own skin, in visible strokes."""

from __future__ import annotations

import cv2
import numpy as np

from convergebench.images.frame import Pixels
from convergebench.images.pictures.colour import decode, hsv, linear
from convergebench.images.pictures.develop import develop
from convergebench.images.pictures.march import Camera, paint
from convergebench.images.pictures.material import glazed
from convergebench.images.pictures.noise import fractal, slope, soften
from convergebench.images.pictures.produce import bottle, bowl, fruit
from convergebench.images.pictures.sheet import SHIFT, Bytes, Plane, Sheet
from convergebench.images.pictures.tabletop import cloth_top, set_table
from convergebench.images.pictures.texture import weave
from convergebench.images.pictures.world import Solid

BRISTLES = 4
BRUSHES = ((0.036, 0.046, 1.0), (0.017, 0.025, 0.75), (0.0085, 0.016, 0.45))
"""Half width of the brush, spacing of its strokes, and how many of them are laid on plain ground."""


def draw(sheet: Sheet) -> Pixels:
    """Model the table in light, then paint it over in three sizes of brush."""
    longest = max(sheet.width, sheet.height)
    small = min(1.0, 560 / longest)
    model = Sheet(sheet.recipe, sheet.seed, max(64, round(sheet.width * small)), max(64, round(sheet.height * small)))
    plain = develop(_modelled(model), model, exposure=0.85, vignette=0.3)
    large = cv2.resize(plain, (sheet.width, sheet.height), interpolation=cv2.INTER_CUBIC)
    canvas, relief = _painted(sheet, np.asarray(large, dtype=np.uint8))
    light = decode(np.moveaxis(canvas, 2, 0).astype(np.float32) / 255)
    threads = weave(128)(sheet.x * 0.8 + 0 * sheet.y, sheet.y * 0.8 + 0 * sheet.x, sheet.pixel * 0.8)
    height = soften(relief.astype(np.float32) / 255, 0.0012 * sheet.unit) + 0.22 * threads
    across, down = slope(height.astype(np.float32), sheet)
    scale = np.float32(0.006)
    lit = np.clip(1 - scale * across - scale * down, 0.55, 1.5)
    aged = 1 + 0.05 * fractal(sheet, "varnish", 1.2, octaves=6)
    return develop(
        light * lit * aged * np.array([1.04, 1.0, 0.9], dtype=np.float32)[:, None, None],
        sheet,
        exposure=0.92,
        glow=0.0,
        vignette=0.25,
    )


def _modelled(model: Sheet) -> Plane:
    rng = model.random("painting")
    left = float(rng.choice([-1, 1]))
    solids: list[Solid] = [bottle(rng, at=(-left * 0.75, -0.6), height=1.4)]
    solids.append(bowl(glazed(hsv(rng.random(), 0.35, 0.7), rng), at=(left * 0.35, -0.25), radius=0.6, height=0.36))
    kinds = [str(k) for k in rng.permutation(["apple", "pear", "orange", "lemon", "plum"])[:3]]
    places = [(left * 0.35 + dx, 0.2, -0.25 + dz) for dx, dz in ((-0.24, 0.14), (0.24, 0.1), (0.0, -0.24), (0.02, 0.3))]
    places += [
        (x, 0.0, z)
        for x, z in (
            (-left * 0.5, 0.45),
            (-left * 0.05, 0.72),
            (-left * 0.95, 0.2),
            (left * 0.95, 0.5),
            (left * 0.55, 0.85),
            (-left * 1.15, 0.75),
        )
    ]
    for number, place in enumerate(places):
        solids.append(fruit(kinds[number % 3], rng, at=place))
    top = cloth_top(rng, (linear("8a7a64"), linear("6a3a34"), linear("4f5f5a"), linear("b0a488"))[rng.integers(4)])
    camera = Camera(eye=(0.0, 1.75, 4.5), target=(0, 0.38, 0), zoom=2.9)
    return paint(model, set_table(model, solids, top=top), camera)


def _painted(sheet: Sheet, plain: Bytes) -> tuple[Bytes, Bytes]:
    """Strokes along the forms, large first; also the relief of their bristles."""
    rng = sheet.random("brush")
    canvas = np.full((*plain.shape[:2], 4), 128, dtype=np.uint8)
    canvas[..., :3] = cv2.GaussianBlur(plain, (0, 0), 0.03 * sheet.unit)
    grey = cv2.cvtColor(plain, cv2.COLOR_RGB2GRAY).astype(np.float32)
    for radius, spacing, keep in BRUSHES:
        angle, strength = _directions(sheet, grey, radius)
        source = np.asarray(cv2.GaussianBlur(plain, (0, 0), max(0.6, radius * 0.35 * sheet.unit)))
        columns, rows = np.arange(-sheet.right, sheet.right, spacing), np.arange(-sheet.bottom, sheet.bottom, spacing)
        places = np.stack(np.meshgrid(columns, rows), -1).reshape(-1, 2)
        draws = rng.random((len(places), 8))
        places = (places + (draws[:, :2] - 0.5) * spacing * 1.2)[order := np.argsort(draws[:, 2], kind="stable")]
        draws = draws[order]
        column = np.clip((places[:, 0] + sheet.right) * sheet.unit, 0, sheet.width - 1).astype(int)
        row = np.clip((places[:, 1] + sheet.bottom) * sheet.unit, 0, sheet.height - 1).astype(int)
        wanted = np.ones(len(places), dtype=bool)
        if keep < 1:
            wanted = draws[:, 3] < keep * (0.35 + 0.65 * np.minimum(1.0, strength[row, column]))
        row, column = row[wanted], column[wanted]
        _strokes(sheet, canvas, places[wanted], angle[row, column], radius, source[row, column], draws[wanted])
    return canvas[..., :3], canvas[..., 3]


def _directions(sheet: Sheet, grey: Plane, radius: float) -> tuple[Plane, Plane]:
    """Which way the form runs at every pixel (along edges), and how clear that is."""
    calm = soften(grey, radius * 0.6 * sheet.unit)
    gx, gy = cv2.Sobel(calm, cv2.CV_32F, 1, 0), cv2.Sobel(calm, cv2.CV_32F, 0, 1)
    spread = radius * 1.6 * sheet.unit
    xx, yy, xy = (soften(np.ascontiguousarray(p), spread) for p in (gx * gx, gy * gy, gx * gy))
    wander = fractal(sheet, f"wander {radius}", 1.0, octaves=3) * np.float32(0.7)
    strength = np.sqrt(np.maximum(xx + yy, 0)) * np.float32(sheet.unit / 512)
    return 0.5 * np.arctan2(2 * xy, xx - yy) + np.pi / 2 + wander * np.exp(-strength), strength / 3


def _strokes(sheet: Sheet, canvas: Bytes, at: Plane, angle: Plane, radius: float, tone: Bytes, draws: Plane) -> None:
    """Loaded strokes: a few bristle lines side by side, each a little lighter or darker."""
    reach = (radius * (1.6 + 1.8 * draws[:, 4]))[:, None]
    along, across = np.stack([np.cos(angle), np.sin(angle)], 1), np.stack([-np.sin(angle), np.cos(angle)], 1)
    bend = across * ((draws[:, 6] - 0.5) * 0.25)[:, None] * reach
    middle = np.stack([at - along * reach * 0.5, at + bend, at + along * reach * 0.5], axis=1)
    shift = (draws[:, 5] - 0.5) * 16
    thick = max(1, round(2.3 * radius / BRISTLES * sheet.unit))
    lines, tones = [], []
    for number in range(BRISTLES):
        offset = (number - (BRISTLES - 1) / 2) / BRISTLES * 1.7 * radius
        points = middle + across[:, None, :] * offset
        lines.append(sheet.fixed(points))
        wave = ((number * 37 + (draws[:, 7] * 997).astype(int)) % 17 - 8) * 1.1
        colour = np.clip(tone + (shift + wave)[:, None], 0, 255)
        tones.append(np.concatenate([colour, (128 + wave * 8 + shift)[:, None]], axis=1).astype(int).tolist())
    for k in range(len(at)):
        for number in range(BRISTLES):
            cv2.polylines(canvas, [lines[number][k]], False, tones[number][k], thick, cv2.LINE_AA, SHIFT)
