"""The figure at the top of a report: the same source under the best and the worst editor, round by round."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import polars as pl

from convergebench.analysis.examples import typical_case
from convergebench.report.chains import viewer_link
from convergebench.report.input import ReportInput, Row

ROUNDS = (0, 1, 2, 5, 10, 20)
STEPS = (*ROUNDS, 50, 100)
"""For studies that count steps, whose chains are longer."""
PLAIN = "replicate"
"""The variant that only asks for a copy, shown first."""


@dataclass(frozen=True, slots=True)
class StripFrame:
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
    frames: tuple[StripFrame, ...]
    note: str = ""


@dataclass(frozen=True, slots=True)
class Hero:
    """The strips, their case and why it was chosen."""

    strips: tuple[Strip, ...]
    case: str
    pair: str
    why: str


def round_ends(steps: Sequence[Row], whole: int) -> dict[int, Row]:
    """Finished round → its last step (round 0 is the source)."""
    in_order = sorted(steps, key=lambda row: int(row["index"]))
    return {row["round"]: row for row in in_order if row["image"] and row["round"] <= whole}


def shown_rounds(last: int, rounds: Sequence[int] = ROUNDS) -> list[int]:
    """The listed rounds up to `last`, with `last` itself at the end."""
    shown = [n for n in rounds if n <= last]
    return shown if shown[-1] == last else [*shown[: len(rounds) - 1], last]


def choose_hero(given: ReportInput) -> Hero | None:
    """Best and worst ranked editor on the typical (median) case of the worst; None without images."""
    places = {row["editor"]: row["rank"] for row in given.ranked}
    own = [editor for editor, rank in places.items() if rank is not None]
    named = own if len(own) > 1 else list(places) or [e for e in given.editors if e not in given.not_run]
    pair = list(dict.fromkeys([named[0], named[-1]])) if named else []
    chains = {(row["editor"], row["case"]): row for row in given.chains.iter_rows(named=True)}
    alone = "the only editor"
    case = typical_case(given.chains, given.measurements, pair, given.headline_metric, pair=PLAIN)
    if case is None and len(pair) > 1:
        pair, alone = pair[:1], "shown alone: no case in common with other editors"
        case = typical_case(given.chains, given.measurements, pair, given.headline_metric, pair=PLAIN)
    if case is None:
        return None
    values = _values(given, case)
    strips = []
    for place, editor in enumerate(pair):
        chain = chains[editor, case]
        steps = given.steps.filter(pl.col("editor") == editor, pl.col("case") == case).to_dicts()
        closing = round_ends(steps, chain["rounds"])
        frames = tuple(
            StripFrame(n, closing[n]["image"], values.get((editor, n)), viewer_link(editor, case, closing[n]["index"]))
            for n in shown_rounds(chain["planned"], STEPS if given.unit.one == "step" else ROUNDS)
            if n in closing
        )
        ranked = "ranked first" if place == 0 else "ranked last"
        name = alone if len(pair) == 1 else ranked if places.get(editor) else "not ranked"
        whole = chain["rounds"] >= chain["planned"] or chain["status"] == "finished"
        ended = "" if whole else f"ended after {chain['rounds']}: {chain['status']}"
        strips.append(Strip(editor, name, frames, ended))
    first = chains[pair[0], case]
    why = f"the median of {pair[-1]} by its last {given.headline_metric}, neither its best nor its worst case"
    return Hero(tuple(strip for strip in strips if strip.frames), case, first["pair"], why)


def _values(given: ReportInput, case: str) -> dict[tuple[str, int], float | None]:
    part = given.measurements.filter(pl.col("case") == case, pl.col("metric") == given.headline_metric)
    found: dict[tuple[str, int], float | None] = {
        (row["editor"], row["round"]): row["value"] for row in part.iter_rows(named=True)
    }
    known = given.facts.get(given.headline_metric)
    if known is not None and known.self_value is not None:
        found.update({(editor, 0): known.self_value for editor in given.editors})
    return found
