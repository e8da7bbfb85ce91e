"""The face's surface: skin, lips, lids, and the eyes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from convergebench.images.pictures.colour import linear, mix, smoothstep
from convergebench.images.pictures.head import EYE_X, Features, almond
from convergebench.images.pictures.material import fill
from convergebench.images.pictures.sheet import Colours, Plane
from convergebench.images.pictures.solid import length2
from convergebench.images.pictures.texture import Texture, clouds, speckles
from convergebench.images.pictures.world import Hit, Surface

TONES = ("f0c8ac", "e8b795", "d9a07a", "c68863", "a86c48", "8d5636", "6e4029")
IRISES = ("3f6f8f", "5a7d4a", "6b4423", "3d2817", "7a6a3a", "4f8088")
Place = tuple[Plane, Plane, Plane]


@dataclass(frozen=True)
class Complexion:
    """Colours of one person's skin and eyes, and the fine texture of the skin."""

    tone: Plane
    lips: Plane
    iris: Plane
    rosy: float
    freckled: float
    blotches: Texture
    pores: Texture
    spots: Texture

    @staticmethod
    def drawn(rng: np.random.Generator) -> Complexion:
        """A person by chance."""
        tone = linear(TONES[rng.integers(len(TONES))])
        lips = tone * np.array([0.78, 0.42, 0.44], dtype=np.float32) * np.float32(rng.uniform(0.85, 1.1))
        fair = float(np.clip((tone[1] - 0.25) / 0.35, 0, 1))
        return Complexion(
            tone,
            lips,
            linear(IRISES[rng.integers(len(IRISES))]),
            rosy=float(rng.uniform(0.3, 0.9)) * (0.5 + 0.5 * fair),
            freckled=float(rng.random() < 0.35) * fair * float(rng.uniform(0.3, 0.8)),
            blotches=clouds(rng, knots=(3, 3), octaves=5, gain=0.6),
            pores=clouds(rng, knots=(90, 90), octaves=3, gain=0.9),
            spots=speckles(rng, count=420, radius=(0.002, 0.006)),
        )

    def surface(self, f: Features, hit: Hit, place: Place) -> Surface:
        """Skin with blush, lips, lid lines and pores."""
        x, y, _ = place
        a = np.abs(x)
        uneven = self.blotches(x * 0.3, y * 0.3, hit.wide)
        fine = self.pores(x * 0.55, y * 0.55, hit.wide * 1.3)
        colour = fill(self.tone, hit.count) * (1 + 0.07 * uneven + 0.05 * fine)
        warm = fill(self.tone * np.array([1.0, 0.62, 0.58], dtype=np.float32), 1)
        blush = 0.55 * np.exp(-np.square((a - 0.5) / 0.24) - np.square((y + 0.42) / 0.2))
        blush += 0.6 * np.exp(-np.square(x / 0.16) - np.square((y + 0.53) / 0.14))
        blush += 0.5 * np.exp(-np.square((a - 1.0) / 0.2) - np.square((y + 0.05) / 0.4))
        blush += 0.25 * np.exp(-np.square(x / 0.3) - np.square((y + 1.2) / 0.12))
        colour = mix(colour, warm, np.clip(blush * self.rosy, 0, 1))
        if self.freckled:
            field = np.exp(-np.square(a / 0.75) - np.square((y + 0.32) / 0.26))
            dots = self.spots(x * 0.5, y * 0.5, hit.wide) * field * np.float32(self.freckled)
            colour = mix(colour, fill(self.tone * np.array([0.62, 0.45, 0.36], dtype=np.float32), 1), dots)
        colour = self._lids(f, colour, a, y)
        colour, moist = self._lips(f, colour, x, y, fine)
        nostril = length2((a - 0.082) / 1.25, y + 0.615 + 0.04 * f.nose_length)
        colour = colour * (1 - 0.75 * smoothstep(0.05, 0.012, nostril))
        oily = np.exp(-np.square(x / 0.22) - np.square((y + 0.2) / 0.5)) + np.exp(-np.square((y - 0.6) / 0.3))
        n = hit.normal
        grain = np.float32(0.045)
        bump = (n[0] + grain * fine, n[1] + grain * self.pores(x * 0.55 + 0.37, y * 0.55, hit.wide * 1.3), n[2])
        rough = 0.52 - 0.08 * np.clip(oily, 0, 1) - 0.12 * moist
        return Surface(colour, gloss=0.028 - 0.004 * moist, rough=rough, soft=0.85, bump=bump)

    def _lids(self, f: Features, colour: Colours, a: Plane, y: Plane) -> Colours:
        edge = almond(f, a, y)
        above = smoothstep(-0.03, 0.03, y - 0.02 - (a - EYE_X) * 0.07)
        crease = np.exp(-np.square((edge - 0.062) / 0.011)) * above * 0.5
        shadow = np.exp(-np.square(np.maximum(edge, 0) / 0.10)) * (0.28 + 0.12 * above)
        rim = smoothstep(0.014, 0.002, edge)
        near = smoothstep(0.30, 0.22, np.abs(a - EYE_X))
        dark = fill(self.tone * np.array([0.45, 0.32, 0.30], dtype=np.float32), 1)
        colour = mix(colour, dark, np.clip((crease + shadow) * near, 0, 0.85))
        pink = fill(self.tone * np.array([0.95, 0.62, 0.58], dtype=np.float32), 1)
        return mix(colour, pink, rim * (1 - above))

    def _lips(self, f: Features, colour: Colours, x: Plane, y: Plane, fine: Plane) -> tuple[Colours, Plane]:
        t = np.clip(1 - np.square(x / f.mouth_width), 0, 1)
        full = 1.15 + 0.22 * f.lips
        lift = y - f.mouth_line(x)
        bow = 1 - 0.28 * np.exp(-np.square(x / 0.05)) + 0.10 * np.exp(-np.square((np.abs(x) - 0.1) / 0.06))
        top, low = 0.088 * full * t**0.8 * bow, -0.125 * full * t**0.65
        inside = smoothstep(0.012, -0.012, np.maximum(lift - top, low - lift)) * smoothstep(0.0, 0.06, t)
        crack = 1 + 0.10 * np.sin(x * 95 + 6 * fine)
        upper = np.where(lift > 0, np.float32(0.84), np.float32(1.05))
        colour = mix(colour, fill(self.lips, 1) * (crack * upper), inside * 0.9)
        seam = np.exp(-np.square(lift / 0.012)) * smoothstep(0.0, 0.12, t)
        return colour * (1 - 0.72 * seam), inside

    def eye(self, f: Features, hit: Hit, place: Place, gaze: tuple[float, float]) -> Surface:
        """Eyeball: white with veins, iris with fibres, pupil, wet shine, the lid's shadow."""
        x, y, _ = place
        a = np.abs(x)
        side = np.sign(x)
        u, v = x - side * EYE_X - gaze[0], y - gaze[1] - 0.012
        radius = length2(u, v)
        angle = np.arctan2(v, u)
        iris_radius = 0.114
        fibres = 0.5 + 0.5 * np.sin(angle * 46 + 5 * self.blotches(angle * 0.3, radius * 4)) * smoothstep(
            0.03, 0.07, radius
        )
        t = radius / iris_radius
        inner = mix(
            fill(self.iris * np.float32(1.6), 1), fill(self.iris * np.float32(0.55), 1), smoothstep(0.35, 1.0, t)
        )
        inner = inner * (0.62 + 0.62 * fibres) + fill(self.iris, 1) * (0.9 * smoothstep(0.15, -0.9, v / iris_radius))
        amber = np.exp(-np.square((t - 0.42) / 0.14)) * 0.5
        inner = mix(inner, fill(linear("8a5a20"), 1), amber * 0.5)
        inner = inner * (1 - 0.8 * smoothstep(0.80, 1.0, t))
        inner = inner * smoothstep(0.34, 0.42, t)
        white = fill(linear("e9e2dc"), 1) * (1 - 0.5 * smoothstep(0.12, 0.24, np.abs(a - EYE_X)))
        white = mix(white, fill(linear("d08d80"), 1), 0.5 * smoothstep(0.13, 0.22, EYE_X - a))
        colour = mix(white, inner, smoothstep(1.04, 0.96, t))
        edge = almond(f, a, y)
        above = smoothstep(-0.02, 0.05, y)
        lid = 0.62 * np.exp(edge / 0.045) * above + 0.3 * np.exp(edge / 0.02)
        colour = colour * (1 - np.clip(lid, 0, 0.9))
        return Surface(colour, gloss=0.035, rough=0.1, glow=self._glint(u, v, gaze))

    def _glint(self, u: Plane, v: Plane, gaze: tuple[float, float]) -> Colours:
        """The window's reflection on the wet eye, the same side in both."""
        px, py = u + 0.035, v - 0.042
        box = np.maximum(np.abs(px) / 1.0, np.abs(py) / 1.15)
        strong = smoothstep(0.027, 0.019, box)
        low = 0.25 * smoothstep(0.03, 0.0, length2(u - 0.04, v + 0.055))
        return fill(np.array([1.0, 1.0, 1.02]), 1) * (1.5 * strong + 0.35 * low)
