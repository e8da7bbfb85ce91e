"""Where pictures are worn: the first and the last one of each editor's most worn chain, with the map of `decay`.

Which chains are shown follows from the measured values. The maps are pictures derived from pictures, as crops are; they
are kept beside the thumbnails, so that a second report does not make them again.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from hashlib import blake2b
from pathlib import Path
from typing import Any, NamedTuple

import cv2
import polars as pl

from convergebench.errors import StudyError, Unmeasurable
from convergebench.images.decode import decode
from convergebench.images.frame import Frame
from convergebench.report.chains import viewer_link
from convergebench.report.input import ReportInput, Row, by_chain
from convergebench.report.output import RenderedFile
from convergebench.report.page import Page
from convergebench.report.palette import INFERNO
from convergebench.report.sections.base import SectionContent
from convergebench.report.wording import number
from convergebench.report.worn import ENDS, read_worn, worn_picture

METRIC = "decay"
MOST_EDITORS = 4
"""Rows of the section, so that it prints on one page."""
SIDE = 300
"""Longest side of its pictures in pixels."""
MOST_PIXELS = 16_000_000
"""Larger pictures take too long to judge while a page is written."""
_QUALITY = 90


class WornMap(NamedTuple):
    """The map of a picture as a file beside the page; or, without a `file`, why there is none."""

    file: str
    words: str
    unknown: int = 0
    """Parts of the picture that cannot be judged."""


@dataclass(frozen=True, slots=True)
class WornMaps:
    """The maps of a run's pictures; those that exist in the page's folder are not made again."""

    page: Page
    model: str
    """What the learned numbers are called: others give other maps."""
    new: list[RenderedFile] = field(default_factory=list)
    _made: dict[str, WornMap] = field(default_factory=dict)

    def of(self, image: str) -> WornMap:
        """The map of one picture."""
        if image not in self._made:
            name = blake2b(f"{image}:worn {SIDE} {self.model}".encode(), digest_size=12).hexdigest()
            file = f"thumbs/{name[:2]}/{name[2:]}.webp"
            self._made[image] = _kept(self.page.out, file) or self._make(image, file)
        return self._made[image]

    def _make(self, image: str, file: str) -> WornMap:
        frame = _opened(self.page.thumbnails.view(image))
        if frame is None:
            return WornMap("", "the image cannot be read")
        if frame.width * frame.height > MOST_PIXELS:
            return WornMap("", f"not judged: more than {MOST_PIXELS // 10**6} megapixels")
        try:
            found = read_worn(frame)
        except Unmeasurable as error:
            return WornMap("", f"cannot be judged: {error}")
        drawn = cv2.cvtColor(worn_picture(frame, found.parts, SIDE), cv2.COLOR_RGB2BGR)
        data = cv2.imencode(".webp", drawn, [cv2.IMWRITE_WEBP_QUALITY, _QUALITY])[1].tobytes()
        facts = {"words": found.words, "unknown": found.unknown}
        self.new.extend([(_facts_file(file), json.dumps(facts, ensure_ascii=False)), (file, data)])
        return WornMap(file, found.words, found.unknown)


def most_worn(given: ReportInput) -> list[Row]:
    """The chain with the highest last value of each editor: editor, case, step, value; the most worn editor first."""
    measured = given.measurements
    if measured.height == 0:
        return []
    known = measured.filter(pl.col("metric") == METRIC, pl.col("value").is_finite())
    last = known.sort("editor", "case", "step").group_by("editor", "case", maintain_order=True).last()
    worst = last.sort("value", descending=True, maintain_order=True).group_by("editor", maintain_order=True).first()
    return worst.select("editor", "case", "step", "value").to_dicts()


def worn_rows(page: Page, maps: WornMaps) -> list[Row]:
    """The rows of the section: an editor and its two pictures with their maps."""
    chosen = most_worn(page.given)[:MOST_EDITORS]
    steps = by_chain(page.given.steps)
    found = []
    for row in chosen:
        chain = {step["index"]: step for step in steps.get((row["editor"], row["case"]), []) if step["image"]}
        ends = [chain[index] for index in dict.fromkeys((0, row["step"])) if index in chain]
        small = page.thumbnails.make([step["image"] for step in ends], crop=SIDE)
        cells = [_cell(step, small.get(step["image"]), maps.of(step["image"])) for step in ends]
        found.append({**row, **_called(ends), "shown": number(row["value"], 1), "cells": cells})
    return found


def _called(ends: list[Row]) -> Row:
    return {"source": ends[-1]["source"] if ends else "", "pair": ends[-1]["pair"] if ends else ""}


def _cell(step: Row, small: str | None, drawn: WornMap) -> Row:
    return {
        "step": step["index"],
        "link": viewer_link(step["editor"], step["case"], step["index"]),
        "image": small,
        "size": (step["width"] or SIDE, step["height"] or SIDE),
        "map": drawn,
    }


def _opened(data: bytes | None) -> Frame | None:
    try:
        return decode(data, alpha="white") if data else None
    except StudyError:
        return None


def _facts_file(file: str) -> str:
    return file.removesuffix("webp") + "json"


def _kept(out: Path, file: str) -> WornMap | None:
    """The map that an earlier report left in the folder."""
    try:
        facts = json.loads((out / _facts_file(file)).read_text(encoding="utf-8")) if (out / file).is_file() else None
        return WornMap(file, str(facts["words"]), int(facts["unknown"])) if facts else None
    except (OSError, ValueError, KeyError, TypeError):
        return None


class _Worn:
    name, title = "worn", "Where images are worn"

    def build(self, page: Page, /) -> SectionContent | None:
        """The rows; None where `decay` was not measured."""
        facts = page.given.facts.get(METRIC)
        measured = most_worn(page.given)
        if facts is None or not measured:
            return None
        maps = WornMaps(page, f"{facts.version} {facts.paper}")
        context: dict[str, Any] = {"rows": worn_rows(page, maps), "more": max(0, len(measured) - MOST_EDITORS)}
        html = page.render("worn.html", **context, ends=ENDS, stops=INFERNO)
        return SectionContent(html, tuple(maps.new))


WORN = _Worn()
