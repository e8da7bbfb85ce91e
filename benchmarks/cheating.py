"""What an editor gains by cheating: python -m benchmarks.cheating [--into docs/results/cheating.md] [--run FOLDER]

Two honest editors mirror twelve photographs and mirror them back, five round trips; four others cheat: one does
nothing, one replaces half of the pictures by an even grey, one refuses three pictures of four, one never undoes. The
table compares the score with a naive one: the same areas without adherence, over the cases for which every value
exists. About a minute on one core.
"""

from __future__ import annotations

import argparse
import io
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from PIL import Image, ImageOps

from benchmarks.marks import put_into
from convergebench.analysis.area import area
from convergebench.conductor.analyse import report_input
from convergebench.conductor.options import RunOptions
from convergebench.conductor.running import plan, run
from convergebench.errors import Refused
from convergebench.report.input import ReportInput
from convergebench.report.wording import number, percent
from convergebench.studies.spec import parse_spec
from convergebench.types import Capabilities, Edited, EditRequest, Limits

ROUNDS, IMAGES = 5, 12
SCORED = ("ssim", "gist")
MARK = "cheating"


class Mirror:
    """Mirrors, and returns JPEG of this quality."""

    quality, what = 95, "mirrors; JPEG 95"

    def __init__(self, name: str, cases: Mapping[str, int]) -> None:
        self.name, self.fingerprint, self.places = name, f"{name}@1", cases
        self.capabilities, self.limits = Capabilities(deterministic=True, seconds_per_call=0.01), Limits(at_once=2)

    async def edit(self, request: EditRequest) -> Edited:
        picture = Image.open(io.BytesIO(request.image)).convert("RGB")
        data = io.BytesIO()
        self.change(picture, request).save(data, "JPEG", quality=self.quality, subsampling=0)
        return Edited(data.getvalue(), "image/jpeg", model=self.name)

    def change(self, picture: Image.Image, request: EditRequest) -> Image.Image:
        return ImageOps.mirror(picture)

    def place(self, request: EditRequest) -> int:
        """The number of the case's picture, from 0."""
        return next(place for source, place in self.places.items() if source in request.case)


class Rough(Mirror):
    quality, what = 15, "mirrors; JPEG 15"


class Idle(Mirror):
    what = "returns its input"

    async def edit(self, request: EditRequest) -> Edited:
        return Edited(request.image, request.mime, model=self.name)


class Wrecker(Mirror):
    what = "even grey for half of the pictures"

    def change(self, picture: Image.Image, request: EditRequest) -> Image.Image:
        grey = Image.new("RGB", picture.size, (128, 128, 128))
        return grey if self.place(request) % 2 else super().change(picture, request)


class Refuser(Mirror):
    what = "refuses three pictures of four"

    def change(self, picture: Image.Image, request: EditRequest) -> Image.Image:
        if self.place(request) % 4:
            raise Refused("not this one")
        return super().change(picture, request)


class Keeper(Mirror):
    what = "never undoes"

    def change(self, picture: Image.Image, request: EditRequest) -> Image.Image:
        return super().change(picture, request) if request.index % 2 == 1 else picture


EDITORS = {
    "honest": Mirror, "rough": Rough, "idle": Idle, "wrecker": Wrecker, "refuser": Refuser, "keeper": Keeper,
}  # fmt: skip


def make_run(root: Path, *, images: int = IMAGES, rounds: int = ROUNDS) -> ReportInput:
    """Run all editors into `root`; what a report would show."""
    from convergebench.images.suite import load_suite

    sources = list(load_suite("quick").images)[:images]
    places = {source.id: place for place, source in enumerate(sources)}
    spec = parse_spec(
        {
            "study": "roundtrip",
            "editors": [{"name": name, "use": "sim-perfect"} for name in EDITORS],
            "roundtrip": {"rounds": rounds},
            "edits": {"pairs": ["flip-horizontal"]},
            "measure": {"metrics": [*SCORED, "rmse", "happened", "undone"]},
            "analysis": {"quality": ["ssim"], "semantic": "gist"},
        }
    )
    editors = {name: kind(name, places) for name, kind in EDITORS.items()}
    run(plan(spec, root, editors=editors, sources=sources), RunOptions(report=False, workers=1))
    return report_input(root)


def naive(given: ReportInput, editor: str) -> tuple[float | None, int]:
    """100·√(Q·S) without adherence over the chains that have every value, and how many these are."""
    rounds = int(given.chains["planned"].max())  # type: ignore[arg-type]
    kept = []
    mine = given.measurements.filter(pl.col("editor") == editor, pl.col("role") == "return")
    for case in mine["case"].unique(maintain_order=True):
        values = {(row["metric"], row["round"]): row["value"] for row in mine.filter(pl.col("case") == case).to_dicts()}
        wanted = [[values.get((metric, at)) for at in range(1, rounds + 1)] for metric in SCORED]
        if all(value is not None for line in wanted for value in line):
            kept.append([[1.0, *line] for line in wanted])
    if not kept:
        return None, 0
    areas = [float(area(np.array([case[place] for case in kept])).mean()) for place in range(len(SCORED))]
    return 100 * float(np.sqrt(max(areas[0], 0) * max(areas[1], 0))), len(kept)


def text_of(given: ReportInput) -> str:
    """The table, in the order of `EDITORS`."""
    rows: dict[str, dict[str, Any]] = {row["editor"]: row for row in given.ranked}
    head = ["editor", "what it does", "naive score", "cases in it", "score", "95 %", "done", "undone", "coverage"]
    lines = [f"| {' | '.join([*head, 'rank'])} |", f"|{' --- |' * (len(head) + 1)}"]
    for name, kind in EDITORS.items():
        row, (plain, cases) = rows[name], naive(given, name)
        interval = "" if row["low"] is None else f"{number(row['low'], 1)}–{number(row['high'], 1)}"
        shares = (percent(row[key]) for key in ("done", "undone", "coverage"))
        cells = [f"`{name}`", kind.what, number(plain, 1), str(cases), number(row["score"], 1), interval, *shares]
        lines.append(f"| {' | '.join([*cells, str(row['rank'] or '–')])} |")
    return "\n".join([*lines, "", f"{IMAGES} photographs, {ROUNDS} round trips of a mirroring."])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--into", type=Path, help="the page whose table is replaced")
    parser.add_argument("--run", type=Path, help="the folder of the run; it is kept")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        found = text_of(make_run(given.run or Path(folder) / "run"))
    if given.into:
        put_into(given.into, MARK, found)
    print(found)


if __name__ == "__main__":
    main()
