"""Failures of objects and geometry, planted by simulated editors that make exactly these mistakes, and by hand.

Half of the additions are fruits that a simulated editor draws; half are cut out of other pictures, so that the
detectors are not measured on one kind of drawing. Every chain also wears the picture in one of eight ways, by turns.
Truths are steps at which the mistake is made; only for background decay it is the step from which on the rule's own
definition (one and a half times as worn as at the first addition) can hold.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from PIL import Image

from benchmarks.planted import Planted
from benchmarks.planted._pictures import Picture, pictures
from benchmarks.planted._simulated import Step, run
from benchmarks.planted._things import Change, cut_out, places, putter, redrawn
from convergebench.images.frame import Pixels
from convergebench.types import Operation

MODES = (
    "counting",
    "replacement",
    "background-decay",
    "duplicated-objects",
    "aspect-ratio",
    "orientation",
    "monochrome",
    "overconfidence",
)
WEARS: tuple[list[dict[str, Any]], ...] = (
    [],
    [{"kind": "noise", "sigma": 3 / 255}],
    [{"kind": "jpeg", "quality": 50}],
    [{"kind": "tint", "green": 2, "red": -1}],
    [{"kind": "blur", "sigma": 0.6}],
    [{"kind": "wrinkle", "pixels_moved": 1.0}],
    [{"kind": "simplify"}],
    [{"kind": "scatter", "share": 0.002}],
)
HEAVY: tuple[list[dict[str, Any]], ...] = (
    [{"kind": "noise", "sigma": 10 / 255}],
    [{"kind": "jpeg", "quality": 18}],
    [{"kind": "tint", "green": 6, "blue": -4}],
    [{"kind": "blur", "sigma": 1.2}],
    [{"kind": "wrinkle", "pixels_moved": 3.0}],
    [{"kind": "scatter", "share": 0.008}],
)
"""Wear that ruins a picture within a few steps: what `subtle` additions have to be seen in."""
COPY = "Produce an exact replica of the provided image, with no alterations."
APPLE = "Add one more apple to the table. Change nothing else."
MIRROR = "Mirror this image horizontally, so that left and right are swapped. Change nothing else."
TURN = "Rotate this image by 90 degrees clockwise. Change nothing else."
GREY = "Make this image monochrome: pure greyscale, no colour left anywhere. Change nothing else."
OTHERS = 8
"""Pictures that things are cut out of."""
THING = "Add another thing, whichever you like."
BERRIES = ("raspberry", "blueberry", "strawberry", "lychee", "fig")
FRUITS = ("banana", "coconut", "watermelon", "plum", "pear", "orange", "kiwi", "pineapple")


def planted(limit: int, seed: int, half: str = "test") -> Iterator[Planted]:
    """Chains from at most `limit` pictures of a half; each gives a third of the kinds of chains."""
    chosen = pictures(limit, half)
    others = pictures(OTHERS, half)
    for number, picture in enumerate(chosen):
        plot = _Plot(picture, number, seed, others=[one.pixels for one in others if one.name != picture.name])
        parts = ((_copies, _insertions), (_additions,), (_turns, _grey, _claims))
        for make in parts[(number + number // 3) % len(parts)]:  # kinds of pictures come by turns of three, too
            yield from make(plot)


class _Plot:
    """One picture, and the wear and chance that belong to it."""

    def __init__(self, picture: Picture, number: int, seed: int, *, others: list[Pixels]) -> None:
        self.picture = picture
        self.number = number
        self.seed = seed
        self.others = others

    def wear(self, turn: int) -> list[dict[str, Any]]:
        return WEARS[(self.number + turn) % len(WEARS)]

    def chance(self, turn: int) -> np.random.Generator:
        return np.random.default_rng([self.seed, self.number, turn])

    def chain(
        self,
        name: str,
        mode: str,
        steps: list[Step],
        truth: int | None = None,
        *,
        also: tuple[str, ...] = (),
        strength: str = "",
    ) -> Planted:
        view = run(self.picture.name, self.picture.pixels, steps, variant=name, family="planted", seed=self.seed)
        title = f"{mode}/{name}/{self.picture.name}"
        return Planted(title, mode, view, truth, strength, frozenset(also), self.picture.split)


def _step(words: str, operation: Operation, wear: list[dict[str, Any]], **options: Any) -> Step:
    return Step(words, operation, {"wear": wear, **options}, "around" if operation == "add" else "whole")


def _copies(plot: _Plot) -> Iterator[Planted]:
    for turn in (0, 3, 5):
        yield plot.chain(f"copies-{turn}", "clean", [_step(COPY, "replicate", plot.wear(turn)) for _ in range(5)])
    twice = [_step(COPY, "replicate", plot.wear(1), duplicate_at=2) for _ in range(5)]
    yield plot.chain("duplicate", "duplicated-objects", twice, 2, also=("overconfidence",))
    frames: tuple[tuple[str, str, Change], ...] = (
        ("zoom", "subtle", lambda pixels: _zoomed(pixels, 0.03)),
        ("cut", "clear", lambda pixels: pixels[round(0.021 * len(pixels)) :]),
        ("squeeze", "clear", lambda pixels: _resized(pixels, 1.0, 0.97)),
        ("cut-much", "strong", lambda pixels: pixels[:, : round(0.9 * pixels.shape[1])]),
    )
    for turn, (name, strength, cut) in enumerate(frames):
        steps = [_step(COPY, "replicate", plot.wear(turn)) for _ in range(4)]
        steps[turn % 2] = Step(COPY, "replicate", steps[0].options, after=cut)
        yield plot.chain(name, "aspect-ratio", steps, turn % 2 + 1, strength=strength)
    larger = [_step(COPY, "replicate", plot.wear(2)) for _ in range(3)]
    larger[0] = Step(COPY, "replicate", larger[0].options, after=lambda pixels: _resized(pixels, 1.6, 1.6))
    yield plot.chain("larger", "clean", larger)


def _additions(plot: _Plot) -> Iterator[Planted]:
    decays = ("background-decay",)
    good = [_step(APPLE, "add", plot.wear(0), additions="worn") for _ in range(6)]
    yield plot.chain("apples", "clean", good)
    fruits = [_step(_fruit(one), "add", plot.wear(1), additions="worn") for one in FRUITS]
    yield plot.chain("fruits", "clean", fruits)
    stuck = [_step(APPLE, "add", plot.wear(2), skip_from=3, skip_for=2) for _ in range(6)]
    yield plot.chain("stuck", "counting", stuck, 3, also=(*decays, "overconfidence"))
    row = [_step(APPLE, "add", plot.wear(3), row_at=3, row_of=3 + plot.number % 3) for _ in range(4)]
    yield plot.chain("row", "counting", row, 3, also=decays)
    heavy = HEAVY[plot.number % len(HEAVY)]
    yield plot.chain("apples-heavy", "clean", [_step(APPLE, "add", heavy, additions="worn") for _ in range(4)])
    lost = [_step(APPLE, "add", heavy, skip_from=3, skip_for=1) for _ in range(4)]
    yield plot.chain("stuck-heavy", "counting", lost, 3, also=(*decays, "overconfidence"), strength="subtle")
    berries = [_step(_fruit(one), "add", plot.wear(6), additions="worn") for one in BERRIES]
    yield plot.chain("berries", "clean", berries)
    pair = [_step(_fruit(one), "add", plot.wear(7), row_at=2, row_of=2) for one in BERRIES[:3]]
    yield plot.chain("pair-of-berries", "counting", pair, 2, also=decays, strength="subtle")
    unknown = [_step(APPLE, "add", plot.wear(4)) for _ in range(4)]
    unknown[1] = _step("Add a rambutan to the table.", "add", plot.wear(4))
    yield plot.chain("unknown-fruit", "counting", unknown, 2, also=decays)
    replaced = [_step(_fruit(one), "add", plot.wear(5), replace_every=3) for one in FRUITS[:6]]
    yield plot.chain("replaced", "replacement", replaced, 3, also=decays)
    grainy = [_step(APPLE, "add", [{"kind": "noise", "sigma": 3 / 255}]) for _ in range(7)]
    yield plot.chain("grainy", "background-decay", grainy, 3)
    soft = [_step(_fruit(one), "add", [{"kind": "blur", "sigma": 0.9}], additions="fresh") for one in FRUITS]
    yield plot.chain("soft", "background-decay", soft, 4)


def _insertions(plot: _Plot) -> Iterator[Planted]:
    """Things cut out of other pictures, put by hand where there is room."""
    kinds: tuple[tuple[str, str, int | None, bool], ...] = (
        ("cut-outs", "clean", None, False),
        ("cut-out-missing", "counting", 4, False),
        ("cut-out-replaced", "replacement", 4, False),
        ("redrawn", "clean", None, True),
        ("redrawn-missing", "counting", 4, True),
        ("redrawn-replaced", "replacement", 4, True),
    )
    for turn, (name, mode, truth, anew) in enumerate(kinds):
        chance = plot.chance(turn)
        free = places(chance, 5)
        things = [cut_out(plot.others, chance) for _ in range(6)]
        spots = [*free[:3], free[1] if mode == "replacement" else free[3], free[4]]
        steps = []
        for index, spot in enumerate(spots, start=1):
            missing = mode == "counting" and index == truth
            # what is replaced goes: its place is put back to what the source shows there first
            bare = plot.picture.pixels if mode == "replacement" and index == truth else None
            put = (lambda pixels: pixels) if missing else putter(things[index], spot, bare)
            after = redrawn(put, int(chance.integers(1 << 30))) if anew else put
            steps.append(Step(THING, "add", {"wear": plot.wear(turn)}, "around", after))
        strength = "subtle" if anew and truth else ""
        yield plot.chain(name, mode, steps, truth, also=("background-decay", "overconfidence"), strength=strength)


def _turns(plot: _Plot) -> Iterator[Planted]:
    for turn, (words, operation) in enumerate(((MIRROR, "flip-horizontal"), (TURN, "rotate-90"))):
        done = [_step(words, operation, plot.wear(turn)) for _ in range(5)]  # type: ignore[arg-type]
        yield plot.chain(f"{operation}-done", "clean", done)
        undone = list(done)
        undone[2] = _step(words, operation, plot.wear(turn), unturned=1)  # type: ignore[arg-type]
        yield plot.chain(f"{operation}-undone", "orientation", undone, 3, also=("overconfidence", "duplicated-objects"))
        wrong = list(done)
        wrong[1] = _step(words, operation, plot.wear(turn + 2), wrong_turn=1)  # type: ignore[arg-type]
        yield plot.chain(f"{operation}-wrong", "orientation", wrong, 2, also=("overconfidence", "duplicated-objects"))


def _grey(plot: _Plot) -> Iterator[Planted]:
    # a wear that tints leaves a tint, which is what the detector is there to find
    wears = [wear for wear in (plot.wear(0), plot.wear(1)) if not any(one["kind"] == "tint" for one in wear)]
    if not _is_colourful(plot.picture.pixels):
        return  # a photograph without colour has none that could be left
    done = [Step(GREY, "monochrome", {"wear": wear}, "no") for wear in wears]
    yield plot.chain("grey", "clean", done)
    for rest, strength in ((0.12, "subtle"), (0.2, "clear"), (0.4, "strong")):
        left = [Step(GREY, "monochrome", {"wear": plot.wear(2), "colour_rest": rest}, "no")]
        yield plot.chain(f"rest-{rest}", "monochrome", left, 1, strength=strength, also=("overconfidence",))
    sepia = [Step(GREY, "monochrome", {"wear": plot.wear(4)}, "no", _sepia)]
    yield plot.chain("sepia", "monochrome", sepia, 1, strength="clear", also=("overconfidence",))


def _claims(plot: _Plot) -> Iterator[Planted]:
    """Summaries say what the editor believes; the picture says otherwise."""
    stuck = [_step(APPLE, "add", plot.wear(6), skip_from=2, skip_for=1) for _ in range(3)]
    yield plot.chain("claims-apple", "overconfidence", stuck, 2, also=("counting", "background-decay"))
    undone = [_step(MIRROR, "flip-horizontal", plot.wear(7), unturned=1) for _ in range(2)]
    yield plot.chain("claims-mirror", "overconfidence", undone, 1, also=("orientation", "duplicated-objects"))
    if _is_colourful(plot.picture.pixels):
        grey = [Step(GREY, "monochrome", {"wear": plot.wear(1), "colour_rest": 0.4}, "no")]
        yield plot.chain("claims-grey", "overconfidence", grey, 1, also=("monochrome",))
    far = [_step(COPY, "replicate", plot.wear(3)) for _ in range(3)]
    far[1] = Step(COPY, "replicate", far[0].options, after=lambda pixels: _darkened(pixels))
    yield plot.chain("claims-copy", "overconfidence", far, 2, also=("duplicated-objects",))


def _is_colourful(pixels: Pixels) -> bool:
    """Whether red, green and blue differ by 10 levels on average."""
    return float((pixels.max(axis=-1).astype(np.int16) - pixels.min(axis=-1)).mean()) > 10


def _fruit(name: str) -> str:
    return f"Add a {name} to the table. Keep everything that is already there and change nothing else."


def _resized(pixels: Pixels, across: float, down: float) -> Pixels:
    size = round(pixels.shape[1] * across), round(pixels.shape[0] * down)
    return np.asarray(Image.fromarray(pixels).resize(size, Image.Resampling.LANCZOS), np.uint8)


def _zoomed(pixels: Pixels, share: float) -> Pixels:
    """A little closer, in the same size."""
    height, width = pixels.shape[:2]
    down, across = round(share * height / 2), round(share * width / 2)
    inner = Image.fromarray(pixels[down : height - down, across : width - across])
    return np.asarray(inner.resize((width, height), Image.Resampling.LANCZOS), np.uint8)


def _sepia(pixels: Pixels) -> Pixels:
    return np.asarray(np.clip(pixels * np.array([1.05, 0.98, 0.86]), 0, 255), np.uint8)


def _darkened(pixels: Pixels) -> Pixels:
    """Half the light, and static on top: nothing anyone would call a copy."""
    static = np.random.default_rng(5).normal(0, 24, pixels.shape)
    return np.asarray(np.clip(pixels * 0.5 + static, 0, 255), np.uint8)
