"""Strips of sample images: source, then the image after some rounds, as small copies that the site holds."""

from __future__ import annotations

from typing import NamedTuple

import cv2
import numpy as np

from convergebench.errors import ConvergeBenchError
from convergebench.images.decode import decode
from convergebench.leaderboard.entries import LeaderboardEntry
from convergebench.leaderboard.pages.names import PICTURES
from convergebench.leaderboard.sampling import sampled_chains

SIDE, QUALITY = 240, 80


class SampleFrame(NamedTuple):
    """One picture of a strip; `round` 0 is the source."""

    round: int
    file: str
    """From the root of the site."""


class SampleStrip(NamedTuple):
    """A sampled chain."""

    case: str
    source: str
    edit: str
    frames: tuple[SampleFrame, ...]


def strips_of(entry: LeaderboardEntry) -> tuple[list[SampleStrip], dict[str, bytes]]:
    """The strips of an entry and the files of their pictures; a picture that cannot be read is left out."""
    bundle = entry.loaded.bundle
    chains = sampled_chains(
        entry.loaded.checked.head, str(bundle.chain["challenge"]), bundle.manifest.sources, bundle.tables
    )
    cases = {row["id"]: row for row in bundle.tables["cases"]}
    returned = {
        (row["editor"], row["case"], row["round"]): row["subject"]
        for row in bundle.tables["comparisons"]
        if row["role"] in ("return", "around")
    }
    strips, files = [], {}
    for chain in chains:
        if chain.editor != entry.name:
            continue
        wanted = [(0, chain.source), *((n, returned.get((chain.editor, chain.case, n))) for n in chain.rounds)]
        frames = []
        for number, image in wanted:
            data = small_copy(bundle.images.get(image or ""))
            if data is not None and image is not None:
                file = f"{PICTURES}/{image.removeprefix('i1:')[:24]}.webp"
                files[file] = data
                frames.append(SampleFrame(number, file))
        case = cases[chain.case]
        strips.append(SampleStrip(chain.case, case["source"], case["pair"], tuple(frames)))
    return strips, files


def small_copy(data: bytes | None) -> bytes | None:
    """The picture at most `SIDE` pixels wide and high; None if it cannot be read."""
    if data is None:
        return None
    try:
        pixels = decode(data, what="a sample image", alpha="white").pixels
    except ConvergeBenchError:
        return None
    height, width = pixels.shape[:2]
    scale = min(1.0, SIDE / max(height, width))
    size = max(1, round(width * scale)), max(1, round(height * scale))
    small = np.asarray(cv2.resize(pixels, size, interpolation=cv2.INTER_AREA), np.uint8)
    _, packed = cv2.imencode(".webp", cv2.cvtColor(small, cv2.COLOR_RGB2BGR), [cv2.IMWRITE_WEBP_QUALITY, QUALITY])
    return packed.tobytes()
