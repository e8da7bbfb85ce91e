"""How often `happened` and `undone` are wrong on photographs, on edits whose truth is known.

python -m benchmarks.adherence [--limit N] [--half test|development] [--seed S] [--json FILE]

Each photograph is edited by hand: a thing cut out of another photograph is put in, at one of three sizes; an area is
given another colour; or nothing is done. Some edits are done by half (a thing half transparent). Then the whole picture
wears as editors wear it: not at all, JPEG, noise, a tint, blur, outlines and light that move a little everywhere, and
(where their weights are there) one of two learned autoencoders, by turns of the photographs, which draws every pixel
anew. Undoing is done, half done or not done, under the same wear. A value above 0.5 is a yes, as in the analysis.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from functools import cache, partial
from pathlib import Path
from statistics import median

import cv2
import numpy as np

from benchmarks.failures import rate
from benchmarks.planted._damage import compressed
from benchmarks.planted._pictures import Picture, pictures
from benchmarks.planted._things import cut_out, putter, redrawn
from convergebench.editors.find import make_editor
from convergebench.errors import ConvergeBenchError, Unmeasurable
from convergebench.images.decode import decode
from convergebench.images.encode import encode_png
from convergebench.images.frame import Frame, Pixels
from convergebench.metrics.adherence.happened import happened
from convergebench.metrics.adherence.undone import undone
from convergebench.metrics.base import Item
from convergebench.types import EditRequest, Operation

DONE = 0.5
SIZES = {"small": 0.11, "middle": 0.19, "large": 0.34}
"""Size of the thing, as a share of the picture's shorter side."""
LEARNED = ("taesd", "taef1")
OTHERS = 6
LONGEST = 384

Wear = Callable[[Pixels], Pixels]


@dataclass(frozen=True)
class Reading:
    """One value whose truth is known."""

    metric: str
    edit: str
    wear: str
    truth: str
    """`yes`, `half` or `no`."""
    value: float | None
    picture: str

    @property
    def yes(self) -> bool:
        """What the analysis makes of it; nothing to undo is a no."""
        return self.value is not None and self.value > DONE


def _noisy(seed: int, pixels: Pixels) -> Pixels:
    return _whole(pixels + np.random.default_rng(seed).normal(0, 6, pixels.shape))


def _tinted(pixels: Pixels) -> Pixels:
    return _whole(pixels * np.array([0.94, 1.03, 0.95]) + np.array([0, 3, 6]))


def _whole(values: np.ndarray[tuple[int, ...], np.dtype[np.float64]]) -> Pixels:
    return np.asarray(np.clip(np.rint(values), 0, 255), np.uint8)


def wears(number: int, seed: int) -> dict[str, Wear]:
    """Everything that happens to a whole picture, by name; the last is a learned editor, where one is ready."""
    by_hand: dict[str, Wear] = {
        "none": lambda pixels: pixels,
        "jpeg": lambda pixels: compressed(pixels, 50),
        "noise": partial(_noisy, seed),
        "tint": _tinted,
        "blur": lambda pixels: np.asarray(cv2.GaussianBlur(pixels, (0, 0), 1.0), np.uint8),
        "redrawn": redrawn(lambda pixels: pixels, seed),
    }
    ready = [name for name in LEARNED if not _missing(name)]
    learned = {name: partial(_learned, name) for name in ready[number % len(ready) :][:1]} if ready else {}
    return by_hand | learned


def _learned(name: str, pixels: Pixels) -> Pixels:
    made = asyncio.run(_redraw(name, pixels))
    size = pixels.shape[1], pixels.shape[0]
    return np.asarray(cv2.resize(made, size, interpolation=cv2.INTER_AREA), np.uint8)


async def _redraw(name: str, pixels: Pixels) -> Pixels:
    request = EditRequest(encode_png(pixels, compression=1), "image/png", "copy", seed=1)
    answer = await make_editor(name, name).edit(request)
    return decode(answer.image, what=name).pixels


@cache
def _missing(name: str) -> str:
    try:
        _learned(name, np.full((64, 64, 3), 128, np.uint8))
    except ConvergeBenchError as problem:
        return str(problem)
    return ""


def readings(picture: Picture, number: int, others: list[Pixels], seed: int) -> Iterator[Reading]:
    """Every reading of one photograph; sizes and edits go by turns, wears all come."""
    chance = np.random.default_rng([seed, number])
    before = _reduced(picture.pixels)
    spot = (float(chance.uniform(0.2, 0.8)), float(chance.uniform(0.25, 0.8)))
    size = list(SIZES)[number % len(SIZES)]
    added = putter(cut_out(others, chance), spot, None, SIZES[size])(before)
    recoloured = _recoloured(before, spot)
    for turn, (wear, worn) in enumerate(wears(number, seed + number).items()):
        edit, after = (f"thing-{size}", added) if (number + turn) % 3 else ("colour", recoloured)
        half = _whole((after.astype(np.float64) + before) / 2)
        plain, with_edit, half_worn = worn(before), worn(after), worn(half)
        read = _Reader(picture.name, edit, wear, before)
        yield read.happened(plain, "no")
        yield read.happened(with_edit, "yes")
        yield read.happened(half_worn, "half")
        yield read.undone(plain, with_edit, "yes")
        yield read.undone(half_worn, with_edit, "half")
        yield read.undone(worn(with_edit), with_edit, "no")


def _reduced(pixels: Pixels) -> Pixels:
    factor = min(1.0, LONGEST / max(pixels.shape[:2]))
    size = [8 * round(side * factor / 8) for side in (pixels.shape[1], pixels.shape[0])]
    return np.asarray(cv2.resize(pixels, size, interpolation=cv2.INTER_AREA), np.uint8)


def _recoloured(pixels: Pixels, spot: tuple[float, float]) -> Pixels:
    """An oval of a quarter of the sides in another hue, as light and as saturated as it was, or more."""
    height, width = pixels.shape[:2]
    lab = np.asarray(cv2.cvtColor(pixels.astype(np.float32) / np.float32(255), cv2.COLOR_RGB2LAB), np.float32)
    rows, columns = np.ogrid[:height, :width]
    away = np.hypot((rows / height - spot[1]) / 0.15, (columns / width - spot[0]) / 0.15)
    weight = np.clip((1 - away) / 0.1, 0, 1)[..., None]
    target = lab.copy()
    target[..., 1], target[..., 2] = -lab[..., 2] + 20, lab[..., 1] - 25
    mixed = np.asarray(cv2.cvtColor((lab + (target - lab) * weight).astype(np.float32), cv2.COLOR_LAB2RGB))
    return _whole(mixed.astype(np.float64) * 255)


@dataclass(frozen=True)
class _Reader:
    """Measures pictures of one photograph under one edit and one wear."""

    picture: str
    edit: str
    wear: str
    before: Pixels

    def happened(self, after: Pixels, truth: str) -> Reading:
        operation: Operation = "change" if self.edit == "colour" else "add"
        value = happened.function(Item(Frame(after), Frame(self.before), operation=operation))
        return self._reading("happened", truth, value)

    def undone(self, subject: Pixels, via: Pixels, truth: str) -> Reading:
        try:
            value = undone.function(Item(Frame(subject), Frame(self.before), Frame(via), operation="remove"))
        except Unmeasurable:
            value = None
        return self._reading("undone", truth, value)

    def _reading(self, metric: str, truth: str, value: float | None) -> Reading:
        edit = "nothing" if metric == "happened" and truth == "no" else self.edit
        return Reading(metric, edit, self.wear, truth, value, self.picture)


def table(found: list[Reading], by: str) -> str:
    """Markdown: how often a yes is called no, a no yes, and what a half is called, by edit or by wear."""
    lines = [f"| metric | {by} | done | called not done | not done | called done | half done | called done | medians |"]
    lines.append("|---|---|---|---|---|---|---|---|---|")
    for metric in ("happened", "undone"):
        own = [one for one in found if one.metric == metric]
        for group in ["all", *dict.fromkeys(str(getattr(one, by)) for one in own)]:
            rows = [one for one in own if group in ("all", getattr(one, by))]
            done, not_done, half = ([one for one in rows if one.truth == word] for word in ("yes", "no", "half"))
            middle = " / ".join(_median(part) for part in (done, half, not_done))
            cells = [metric, group, str(len(done)), rate(sum(not one.yes for one in done), len(done))]
            cells += [str(len(not_done)), rate(sum(one.yes for one in not_done), len(not_done))]
            cells += [str(len(half)), rate(sum(one.yes for one in half), len(half)), middle]
            lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def _median(rows: list[Reading]) -> str:
    values = [0.0 if one.value is None else one.value for one in rows]
    return f"{median(values):.2f}" if values else "–"


def main() -> None:
    """Read the arguments, run, print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--limit", type=int, default=12, help="photographs [default: 12]")
    parser.add_argument("--half", choices=("test", "development"), default="test")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--json", type=Path, help="write every reading there")
    arguments = parser.parse_args()
    chosen = pictures(arguments.limit, arguments.half)
    cut_from = pictures(OTHERS, arguments.half)
    found: list[Reading] = []
    for number, picture in enumerate(chosen):
        others = [one.pixels for one in cut_from if one.name != picture.name]
        found += readings(picture, number, others, arguments.seed)
    if arguments.json is not None:
        arguments.json.write_text(json.dumps([asdict(one) for one in found], indent=1), encoding="utf-8")
    sys.stdout.write(f"{len(chosen)} photographs of the half `{arguments.half}`, seed {arguments.seed}.\n\n")
    sys.stdout.write(f"{table(found, 'wear')}\n\n{table(found, 'edit')}\n")
    for name in LEARNED:
        if _missing(name):
            sys.stdout.write(f"left out: wear by {name} ({_missing(name)})\n")


if __name__ == "__main__":
    main()
