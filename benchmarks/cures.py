"""How many round trips each cure buys: python -m benchmarks.cures runs/cures [--into docs/results/cures.md]

Reads a finished run of `studies/cures.toml` (or `studies/cures-learned.toml`) and prints one table per disease. With
`--into`, the tables replace what stands between the page's marks for that run. Nothing is run and nothing is measured.

A cure is held against its control: the same editor whose answers are saved anew (`resave`), or the bare one for cures
that hand answers on as they came. Gain is the mean difference, over the cases that both finished, of the rounds until
the level is passed (restricted to the rounds run), with a 95 % interval by drawing source images.
"""

from __future__ import annotations

import argparse
import sys
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import cv2
import numpy as np
import polars as pl
from numpy.typing import NDArray

from benchmarks.marks import put_into
from convergebench.analysis.bootstrap import Bootstrap, by_source
from convergebench.analysis.survival import kaplan_meier, median
from convergebench.conductor.analyse import report_input
from convergebench.editors.expression import parse
from convergebench.images.decode import decode
from convergebench.images.encode import encode_png
from convergebench.report.input import ReportInput

REWRITING = ("paste-back", "anchor", "then", "resave")
"""Kinds whose answer is a new file, without what travelled in the old one beside the pixels."""
LEVELS = (("ssim", "SSIM 0.90"), ("delta-e", "ΔE 2.3"))
PICTURED = ("sim-noise", "sim-blur", "sim-contracting")
HEAD = (
    "| editor | half-life, SSIM 0.90 | gain in rounds, SSIM 0.90 | half-life, ΔE 2.3 | gain in rounds, ΔE 2.3 "
    "| gain when mirrored, SSIM 0.90 | edits done | edits undone |\n|---|---|---|---|---|---|---|---|"
)


class Family(NamedTuple):
    """A disease, and every editor of the run that has it, the bare one first."""

    disease: str
    members: tuple[str, ...]


def disease_of(editor: str) -> str:
    """What a cure is tried on: `sim-jpeg` for `paste-back(anchor(sim-jpeg))`."""
    call = parse(editor)
    if call is None:
        return editor
    if call.word == "then" and call.arguments[0] == "sim-perfect":
        return editor  # the disease is in the second: words carried out faultlessly, then a way through a network
    return disease_of(str(call.arguments[0]))


def control_of(editor: str, present: list[str]) -> str | None:
    """What a cure is held against; None for the bare editor and for controls themselves."""
    call, disease = parse(editor), disease_of(editor)
    saved = f"resave({disease})"
    if call is None or editor in (disease, saved):
        return None
    return saved if call.word in REWRITING and saved in present else disease


def families(editors: list[str]) -> list[Family]:
    """Editors by disease, in the order of the run."""
    found: dict[str, list[str]] = {}
    for editor in editors:
        found.setdefault(disease_of(editor), []).append(editor)
    return [Family(disease, tuple(members)) for disease, members in found.items()]


class Rounds:
    """Rounds until a level is passed, case by case."""

    def __init__(self, given: ReportInput, metric: str) -> None:
        named = given.chains.select("editor", "case", "source", "category")
        cases = given.analysis.half_life_cases.filter(
            (pl.col("metric") == metric) & (pl.col("level") == "noticeable")
        ).join(named, on=["editor", "case"])
        self.cases = cases.sort("editor", "case")
        self.bootstrap = Bootstrap.of(given.analysis.settings)

    def of(self, editor: str, *, mirrored: bool) -> pl.DataFrame:
        """One editor's cases: things put in and taken out, or mirrorings."""
        geometric = pl.col("category") == "geometric"
        return self.cases.filter((pl.col("editor") == editor) & (geometric if mirrored else ~geometric))

    def half_life(self, editor: str) -> str:
        """Median with its interval, over things."""
        cases = self.of(editor, mirrored=False)
        if not cases.height:
            return "–"
        clusters = cases["source"].rank("dense").to_numpy()
        curve = kaplan_meier(cases["rounds"].to_numpy(), cases["passed"].to_numpy(), clusters=clusters)
        middle = median(curve)
        last = int(cases["rounds"].max())  # type: ignore[arg-type]
        if middle.value is None:
            return f"> {last}" if middle.low is None else f"> {last} (≥ {middle.low})"
        ends = f"{middle.low}–{middle.high}" if middle.high is not None else f"≥ {middle.low}"
        return f"{middle.value} ({ends})"

    def gain(self, editor: str, control: str | None, *, mirrored: bool = False) -> str:
        """Mean rounds more than the control, with interval."""
        if control is None:
            return ""
        pairs = self.of(editor, mirrored=mirrored).join(self.of(control, mirrored=mirrored), on="case", suffix="_c")
        if not pairs.height:
            return "–"
        difference = (pairs["rounds"] - pairs["rounds_c"]).to_numpy().astype(np.float64)
        sources = pairs["source"].rank("dense").to_numpy().astype(np.int64)
        band = self.bootstrap.ratio(*by_source(difference[:, None], sources))
        return f"{band.estimate[0]:+.1f} ({band.low[0]:+.1f} to {band.high[0]:+.1f})"


def adherence(given: ReportInput, editor: str, metric: str) -> str:
    """Mean over cases of things; a step that did nothing in particular counts as not done."""
    rows = given.measurements.filter(
        (pl.col("editor") == editor) & (pl.col("metric") == metric) & (pl.col("category") != "geometric")
    )
    if not rows.height:
        return "–"
    if metric == "happened":
        return f"{float((rows['value'].fill_null(0) > 0.5).mean() or 0):.0%}"  # type: ignore[arg-type]
    means = rows.group_by("case").agg(pl.col("value").mean())["value"].drop_nulls()
    return f"{float(means.mean() or 0):.2f}" if means.len() else "–"  # type: ignore[arg-type]


def tables(given: ReportInput) -> str:
    """Markdown."""
    rounds = {metric: Rounds(given, metric) for metric, _ in LEVELS}
    present = given.editors
    lines = [HEAD]
    for family in families(present):
        for editor in family.members:
            control = control_of(editor, present)
            cells = [f"`{editor}`"]
            for metric, _ in LEVELS:
                cells += [rounds[metric].half_life(editor), rounds[metric].gain(editor, control)]
            cells.append(rounds["ssim"].gain(editor, control, mirrored=True))
            cells += [adherence(given, editor, metric) for metric in ("happened", "undone")]
            lines.append(f"| {' | '.join(cells)} |")
    things = rounds["ssim"].of(present[0], mirrored=False)
    mirrored = rounds["ssim"].of(present[0], mirrored=True)
    lines.append(
        f"\n{things.height} cases of things and {mirrored.height} mirrorings from {things['source'].n_unique()} images "
        f"per editor, {int(given.chains['planned'].max() or 0)} rounds."  # type: ignore[arg-type]
    )
    return "\n".join(lines)


def picture(given: ReportInput, case: str, editors: list[str], side: int = 160) -> NDArray[np.uint8]:
    """The source of a case, and what is left of it after the last round under each editor."""
    steps = given.steps.filter(pl.col("case") == case)
    tiles = []
    for place, editor in enumerate(["", *editors]):
        own = steps.filter(pl.col("editor") == (editor or editors[0])).sort("index")
        name = own["image"].to_list()[-1 if place else 0]
        pixels = decode((given.run / name).read_bytes(), alpha="white").pixels
        square = pixels[:, : pixels.shape[0]] if pixels.shape[1] > pixels.shape[0] else pixels
        tiles.append(cv2.resize(square, (side, side), interpolation=cv2.INTER_AREA))
    return np.hstack(tiles).astype(np.uint8)


def write_picture(given: ReportInput, path: Path, case: str) -> None:
    """A row per disease: source, control, pasted back, anchored, both."""
    cases = given.steps["case"].unique().sort().to_list()
    if case not in cases:
        raise SystemExit(f"the run has no case {case}; give --case one of {', '.join(cases)}")
    rows = [
        picture(
            given,
            case,
            [
                f"resave({disease})",
                f"paste-back({disease})",
                f"anchor({disease})",
                f"paste-back(anchor({disease}))",
            ],
        )
        for disease in PICTURED
    ]
    path.write_bytes(encode_png(np.vstack(rows), compression=9))


def main() -> None:
    """Read the arguments, print or put."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("run", type=Path, help="a finished run")
    parser.add_argument("--name", default="", help="which marks of the page [default: the run's own name]")
    parser.add_argument("--into", type=Path, help="a page to put the tables into")
    parser.add_argument("--picture", type=Path, help="a PNG to make: sources and what is left of them")
    parser.add_argument("--case", default="room-with-a-drum/potted-plant/0", help="the case on it")
    parser.add_argument("--without", action="append", default=[], metavar="SOURCE", help="leave this image out")
    arguments = parser.parse_args()
    given = report_input(arguments.run)
    kept = ~pl.col("source").is_in(arguments.without)
    given = replace(given, measurements=given.measurements.filter(kept), chains=given.chains.filter(kept))
    if arguments.picture is not None:
        write_picture(given, arguments.picture, arguments.case)
    text = tables(given)
    if arguments.into is None:
        sys.stdout.write(text + "\n")
    else:
        put_into(arguments.into, arguments.name or arguments.run.name, text)


if __name__ == "__main__":
    main()
