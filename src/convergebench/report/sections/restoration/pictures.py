"""Strips of pictures that the page can enlarge: input, results and the clean picture, side by side."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import ceil
from typing import Any

from convergebench.report.chains import relative, viewer_link
from convergebench.report.crops import crop_strip
from convergebench.report.input import Row
from convergebench.report.page import Page
from convergebench.store.images import open_images

SIDE = 320
"""Pixels of a picture's long side on the page."""
SHOWN = 160
"""About the same, where seven stand side by side."""
CLEAN = "clean picture"
MOST_ACROSS = 7
"""Most pictures side by side; more are laid out in lines of about the same length."""


@dataclass(frozen=True)
class RestoredPictures:
    """The pictures of a run, by chain and round, and the clean ones."""

    page: Page

    @cached_property
    def steps(self) -> dict[tuple[str, str, int], Row]:
        """Editor, case and round → the step."""
        columns = ("editor", "case", "round", "index", "image", "width", "height")
        frame = self.page.given.steps.select(columns) if self.page.given.steps.height else self.page.given.steps
        return {(row["editor"], row["case"], row["round"]): row for row in frame.iter_rows(named=True)}

    @cached_property
    def chains(self) -> dict[tuple[str, str], Row]:
        """Editor and case → the chain."""
        return {(row["editor"], row["case"]): row for row in self.page.given.chains.iter_rows(named=True)}

    @cached_property
    def sources(self) -> dict[str, Any]:
        """The source images of the manifest, by id."""
        return dict(self.page.given.manifest.get("sources") or {})

    def result(
        self, editor: str, case: str, *, round: int = 1, name: str = "", note: str = "", marked: bool = False
    ) -> Row:
        """The picture of one round; where there is none, why."""
        step = self.steps.get((editor, case, round))
        chain = self.chains.get((editor, case))
        shown = {
            "name": name or editor,
            "note": note,
            "marked": marked,
            "style": self.page.style.get(editor) if round else None,
        }
        if step is None or not step["image"]:
            why = chain["status"] if chain else "not asked"
            return {
                **shown,
                "image": None,
                "why": f"no picture: {why}" if chain else why,
                "link": "",
                "width": 0,
                "height": 0,
            }
        return {
            **shown,
            "image": step["image"],
            "why": "",
            "width": step["width"] or 0,
            "height": step["height"] or 0,
            "link": viewer_link(editor, case, step["index"]),
        }

    def clean(self, source: str, like: Row, *, compared: bool) -> Row | None:
        """The clean picture of a degraded one, if its file is in the run; drawn as large as `like`."""
        identity = self.sources.get(self.sources.get(source, {}).get("clean", ""), {}).get("sha256", "")
        file = open_images(self.page.given.run).find(identity)
        if file is None:
            return None
        link = relative(self.page.given.run / file, self.page.out)
        size = {"width": like["width"], "height": like["height"]}
        note = "" if compared else "not compared with"
        return {
            "name": CLEAN,
            "note": note,
            "marked": False,
            "style": None,
            "image": file,
            "why": "",
            "link": link,
            **size,
        }

    def strip(self, title: str, pictures: Sequence[Row | None]) -> Row:
        """A strip with the links to small and full pictures filled in."""
        there = [one for one in pictures if one is not None]
        small = self.page.thumbnails.make((one["image"] for one in there), crop=SIDE)
        readable = [one["image"] for one in there if one["image"] in small]
        cut = crop_strip(self.page.thumbnails, readable, shown_at=SHOWN)
        crops = {image: (file, cut.place.side) for image, file in cut.crops.items()} if cut else {}
        lines = max(1, ceil(len(there) / MOST_ACROSS))
        columns = max(1, ceil(len(there) / lines))
        return {"title": title, "columns": columns, "pictures": [self._filled(one, small, crops) for one in there]}

    def _filled(self, one: Row, small: dict[str, str], crops: dict[str, tuple[str, int]]) -> Row:
        thumb = small.get(one["image"] or "")
        full = relative(self.page.given.run / one["image"], self.page.out) if thumb else ""
        why = one["why"] or ("" if thumb else "no picture: the file cannot be read")
        return {**one, "thumb": thumb, "full": full, "why": why, "crop": crops.get(one["image"] or "")}


def readable(strips: Iterable[Row]) -> list[Row]:
    """The strips with at least one picture."""
    return [strip for strip in strips if any(one["thumb"] for one in strip["pictures"])]
