"""A drawn head: face, four-coloured eyes, hair. Used alone in a grid and on a standing figure.

Head coordinates: the face's middle is the origin, half its width about 0.85, y down.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from convergebench.images.pictures.colour import hsv
from convergebench.images.pictures.ink import Colour, Ink, Placement, rgb, smooth
from convergebench.images.pictures.sheet import Plane

SKINS = (("ffe3d0", "f2b9a0"), ("f8d0b0", "dd9f7c"), ("e2ab80", "bd7b55"), ("b97a52", "8c5236"), ("8a5638", "633823"))
MOODS = ("calm", "smile", "open", "pout", "grin")


@dataclass(frozen=True)
class Visage:
    """One drawn person."""

    skin: Colour
    skin_shade: Colour
    hair: Colour
    hair_shade: Colour
    hair_light: Colour
    left_eye: tuple[Colour, ...]
    right_eye: tuple[Colour, ...]
    style: int
    mood: str
    look: float
    """Where the face is turned, −1…1."""

    @staticmethod
    def drawn(rng: np.random.Generator, *, odd_eyes: bool = False) -> Visage:
        """A person by chance."""
        skin = SKINS[rng.integers(len(SKINS))]
        hue, depth, value = rng.random(), rng.uniform(0.25, 0.7), rng.uniform(0.35, 0.95)
        eyes = _gradient(rng)
        return Visage(
            _code(skin[0]),
            _code(skin[1]),
            rgb(hsv(hue, depth, value)),
            rgb(hsv(hue + 0.03, min(1.0, depth + 0.12), value * 0.72)),
            rgb(hsv(hue - 0.03, depth * 0.6, min(1.0, value * 1.25))),
            eyes,
            _gradient(rng) if odd_eyes else eyes,
            int(rng.integers(4)),
            str(rng.choice(MOODS)),
            float(rng.uniform(-0.8, 0.8)),
        )


def _code(text: str) -> Colour:
    return int(text[:2], 16), int(text[2:4], 16), int(text[4:], 16)


def _gradient(rng: np.random.Generator) -> tuple[Colour, ...]:
    """Four colours from the top of the iris to its foot."""
    hue, step = rng.random(), float(rng.choice([-1, 1]) * rng.uniform(0.10, 0.2))
    values = ((0.85, 0.35), (0.8, 0.65), (0.7, 0.9), (0.45, 1.0))
    return tuple(rgb(hsv(hue + step * k, s, v)) for k, (s, v) in enumerate(values))


class At(Protocol):
    """Head coordinates to the sheet; `depth` is how far in front of the head's middle a part lies."""

    def __call__(self, points: list[tuple[float, float]] | Plane, depth: float = 1.0) -> Plane:
        """Sheet points."""
        ...


def _turned(person: Visage, place: Placement) -> At:
    turn = person.look

    def at(points: list[tuple[float, float]] | Plane, depth: float = 1.0) -> Plane:
        flat = np.array(points, dtype=np.float64)
        flat[:, 0] = flat[:, 0] * (1 - 0.10 * abs(turn)) + 0.20 * turn * depth
        return place(flat)

    return at


def draw_back_hair(ink: Ink, person: Visage, place: Placement) -> None:
    """The hair that falls behind neck and shoulders; draw it before them."""
    _back_hair(ink, person, _turned(person, place), 0.022 * place.scale)


def draw_visage(ink: Ink, person: Visage, place: Placement, rng: np.random.Generator) -> None:
    """The head, back to front, without the hair behind it."""
    at = _turned(person, place)
    thin = 0.022 * place.scale
    for side in (-1, 1):
        ear = [(side * 0.80, 0.10), (side * 0.98, 0.0), (side * 0.97, 0.26), (side * 0.80, 0.42)]
        ink.part(smooth(at(ear, 0.2)), person.skin, shade=person.skin_shade, width=thin)
    face = [
        (-0.84, -0.45),
        (-0.85, 0.1),
        (-0.72, 0.52),
        (-0.34, 0.93),
        (0.0, 1.06),
        (0.34, 0.93),
        (0.72, 0.52),
        (0.85, 0.1),
        (0.84, -0.45),
        (0.0, -0.95),
    ]
    ink.part(
        smooth(at(face, 0.6)),
        person.skin,
        shade=person.skin_shade,
        fall=(-0.10 * place.scale, -0.06 * place.scale),
        width=thin,
    )
    shadow = [(-0.84, -0.5), (-0.8, -0.12), (-0.4, -0.22), (0.0, -0.12), (0.4, -0.22), (0.8, -0.12), (0.84, -0.5)]
    ink.fill(smooth(at(shadow, 0.7)), person.skin_shade)
    for side in (-1, 1):
        blush = _oval((side * 0.52, 0.50), (0.17, 0.085))
        window = ink.window(at(blush, 1.0))
        if window is not None:
            ink.blend(window, (240, 130, 120), ink.mask(at(blush, 1.0), window) * 0.35)
    _eye(ink, at, place, -1, person.left_eye)
    _eye(ink, at, place, 1, person.right_eye)
    _brows_and_mouth(ink, person, at, thin)
    _front_hair(ink, person, at, thin, rng)


def _oval(centre: tuple[float, float], radii: tuple[float, float]) -> Plane:
    angle = np.linspace(0, 2 * np.pi, 40, endpoint=False)
    return np.stack([centre[0] + radii[0] * np.cos(angle), centre[1] + radii[1] * np.sin(angle)], axis=1)


def _eye(ink: Ink, at: At, place: Placement, side: int, colours: tuple[Colour, ...]) -> None:
    """White, iris in four running colours, pupil, two lights, upper lash."""
    x = side * 0.40
    white = [
        (x - 0.23, 0.16),
        (x - 0.18, -0.06),
        (x, -0.13),
        (x + 0.18, -0.06),
        (x + 0.23, 0.16),
        (x + 0.12, 0.33),
        (x - 0.12, 0.33),
    ]
    outline = smooth(at(white))
    ink.fill(outline, (250, 248, 246))
    iris = at(_oval((x + 0.01, 0.12), (0.165, 0.225)))
    window = ink.window(np.concatenate([iris, outline]))
    if window is not None:
        rows = window[0].stop - window[0].start
        top, low = iris[:, 1].min(), iris[:, 1].max()
        unit = ink.sheet.unit * ink.fine
        height = ((np.arange(rows) + window[0].start + 0.5) / unit - ink.sheet.bottom - top) / (low - top)
        stops = np.array(colours, dtype=np.float64)
        tone = np.stack([np.interp(height, (0.08, 0.38, 0.66, 0.95), stops[:, c]) for c in range(3)], axis=1)
        inside = ink.mask(outline, window)
        ink.blend(window, (30, 22, 40), ink.mask(iris, window) * inside)
        inner = at(_oval((x + 0.01, 0.12), (0.145, 0.205)))
        cols = window[1].stop - window[1].start
        ink.blend(window, np.repeat(tone[:, None, :], cols, axis=1), ink.mask(inner, window) * inside)
        pupil = at(_oval((x + 0.01, 0.11), (0.06, 0.10)))
        ink.blend(window, (24, 16, 34), ink.mask(pupil, window) * inside)
        lid = at([(x - 0.26, -0.16), (x + 0.26, -0.16), (x + 0.25, 0.02), (x, -0.03), (x - 0.25, 0.02)])
        ink.blend(window, (60, 40, 80), ink.mask(lid, window) * inside * 0.35)
    ink.fill(at(_oval((x - 0.05, 0.03), (0.05, 0.062))), (255, 255, 255))
    ink.fill(at(_oval((x + 0.07, 0.24), (0.028, 0.03))), (255, 255, 255))
    out = 0.07 * side
    lash = [
        (x - 0.25 + min(0, out), 0.12),
        (x - 0.20, -0.10),
        (x, -0.18),
        (x + 0.20, -0.10),
        (x + 0.25 + max(0, out), 0.12),
        (x + 0.18, -0.05),
        (x, -0.115),
        (x - 0.18, -0.05),
    ]
    ink.fill(smooth(at(lash), steps=6), ink.line_colour)
    ink.line(smooth(at([(x - 0.13, 0.345), (x, 0.365), (x + 0.13, 0.345)]), closed=False), 0.02 * place.scale)


def _brows_and_mouth(ink: Ink, person: Visage, at: At, thin: float) -> None:
    lift = {"calm": 0.0, "smile": -0.02, "open": -0.07, "pout": 0.04, "grin": -0.03}[person.mood]
    for side in (-1, 1):
        slant = 0.05 if person.mood == "pout" else -0.02
        brow = [(side * 0.20, -0.27 + lift + slant), (side * 0.42, -0.35 + lift), (side * 0.62, -0.28 + lift - slant)]
        ink.line(smooth(at(brow), closed=False), thin * 1.7, person.hair_shade)
    ink.line(at([(0.03, 0.42), (0.055, 0.50), (0.0, 0.52)], 1.3), thin * 0.8, person.skin_shade)
    if person.mood in ("open", "grin"):
        tall = 0.13 if person.mood == "open" else 0.09
        mouth = [(-0.14, 0.68), (0.0, 0.70), (0.14, 0.68), (0.07, 0.70 + tall), (-0.07, 0.70 + tall)]
        ink.part(smooth(at(mouth, 1.1)), (150, 50, 60), width=thin)
        ink.fill(
            smooth(at([(-0.06, 0.76), (0.06, 0.76), (0.04, 0.70 + tall), (-0.04, 0.70 + tall)], 1.1)), (235, 120, 120)
        )
        return
    curve = {"calm": 0.01, "smile": 0.06, "pout": -0.04}[person.mood]
    ink.line(smooth(at([(-0.14, 0.72), (0.0, 0.72 + curve), (0.14, 0.72)], 1.1), closed=False), thin * 1.1)


def _back_hair(ink: Ink, person: Visage, at: At, thin: float) -> None:
    reach = (0.95, 1.75, 1.25, 0.6)[person.style]
    back = [
        (-1.02, -0.2),
        (-1.12, reach * 0.6),
        (-0.82, reach),
        (-0.3, reach * 0.85),
        (0.3, reach * 0.85),
        (0.82, reach),
        (1.12, reach * 0.6),
        (1.02, -0.2),
        (0.75, -1.0),
        (0.0, -1.28),
        (-0.75, -1.0),
    ]
    ink.part(smooth(at(back, 0.1)), person.hair_shade, width=thin)
    if person.style == 2:
        for side in (-1, 1):
            tail = [
                (side * 0.9, -0.75),
                (side * 1.45, -0.55),
                (side * 1.62, 0.5),
                (side * 1.35, 1.35),
                (side * 1.25, 0.5),
                (side * 1.0, -0.2),
            ]
            ink.part(smooth(at(tail, 0.1)), person.hair, shade=person.hair_shade, width=thin)


def _front_hair(ink: Ink, person: Visage, at: At, thin: float, rng: np.random.Generator) -> None:
    """Crown and fringe in pointed locks, with a band of light."""
    tips = [
        (-0.98, 0.35 + 0.3 * (person.style in (0, 3))),
        (-0.72, 0.02),
        (-0.50, -0.06),
        (-0.2, 0.0),
        (0.08, -0.1),
        (0.36, 0.02),
        (0.62, -0.08),
        (0.95, 0.42),
    ]
    outline: list[tuple[float, float]] = [(-1.02, -0.15)]
    for number, (x, y) in enumerate(tips):
        outline.append((x, y + float(rng.uniform(-0.07, 0.07))))
        if number < len(tips) - 1:
            outline.append(
                (
                    (x + tips[number + 1][0]) / 2 + float(rng.uniform(-0.05, 0.05)),
                    -0.42 + float(rng.uniform(-0.1, 0.06)),
                )
            )
    outline += [(1.02, -0.15), (0.93, -0.72), (0.5, -1.15), (0.0, -1.3), (-0.5, -1.15), (-0.93, -0.72)]
    curve = smooth(at(outline, 0.75), steps=5)
    ink.part(curve, person.hair, shade=person.hair_shade, fall=(-3.0 * thin, -1.5 * thin), width=thin)
    window = ink.window(curve)
    if window is not None:
        band = [
            (-0.85, -0.62),
            (-0.5, -0.80),
            (0.0, -0.86),
            (0.5, -0.80),
            (0.85, -0.62),
            (0.62, -0.62),
            (0.42, -0.70),
            (0.25, -0.62),
            (0.0, -0.72),
            (-0.25, -0.62),
            (-0.45, -0.70),
            (-0.62, -0.60),
        ]
        ink.blend(
            window, person.hair_light, ink.mask(smooth(at(band, 0.75), steps=4), window) * ink.mask(curve, window)
        )
    for x in (-0.45, -0.1, 0.3, 0.6):
        lock = [(x * 0.6, -1.1), (x * 0.95, -0.75), (x, -0.42)]
        ink.line(smooth(at(lock, 0.75), closed=False), thin * 0.7, person.hair_shade)
