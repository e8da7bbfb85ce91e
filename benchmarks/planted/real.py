"""Chains of real editors, with the truth as a person saw it (`real_labels.toml`).

Nine published round trips of FLUX.1 Kontext [dev] (where their folder is there: `CONVERGEBENCH_CHAINS`, or beside the
repository), six copies each by a learned autoencoder at 320 pixels, and three round trips each of the editor `inpaint`.
Only what is in the label file is measured. What is missing here is told, never left out silently.
"""

from __future__ import annotations

import asyncio
import os
import tomllib
from collections.abc import Callable, Iterator
from functools import cache, partial
from pathlib import Path
from typing import NamedTuple

import cv2
import numpy as np

from benchmarks.planted import Planted
from benchmarks.planted._pictures import Picture, half_of, picture_named
from convergebench.editors.find import make_editor
from convergebench.errors import ConvergeBenchError
from convergebench.failures.base import ChainView, StepView
from convergebench.images.decode import decode
from convergebench.images.encode import encode_png
from convergebench.images.frame import Frame, Pixels
from convergebench.types import EditRequest

LABELS = Path(__file__).with_name("real_labels.toml")
FOLDER = "flux-kontext-dev-roundtrips"
STEPS, LONGEST = 6, 320
COPY = "Produce an exact replica of the provided image, with no alterations."


class Labels(NamedTuple):
    """What a person saw in one chain."""

    chain: str
    """`flux/scene_01_chair`, or `taesd/PICTURE`."""
    present: dict[str, int]
    """Failure mode → the first step that shows it."""
    absent: tuple[str, ...]
    forward: str = ""
    """The instruction of a round trip; empty: copies were asked for."""
    backward: str = ""


@cache
def labels() -> tuple[Labels, ...]:
    """Every chain of the label file."""
    rows = tomllib.loads(LABELS.read_text(encoding="utf-8")).get("chain", [])
    return tuple(
        Labels(
            *(row["id"], row.get("present", {}), tuple(row.get("absent", ()))),
            forward=row.get("forward", ""),
            backward=row.get("backward", ""),
        )
        for row in rows
    )


MODES = tuple(dict.fromkeys(mode for row in labels() for mode in [*row.present, *row.absent]))
"""The detectors that this module measures: those that a person looked for."""


def planted(limit: int, seed: int, half: str = "test") -> Iterator[Planted]:
    """One entry per chain and labelled mode; FLUX's chains belong to the test half."""
    for row in labels():
        if _half(row.chain) != half:
            continue
        chain = chain_of(row)
        if isinstance(chain, str):
            continue
        for mode in [*row.present, *row.absent]:
            yield Planted(f"{mode}/{row.chain}", mode, chain, row.present.get(mode), split=half, only=frozenset({mode}))


def notes() -> list[str]:
    """What of the label file cannot be measured here, and why."""
    found = [(row.chain, chain_of(row)) for row in labels()]
    return [f"left out: {name} ({why})" for name, why in found if isinstance(why, str)]


def _half(name: str) -> str:
    editor, _, picture = name.partition("/")
    return "test" if editor == "flux" else half_of(picture)


_made: dict[str, ChainView | str] = {}


def chain_of(row: Labels) -> ChainView | str:
    """The chain, or why it cannot be had here; made once."""
    if row.chain not in _made:
        _made[row.chain] = _chain_of(row)
    return _made[row.chain]


def _chain_of(row: Labels) -> ChainView | str:
    editor, _, picture = row.chain.partition("/")
    if editor == "flux":
        return _published(picture)
    known = picture_named(picture)
    if known is None:
        return f"no picture {picture}"
    try:
        return _round_trips(editor, known, row) if row.forward else _copied(editor, known)
    except ConvergeBenchError as problem:
        return str(problem)


def published_folder() -> Path:
    """Where the published chains should be."""
    beside = Path(__file__).resolve().parents[3] / "shared" / "data"
    return Path(os.environ.get("CONVERGEBENCH_CHAINS", beside)) / FOLDER


def _published(name: str) -> ChainView | str:
    folder = published_folder() / f"{name}_add_remove"
    if not folder.is_dir():
        return f"no folder {FOLDER}/{folder.name}; set CONVERGEBENCH_CHAINS to the folder that holds it"
    thing = name.split("_", 2)[2].replace("_", " ")
    files = [f"I{(index + 1) // 2}_{'forward' if index % 2 else 'backward'}.png" for index in range(1, STEPS + 1)]
    loads = [_loader(folder / file) for file in ("I0_source.png", *files)]
    return ChainView(
        *("flux-kontext-dev", name, name, "roundtrip", "roundtrip"),
        steps=_there_and_back(loads, f"Add a {thing}.", f"Remove the {thing}."),
    )


def _there_and_back(loads: list[Callable[[], Frame]], forward: str, backward: str) -> list[StepView]:
    """Steps that add something and remove it again, by turns."""
    steps = [StepView(0, loads[0])]
    for index, load in enumerate(loads[1:], start=1):
        there = index % 2 == 1
        steps.append(
            StepView(
                *(index, load, forward if there else backward),
                operation="add" if there else "remove",
                compared="around" if there else "whole",
                parent=index - 1,
            )
        )
    return steps


def _loader(file: Path) -> Callable[[], Frame]:
    return lambda: decode(file.read_bytes())


def _copied(editor: str, picture: Picture) -> ChainView:
    frames = asyncio.run(_edited(editor, _reduced(picture.pixels), [COPY] * STEPS))
    steps = [
        StepView(
            *(index, partial(Frame, pixels), COPY if index else ""),
            operation="replicate" if index else None,
            parent=max(0, index - 1),
        )
        for index, pixels in enumerate(frames)
    ]
    return ChainView(editor, picture.name, picture.name, "replicate", "replication", steps)


def _round_trips(editor: str, picture: Picture, row: Labels) -> ChainView:
    words = [row.forward, row.backward] * (STEPS // 2)
    frames = asyncio.run(_edited(editor, np.ascontiguousarray(picture.pixels), words))
    steps = _there_and_back([partial(Frame, pixels) for pixels in frames], row.forward, row.backward)
    return ChainView(editor, picture.name, picture.name, "roundtrip", "roundtrip", steps)


def _reduced(pixels: Pixels) -> Pixels:
    factor = LONGEST / max(pixels.shape[:2])
    size = [8 * round(side * factor / 8) for side in (pixels.shape[1], pixels.shape[0])]
    return np.asarray(cv2.resize(pixels, size, interpolation=cv2.INTER_AREA), np.uint8)


async def _edited(name: str, pixels: Pixels, instructions: list[str]) -> list[Pixels]:
    editor = make_editor(name, name)
    image, mime, frames = encode_png(pixels, compression=1), "image/png", [pixels]
    for index, words in enumerate(instructions, start=1):
        answer = await editor.edit(EditRequest(image, mime, words, seed=index, case=name, index=index))
        image, mime = answer.image, answer.mime
        frames.append(decode(image, what=name).pixels)
    return frames
