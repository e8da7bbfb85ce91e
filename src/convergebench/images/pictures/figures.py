"""Drawn figures: a standing character with nothing the same left and right, and a grid of nine heads."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Protocol

import numpy as np

from convergebench.images.frame import Pixels
from convergebench.images.pictures.colour import hsv
from convergebench.images.pictures.ink import Colour, Ink, Placement, rgb, smooth
from convergebench.images.pictures.sheet import Plane, Sheet
from convergebench.images.pictures.visage import Visage, draw_back_hair, draw_visage

Points = list[tuple[float, float]]


class Limb(Protocol):
    """Draws a part of the figure in a named colour."""

    def __call__(self, points: Points, name: str, width: float = 0.007) -> None:
        """Draw it."""
        ...


def eyes_grid(sheet: Sheet) -> Pixels:
    """Nine heads in three rows, each with its own pose, hair and running eye colours."""
    rng = sheet.random("grid")
    paper = rgb(hsv(rng.random(), 0.06, 0.97))
    ink = Ink(sheet, paper)
    base = rng.random()
    step_x, step_y = 2 * sheet.right / 3, 2 * sheet.bottom / 3
    for row in range(3):
        for column in range(3):
            x, y = -sheet.right + step_x * (column + 0.5), -sheet.bottom + step_y * (row + 0.5)
            half_x, half_y = step_x * 0.47, step_y * 0.47
            card = np.array(
                [(x - half_x, y - half_y), (x + half_x, y - half_y), (x + half_x, y + half_y), (x - half_x, y + half_y)]
            )
            ground = rgb(hsv(base + (3 * row + column) * 0.11, 0.28, 0.92))
            ink.fill(card, ground)
            _cell(ink, card, (x, y), min(half_x, half_y), sheet.random(f"head {row} {column}"), ground)
    return ink.finished()


def _cell(
    ink: Ink, card: Plane, at: tuple[float, float], half: float, rng: np.random.Generator, ground: Colour
) -> None:
    """One head, kept inside its card."""
    window = ink.window(card)
    if window is None:
        return
    before = ink.canvas.copy()
    person = Visage.drawn(rng, odd_eyes=rng.random() < 0.25)
    size = half * 0.56
    turned = float(rng.uniform(-0.22, 0.22))
    place = Placement(size, turned, at[0] - 0.03, at[1] + half * 0.10)
    halo = np.stack([np.cos(np.linspace(0, 6.283, 60)), np.sin(np.linspace(0, 6.283, 60))], axis=1)
    pale: Colour = tuple(min(255, v + 16) for v in ground)  # type: ignore[assignment]
    ink.fill(halo * half * 0.86 + np.array(at), pale)
    cloth = rgb(hsv(rng.random(), 0.5, 0.7))
    draw_back_hair(ink, person, place)
    shoulders = [(-1.6, 2.6), (-1.25, 1.55), (-0.4, 1.22), (0.4, 1.22), (1.25, 1.55), (1.6, 2.6)]
    straight = Placement(size, 0.0, at[0] - 0.03, at[1] + half * 0.10)
    neck = [(-0.3, 0.8), (0.3, 0.8), (0.34, 1.45), (0.0, 1.6), (-0.34, 1.45)]
    ink.part(smooth(straight(np.array(shoulders))), cloth, width=0.022 * size)
    ink.part(smooth(straight(np.array(neck))), person.skin_shade, width=0.022 * size)
    draw_visage(ink, person, place, rng)
    cover = ink.mask(card, (slice(0, ink.canvas.shape[0]), slice(0, ink.canvas.shape[1])))
    kept = before.astype(np.float32) + (ink.canvas.astype(np.float32) - before) * cover[..., None]
    ink.canvas[:] = np.round(kept).astype(np.uint8)


def character(sheet: Sheet) -> Pixels:
    """A standing figure in flat colours."""
    rng = sheet.random("character")
    size = min(sheet.bottom, 1.5 * sheet.right)
    ink = Ink(sheet, (255, 255, 255))
    _ground(ink, rng)
    place = Placement(size, 0.0, 0.0, 0.02 * size)
    person = replace(
        Visage.drawn(rng, odd_eyes=True),
        look=float(rng.uniform(-0.35, 0.35)),
        style=int(rng.choice([0, 1, 3])),
        mood=str(rng.choice(["calm", "smile", "grin"])),
    )
    palette = _palette(rng)
    mirror = float(rng.choice([-1, 1]))

    def at(points: list[tuple[float, float]]) -> Plane:
        return place(np.array(points, dtype=np.float64) * (mirror, 1.0))

    def limb(points: list[tuple[float, float]], name: str, width: float = 0.007) -> None:
        base = palette.get(name, (person.skin, person.skin_shade))
        ink.part(smooth(at(points)), base[0], shade=base[1], fall=(-0.022 * size, -0.006 * size), width=width * size)

    head = Placement(0.185 * size, float(rng.uniform(-0.05, 0.05)), place.x, place.y - 0.64 * size)
    _cape(limb)
    draw_back_hair(ink, person, head)
    _legs(limb, ink, at, palette, size)
    _torso(limb, ink, at, palette, size)
    draw_visage(ink, person, head, rng)
    _ribbon(limb)
    return ink.finished()


def _palette(rng: np.random.Generator) -> dict[str, tuple[Colour, Colour]]:
    """Main, second and accent colours, each with its shade."""
    hue = rng.random()
    tones = {
        "coat": (hue, 0.45, 0.62),
        "inner": (hue + 0.08, 0.08, 0.97),
        "accent": (hue + 0.5, 0.72, 0.92),
        "dark": (hue + 0.03, 0.4, 0.26),
        "trim": (0.12, 0.55, 0.92),
        "leather": (0.07, 0.55, 0.45),
    }
    return {
        name: (rgb(hsv(h, s, v)), rgb(hsv(h + 0.02, min(1.0, s + 0.1), v * 0.76))) for name, (h, s, v) in tones.items()
    }


def _ground(ink: Ink, rng: np.random.Generator) -> None:
    """A pale two-tone ground with a disc behind the figure and a shadow under the feet."""
    hue = rng.random()
    ink.canvas[:] = rgb(hsv(hue, 0.07, 0.96))
    ring = np.linspace(0, 2 * np.pi, 120, endpoint=False)
    ink.fill(np.stack([0.78 * np.cos(ring), -0.1 + 0.78 * np.sin(ring)], 1), rgb(hsv(hue + 0.05, 0.16, 0.93)))
    ink.fill(np.stack([0.62 * np.cos(ring), -0.1 + 0.62 * np.sin(ring)], 1), rgb(hsv(hue + 0.05, 0.10, 0.97)))
    bottom = min(ink.sheet.bottom, 1.5 * ink.sheet.right)
    ink.fill(
        np.stack([0.34 * bottom * np.cos(ring), (0.955 + 0.028 * np.sin(ring)) * bottom], 1), rgb(hsv(hue, 0.16, 0.80))
    )


def _cape(limb: Limb) -> None:
    """A half cape, on one shoulder only."""
    limb(
        [
            (-0.05, -0.40),
            (-0.24, -0.36),
            (-0.36, 0.05),
            (-0.42, 0.42),
            (-0.30, 0.36),
            (-0.20, 0.45),
            (-0.08, 0.34),
            (0.0, -0.1),
        ],
        "accent",
    )


def _legs(
    limb: Limb, ink: Ink, at: Callable[[Points], Plane], palette: dict[str, tuple[Colour, Colour]], size: float
) -> None:
    """One striped stocking, one bare knee over a tall boot."""
    draw, place = limb, at
    draw([(-0.15, 0.18), (-0.02, 0.18), (-0.03, 0.52), (-0.045, 0.86), (-0.135, 0.86), (-0.155, 0.5)], "inner")
    for level in np.linspace(0.30, 0.76, 7):
        wide = 0.150 - 0.03 * (level - 0.3)
        stripe = [
            (-wide, level),
            (-0.09, level + 0.012),
            (-0.032, level),
            (-0.033, level + 0.034),
            (-0.09, level + 0.046),
            (-wide + 0.002, level + 0.034),
        ]
        ink.fill(place(stripe), palette["dark"][0])
    draw([(-0.155, 0.80), (-0.03, 0.80), (-0.03, 0.93), (-0.08, 0.955), (-0.21, 0.955), (-0.20, 0.90)], "leather")
    draw([(0.02, 0.18), (0.15, 0.18), (0.155, 0.5), (0.14, 0.70), (0.04, 0.70), (0.03, 0.5)], "skin")
    draw(
        [
            (0.025, 0.52),
            (0.165, 0.52),
            (0.155, 0.80),
            (0.16, 0.91),
            (0.21, 0.955),
            (0.06, 0.955),
            (0.035, 0.90),
            (0.04, 0.75),
        ],
        "dark",
    )
    for level in (0.60, 0.70, 0.80):
        draw([(0.032, level), (0.162, level), (0.162, level + 0.022), (0.032, level + 0.022)], "trim", 0.004)


def _torso(
    limb: Limb, ink: Ink, at: Callable[[Points], Plane], palette: dict[str, tuple[Colour, Colour]], size: float
) -> None:
    """Long sleeve left, bare arm with a glove right, slanted hem, belt with one pouch."""
    draw, place = limb, at
    draw(
        [(0.17, -0.36), (0.235, -0.30), (0.27, -0.10), (0.315, 0.10), (0.255, 0.13), (0.20, -0.06), (0.15, -0.2)],
        "skin",
    )
    draw([(0.245, -0.02), (0.30, -0.04), (0.335, 0.10), (0.345, 0.19), (0.30, 0.225), (0.262, 0.16)], "dark")
    draw([(-0.19, 0.02), (0.18, 0.02), (0.24, 0.20), (0.10, 0.27), (0.0, 0.24), (-0.13, 0.36), (-0.27, 0.34)], "dark")
    draw([(-0.05, -0.47), (0.05, -0.47), (0.06, -0.36), (0.0, -0.30), (-0.06, -0.36)], "skin")
    draw(
        [
            (-0.10, -0.41),
            (0.0, -0.32),
            (0.10, -0.41),
            (0.20, -0.35),
            (0.165, -0.12),
            (0.185, 0.06),
            (-0.185, 0.06),
            (-0.165, -0.12),
            (-0.20, -0.35),
        ],
        "inner",
    )
    draw(
        [(-0.10, -0.41), (-0.03, -0.30), (-0.02, -0.1), (-0.06, 0.10), (-0.23, 0.16), (-0.175, -0.12), (-0.215, -0.35)],
        "coat",
    )
    draw(
        [(0.10, -0.41), (0.055, -0.28), (0.09, -0.05), (0.10, 0.04), (0.19, 0.03), (0.165, -0.12), (0.20, -0.35)],
        "coat",
    )
    draw(
        [
            (-0.19, -0.385),
            (-0.265, -0.30),
            (-0.30, -0.10),
            (-0.355, 0.13),
            (-0.245, 0.17),
            (-0.205, -0.05),
            (-0.15, -0.22),
        ],
        "coat",
    )
    draw([(-0.36, 0.10), (-0.24, 0.14), (-0.245, 0.18), (-0.365, 0.145)], "trim")
    draw([(-0.345, 0.15), (-0.265, 0.175), (-0.275, 0.235), (-0.32, 0.255), (-0.345, 0.21)], "skin")
    draw([(-0.195, 0.02), (0.19, 0.0), (0.195, 0.05), (-0.20, 0.075)], "leather")
    draw([(0.10, 0.035), (0.19, 0.025), (0.20, 0.125), (0.11, 0.135)], "leather")
    draw([(-0.035, 0.008), (0.025, 0.005), (0.03, 0.068), (-0.03, 0.072)], "trim")
    strap = [(-0.185, -0.36), (-0.145, -0.385), (0.17, 0.0), (0.14, 0.02)]
    ink.part(place(strap), palette["accent"][0], shade=palette["accent"][1], width=0.006 * size)
    star = [
        (
            0.125 + (0.032 if k % 2 == 0 else 0.014) * np.sin(k * np.pi / 5),
            -0.25 - (0.032 if k % 2 == 0 else 0.014) * np.cos(k * np.pi / 5),
        )
        for k in range(10)
    ]
    ink.part(place(star), palette["trim"][0], width=0.004 * size)


def _ribbon(limb: Limb) -> None:
    """A bow on one side of the hair."""
    limb([(0.13, -0.80), (0.22, -0.90), (0.25, -0.79), (0.19, -0.76)], "accent")
    limb([(0.13, -0.79), (0.14, -0.68), (0.21, -0.66), (0.19, -0.76)], "accent")
    limb([(0.145, -0.815), (0.185, -0.80), (0.175, -0.755), (0.14, -0.765)], "trim", 0.005)
