"""How much the order of the editors depends on analysis choices.

Each choice is varied alone, with all others as in the report: a single quality metric, no adherence, another level of
the half-life, another semantic metric or none, fewer rounds, another alignment. The resulting order is compared with
the report's (`analysis.orders`). There are no intervals here: the ranking's tests decide what is more than chance.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple, get_args

import polars as pl

from convergebench.analysis.halflife import find_levels
from convergebench.analysis.orders import EditorOrder, compare_orders, half_life_order, ranked_order
from convergebench.analysis.result import AnalysisInput
from convergebench.analysis.retention import has_retention
from convergebench.analysis.schemas import table
from convergebench.analysis.series import parse_series
from convergebench.analysis.trajectories import trajectories
from convergebench.analysis.wording import listed
from convergebench.images.align import AlignMode
from convergebench.studies.analysis_settings import AnalysisSettings
from convergebench.studies.units import ROUND_TRIP, Unit

Ranker = Callable[[AnalysisInput, AnalysisSettings], pl.DataFrame]
"""editor, rank (None without one), score, and n_cases if it is known."""

METRIC, ADHERENCE, LEVEL, MEANING = "metric", "adherence", "level", "semantic"
ROUNDS, ALIGNMENT = "rounds", "alignment"
"""The factors, in the order of the table."""
MOST = 6
"""Most choices tried per factor."""


class AlternativeOrder(NamedTuple):
    """The order under one choice, or None and a note why."""

    factor: str
    name: str
    order: EditorOrder | None
    chosen: bool = False
    note: str = ""


def sensitivity(
    given: AnalysisInput,
    settings: AnalysisSettings,
    rank: Ranker,
    others: Mapping[str, AnalysisInput],
    *,
    align: str = "",
) -> pl.DataFrame:
    """The frame `sensitivity`; empty where fewer than two editors are ranked.

    `align` is the report's own alignment; `others` holds the same run measured under other alignments.
    """
    fast = replace(settings, draws=2, chain_draws=2, permutations=2, exact_sources=0)
    lean = _lean(given, settings)
    reported = ranked_order(rank(lean, fast))
    if len(reported.places) < 2:
        return table("sensitivity", [])
    trials = _Trials(lean, fast, rank, reported)
    choices = [
        *trials.metrics(),
        *trials.adherence(),
        *trials.levels(),
        *trials.meanings(),
        *trials.rounds(),
        *(trials.alignments(align, {name: _lean(other, settings) for name, other in others.items()})),
    ]
    return table("sensitivity", [_row(choice, reported) for choice in choices])


def sensitivity_sentence(frame: pl.DataFrame, unit: Unit = ROUND_TRIP) -> str | None:
    """Under how many choices the order is the same, and which ones change it; None where nothing was tried."""
    rows = frame.filter(~pl.col("chosen") & pl.col("order").is_not_null()).to_dicts()
    if not rows:
        return None
    changed = [row for row in rows if row["same_order"] is False]
    tied = sum(row["same_order"] is None for row in rows)
    same = len(rows) - len(changed) - tied
    if same == len(rows):
        tried = "the one alternative setting" if same == 1 else f"all {same} alternative settings"
        return f"The order is the same under {tried} tried."
    parts = [f"The order is the same under {same} of {len(rows)} alternative settings"]
    if tied:
        parts.append(f"under {tied} it is partly tied")
    if changed:
        factors = _what_changes(changed, unit)
        parts.append(f"it changes with {listed(factors, most=len(factors))}")
        if all(row["same_leader"] for row in changed):
            parts.append("the leader stays the same")
    return "; ".join(parts) + "."


def common_rounds(chains: pl.DataFrame, editors: Sequence[str]) -> int:
    """The rounds that each of these editors reached in at least one case."""
    own = chains.filter(pl.col("editor").is_in(list(editors))).group_by("editor").agg(pl.col("rounds").max())
    return int(own["rounds"].fill_null(0).min() or 0) if own.height else 0  # type: ignore[arg-type]


def first_rounds(given: AnalysisInput, rounds: int) -> AnalysisInput:
    """The run as if only `rounds` had been planned; a chain that reached them counts as finished."""
    chains = given.chains.with_columns(
        pl.when(pl.col("rounds") >= rounds).then(pl.lit("finished")).otherwise(pl.col("status")).alias("status"),
        pl.min_horizontal("rounds", pl.lit(rounds)).alias("rounds"),
        pl.min_horizontal("planned", pl.lit(rounds)).alias("planned"),
    )
    return replace(given, measurements=given.measurements.filter(pl.col("round") <= rounds), chains=chains)


class _Trials:
    """Every factor's choices, tried on one run."""

    def __init__(self, given: AnalysisInput, settings: AnalysisSettings, rank: Ranker, reported: EditorOrder) -> None:
        self._given, self._settings, self._rank, self._reported = given, settings, rank, reported
        self._measured = set(given.measurements.filter(pl.col("value").is_not_null())["metric"].unique())
        self._quality = tuple(name for name in settings.quality if name in self._measured)
        self._semantic = settings.semantic if settings.semantic in self._measured else None

    def metrics(self) -> Iterator[AlternativeOrder]:
        """The score, and each quality metric alone."""
        parts = [*self._quality, *([self._semantic] if self._semantic else [])]
        names = listed(parts, most=len(parts)) or "nothing"
        yield AlternativeOrder(METRIC, f"score of {names}", self._reported, chosen=True)
        alone = [name for name in self._able("quality", self._quality) if [name] != parts]
        for name in alone[:MOST]:
            yield self._tried(METRIC, f"{name} alone", quality=(name,), semantic=None)

    def adherence(self) -> Iterator[AlternativeOrder]:
        """Adherence counted in the score, and not; where it was measured."""
        if self._measured & set(self._settings.adherence):
            yield AlternativeOrder(ADHERENCE, "counted", self._reported, chosen=True)
            yield self._tried(ADHERENCE, "not counted", adherence=("", ""))

    def levels(self) -> Iterator[AlternativeOrder]:
        """How long the headline metric keeps each of its levels."""
        data = trajectories(self._given)
        found = [level for level in find_levels(data, self._settings) if level.metric == self._settings.headline]
        for level in found[:MOST]:
            sign = "≥" if data.facts[level.metric].better == "higher" else "≤"
            name = f"{level.metric} {sign} {level.threshold:g} ({level.name})"
            yield AlternativeOrder(LEVEL, name, half_life_order(data, level, self._reported.places))

    def meanings(self) -> Iterator[AlternativeOrder]:
        """Each semantic metric, and none."""
        own = (self._semantic,) if self._semantic else ()
        for name in self._able("semantic", own)[:MOST]:
            if name == self._semantic:
                yield AlternativeOrder(MEANING, name, self._reported, chosen=True)
            else:
                yield self._tried(MEANING, name, semantic=name)
        if not self._semantic:
            yield AlternativeOrder(MEANING, "none", self._reported, chosen=True)
        elif self._quality:
            yield self._tried(MEANING, "none", semantic=None)

    def rounds(self) -> Iterator[AlternativeOrder]:
        """Half of the rounds, and each point at which the report prints numbers."""
        whole = common_rounds(self._given.chains, list(self._reported.places))
        fewer = sorted({point for point in (*self._settings.points, whole // 2) if 0 < point < whole})
        for count in fewer[-MOST:]:
            yield AlternativeOrder(ROUNDS, str(count), self._order(first_rounds(self._given, count), self._settings))
        yield AlternativeOrder(ROUNDS, str(whole), self._reported, chosen=True)

    def alignments(self, own: str, others: Mapping[str, AnalysisInput]) -> Iterator[AlternativeOrder]:
        """Every alignment mode; those that were not measured get a note."""
        for mode in get_args(AlignMode) if own else others:
            if mode == own:
                yield AlternativeOrder(ALIGNMENT, mode, self._reported, chosen=True)
            elif mode in others:
                yield AlternativeOrder(ALIGNMENT, mode, self._order(others[mode], self._settings))
            else:
                yield AlternativeOrder(ALIGNMENT, mode, None, note=f"not measured: cbench measure RUN --align {mode}")

    def _tried(self, factor: str, name: str, **changed: object) -> AlternativeOrder:
        return AlternativeOrder(factor, name, self._order(self._given, replace(self._settings, **changed)))  # type: ignore[arg-type]

    def _order(self, given: AnalysisInput, settings: AnalysisSettings) -> EditorOrder:
        return ranked_order(self._rank(given, settings))

    def _able(self, dimension: str, own: Sequence[str]) -> list[str]:
        """Measured metrics of a dimension that have an area, the report's own first."""
        named = [
            name
            for name, facts in self._given.facts.items()
            if facts.dimension == dimension and "return" in facts.roles and not parse_series(name).is_against_first
        ]
        every = dict.fromkeys([*own, *named])
        return [name for name in every if name in self._measured and has_retention(self._given.facts.get(name))]


def _lean(given: AnalysisInput, settings: AnalysisSettings) -> AnalysisInput:
    """The input without rows that do not affect an order: lags, diagnostics, no-reference scores."""
    kept = [
        name
        for name, facts in given.facts.items()
        if facts.kind in ("full-reference", "semantic", "adherence") or name in (settings.headline, settings.semantic)
    ]
    rows = given.measurements
    return replace(given, measurements=rows.filter(pl.col("metric").is_in(kept)) if rows.width else rows)


def _row(choice: AlternativeOrder, reported: EditorOrder) -> dict[str, object]:
    row: dict[str, object] = {"factor": choice.factor, "choice": choice.name, "chosen": choice.chosen}
    order = choice.order
    if order is None or not order.places:
        return {**row, "note": choice.note or "no editor has a rank here"}
    absent = [editor for editor in reported.places if editor not in order.places]
    note = choice.note or (f"without a rank here: {', '.join(absent)}" if absent else None)
    row |= {"order": order.text, "n_cases": order.cases, "note": note}
    return {**row, **compare_orders(reported, order)}


def _what_changes(changed: Sequence[Mapping[str, object]], unit: Unit) -> list[str]:
    words = {
        METRIC: "the metric",
        ADHERENCE: "adherence",
        LEVEL: "the level of the half-life",
        MEANING: "the measure of meaning",
        ROUNDS: f"the number of {unit.many}",
        ALIGNMENT: "the alignment",
    }
    found: dict[str, list[str]] = {}
    for row in changed:
        found.setdefault(str(row["factor"]), []).append(str(row["choice"]).partition(" (")[0])
    return [f"{words[factor]} ({', '.join(names)})" for factor, names in found.items()]
