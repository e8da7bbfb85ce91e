"""Restorations that invent something, and honest ones, of photographs degraded by the project's own degradations.

Each picture is degraded in three ways, so that eight pictures meet every degradation three times. Honest results are
the clean picture itself, as if a perfect restorer had made it, and two of seven restorers. Planted ones are the clean
picture or a restorer's result with something put in, in the strengths subtle, clear and strong. Makes, strengths and
restorers take turns; whether a restorer's result is changed, and whether the chain knows the clean picture, is drawn. A
grey picture's perfect restoration is grey, unless the clean picture is known: whoever does not know the colours can
only invent them.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from functools import cache, partial
from typing import NamedTuple

import cv2
import numpy as np

from benchmarks.planted import Planted
from benchmarks.planted._inventions import (
    Chance,
    Maker,
    bent_shape,
    foreign_thing,
    grain_texture,
    hair_texture,
    letters,
    lines,
    painted_colours,
    painted_thing,
    scale_texture,
)
from benchmarks.planted._pictures import Picture, pictures
from benchmarks.planted._restorers import RESTORERS
from convergebench.degradations import load_degradation
from convergebench.failures.base import ChainView, StepView
from convergebench.images.frame import Frame, Pixels

MODES = (
    *("structure-change", "invented-edges", "invented-texture", "colour-on-grey"),
    *("lost-object", "new-object", "aspect-ratio"),
)
"""The detectors that are measured; of the last three only false alarms."""
DEGRADATIONS = (
    *("defocus-blur", "motion-blur", "digital-zoom", "old-film", "old-photo-grey", "old-photo-colour"),
    *("surveillance", "mixed"),
)
EACH = 3
"""Degradations per picture."""
STRENGTHS = ("subtle", "clear", "strong")
PERFECT = "perfect"
DONORS = 24
FINE = "invented-texture"
BRINGS = {
    "foreign": frozenset({"invented-edges", FINE, "lost-object", "new-object"}),
    "bent": frozenset({"invented-edges", FINE, "lost-object", "new-object"}),
    "lines": frozenset({"structure-change", FINE}),
    "letters": frozenset({"structure-change", FINE}),
    "grain": frozenset({"invented-edges"}),
    "hair": frozenset({"invented-edges"}),
    "scales": frozenset({"invented-edges"}),
}
"""What an invention is as well: a thing put in has edges, texture of ten levels is made of them."""


class _Case(NamedTuple):
    """One degraded picture, by its place in the turns."""

    picture: Picture
    degradation: str
    given: Pixels
    turn: int
    seed: int

    @property
    def grey(self) -> bool:
        return bool((self.given == self.given[..., :1]).all())

    def chance(self, *words: object) -> Chance:
        parts = (self.picture.name, self.degradation, *words)
        return np.random.default_rng([self.seed, *(zlib.crc32(str(part).encode()) for part in parts)])

    def name(self, *words: str) -> str:
        return "/".join((*words, self.degradation, self.picture.name))

    def chain(self, name: str, result: Pixels, *, clean: bool) -> ChainView:
        steps = [StepView(0, partial(Frame, self.given)), StepView(1, partial(Frame, result), "Restore this picture.")]
        load = partial(Frame, np.ascontiguousarray(self.picture.pixels)) if clean else None
        return ChainView("planted", name, self.picture.name, "LF3", "LF", steps, restores=True, load_clean=load)

    def perfect(self, *, clean: bool) -> Pixels:
        """What a perfect restorer gives."""
        pixels = np.ascontiguousarray(self.picture.pixels)
        if not self.grey or clean:
            return pixels
        return np.asarray(cv2.cvtColor(cv2.cvtColor(pixels, cv2.COLOR_RGB2GRAY), cv2.COLOR_GRAY2RGB), np.uint8)

    def restored(self, offset: int) -> tuple[str, Pixels] | None:
        """What the restorer whose turn it is makes of it; None where its weights are not here."""
        name = list(RESTORERS)[(self.turn + offset) % len(RESTORERS)]
        pixels = RESTORERS[name](np.ascontiguousarray(self.given))
        return None if pixels is None else (name, pixels)


def planted(limit: int, seed: int, half: str = "test") -> Iterator[Planted]:
    """Every chain of `limit` pictures of a half."""
    for number, picture in enumerate(pictures(limit, half)):
        for place in range(EACH):
            turn = number * EACH + place
            name = DEGRADATIONS[turn % len(DEGRADATIONS)]
            given = load_degradation(name)(np.ascontiguousarray(picture.pixels), seed=seed * 10_000 + turn)
            case = _Case(picture, name, given, turn, seed)
            yield from _honest(case)
            yield from _invented(case, half)


def _honest(case: _Case) -> Iterator[Planted]:
    for clean in (False, True):
        name = case.name("honest", PERFECT, "with-clean" if clean else "alone")
        yield Planted(name, "clean", case.chain(name, case.perfect(clean=clean), clean=clean), split=case.picture.split)
    for offset in (0, 3):
        found = case.restored(offset)
        if found is not None:
            name = case.name("honest", found[0])
            chain = case.chain(name, found[1], clean=bool((case.turn + offset) % 2))
            yield Planted(name, "clean", chain, split=case.picture.split)
    if case.grey:
        name = case.name("honest", "toned")
        toned = np.clip(case.perfect(clean=False) * np.array([1.06, 0.97, 0.8]), 0, 255).astype(np.uint8)
        yield Planted(name, "clean", case.chain(name, toned, clean=False), split=case.picture.split)


def _invented(case: _Case, half: str) -> Iterator[Planted]:
    restored = case.restored(case.turn // 2)
    for place, (mode, word, make) in enumerate(_makers(case, half)):
        strength = (case.turn + case.turn // 3 + place) % len(STRENGTHS)
        clean, by_restorer = (bool(each) for each in case.chance(word, "choices").integers(2, size=2))
        start, base = PERFECT, case.perfect(clean=clean and mode != "colour-on-grey")  # colours come on what is grey
        if restored is not None and by_restorer:
            start, base = restored
        changed = make(base, strength, case.chance(word))
        if changed is None:
            continue
        name = case.name(mode, STRENGTHS[strength], word, f"{start}{'-with-clean' if clean else ''}")
        yield Planted(
            *(name, mode, case.chain(name, changed.pixels, clean=clean), 1, STRENGTHS[strength]),
            also=BRINGS.get(word, frozenset()),
            split=case.picture.split,
        )


def _makers(case: _Case, half: str) -> list[tuple[str, str, Maker]]:
    """Mode, word and maker of what is put into this case."""
    texture = (("grain", grain_texture), ("hair", hair_texture), ("scales", scale_texture))[case.turn % 3]
    drawn = (("lines", lines), ("letters", letters))[(case.turn + case.turn // len(DEGRADATIONS)) % 2]
    found: list[tuple[str, str, Maker]] = [
        ("structure-change", "foreign", foreign_thing(_donors(half, case.picture.name))),
        ("structure-change", "bent", bent_shape),
        ("invented-edges", *drawn),
        ("invented-texture", *texture),
    ]
    if case.grey:
        found += [("colour-on-grey", "colours", painted_colours), ("colour-on-grey", "thing", painted_thing)]
    return found


@cache
def _donors(half: str, without: str) -> tuple[Pixels, ...]:
    return tuple(one.pixels for one in pictures(DONORS, half) if one.name != without)
