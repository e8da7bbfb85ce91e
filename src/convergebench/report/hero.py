"""The picture that shows the finding: the same source under the best and the worst editor, round by round."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import polars as pl

from convergebench.report.chains import viewer_link
from convergebench.report.input import ReportInput, Row

ROUNDS = (0, 1, 2, 5, 10, 20)
STEPS = (*ROUNDS, 50, 100)
"""Where nothing is undone chains are longer, and so is the strip."""
PLAIN = "replicate"
"""The variant that asks for nothing but a copy: the one to show first."""


@dataclass(frozen=True, slots=True)
class Frame:
    """One picture of a strip."""

    round: int
    image: str
    value: float | None
    link: str


@dataclass(frozen=True, slots=True)
class Strip:
    """One editor's pictures of the chosen case."""

    editor: str
    place: str
    frames: tuple[Frame, ...]
    note: str = ""


@dataclass(frozen=True, slots=True)
class Hero:
    """The strips, the case they show and why that one."""

    strips: tuple[Strip, ...]
    case: str
    pair: str
    why: str


def round_ends(steps: Sequence[Row], whole: int) -> dict[int, Row]:
    """Round → the last step of it (0 is the source), for the rounds that were finished."""
    walked = sorted(steps, key=lambda row: int(row["index"]))
    return {row["round"]: row for row in walked if row["image"] and row["round"] <= whole}


def shown_rounds(last: int, rounds: Sequence[int] = ROUNDS) -> list[int]:
    """0, 1, 2, 5, 10, 20 as far as they go; if the last is none of these it comes too."""
    shown = [n for n in rounds if n <= last]
    return shown if shown[-1] == last else [*shown[: len(rounds) - 1], last]


def choose_hero(given: ReportInput) -> Hero | None:
    """Best and worst ranked editor on the case that is typical (the median) of the worst; None without images."""
    places = {row["editor"]: row["rank"] for row in given.ranked}
    own = [editor for editor, rank in places.items() if rank is not None]
    named = own if len(own) > 1 else list(places) or [e for e in given.editors if e not in given.not_run]
    pair = list(dict.fromkeys([named[0], named[-1]])) if named else []
    chains = {(row["editor"], row["case"]): row for row in given.chains.iter_rows(named=True)}
    alone = "the only editor"
    case = _typical(given, pair)
    if case is None and len(pair) > 1:
        pair, alone = pair[:1], "shown alone: no case in common with the others"
        case = _typical(given, pair)
    if case is None:
        return None
    values = _values(given, case)
    strips = []
    for place, editor in enumerate(pair):
        chain = chains[editor, case]
        steps = given.steps.filter(pl.col("editor") == editor, pl.col("case") == case).to_dicts()
        closing = round_ends(steps, chain["rounds"])
        frames = tuple(
            Frame(n, closing[n]["image"], values.get((editor, n)), viewer_link(editor, case, closing[n]["index"]))
            for n in shown_rounds(chain["planned"], STEPS if given.unit.one == "step" else ROUNDS)
            if n in closing
        )
        ranked = "ranked first" if place == 0 else "ranked last"
        name = alone if len(pair) == 1 else ranked if places.get(editor) else "without a rank"
        ended = "" if chain["rounds"] >= chain["planned"] else f"ended after {chain['rounds']}: {chain['status']}"
        strips.append(Strip(editor, name, frames, ended))
    first = chains[pair[0], case]
    why = f"the median of {pair[-1]} by its last {given.headline_metric}, so neither its best nor its worst case"
    return Hero(tuple(strip for strip in strips if strip.frames), case, first["pair"], why)


def _typical(given: ReportInput, editors: Sequence[str]) -> str | None:
    """The case whose last value is the median of the last editor, among those all the editors went furthest on."""
    if not editors or given.chains.height == 0:
        return None
    mine = given.chains.filter(pl.col("editor").is_in(list(editors)), pl.col("rounds") > 0)
    counted = mine.group_by("case").agg(
        pl.col("editor").n_unique().alias("n"), (pl.col("status") == "finished").sum().alias("finished")
    )
    common = counted.filter(pl.col("n") >= len(editors))
    finished = common.filter(pl.col("finished") >= len(editors))
    cases = (finished if finished.height else common)["case"].to_list()
    plain = mine.filter(pl.col("pair") == PLAIN, pl.col("case").is_in(cases))["case"].unique(maintain_order=True)
    cases = plain.to_list() or cases
    if not cases:
        return None
    ends = (
        given.measurements.filter(
            pl.col("editor") == editors[-1], pl.col("metric") == given.headline_metric, pl.col("case").is_in(cases)
        )
        .drop_nulls("value")
        .sort("round")
        .group_by("case")
        .agg(pl.col("value").last())
        .sort("value", "case")["case"]
        .to_list()
    )
    ordered = ends or sorted(cases)
    return str(ordered[(len(ordered) - 1) // 2])


def _values(given: ReportInput, case: str) -> dict[tuple[str, int], float | None]:
    part = given.measurements.filter(pl.col("case") == case, pl.col("metric") == given.headline_metric)
    found: dict[tuple[str, int], float | None] = {
        (row["editor"], row["round"]): row["value"] for row in part.iter_rows(named=True)
    }
    known = given.facts.get(given.headline_metric)
    if known is not None and known.self_value is not None:
        found.update({(editor, 0): known.self_value for editor in given.editors})
    return found
