"""`--until decided --dry-run`: how many images, calls and dollars a question is expected to need."""

from __future__ import annotations

from pathlib import Path

import polars as pl

from convergebench.analysis.retention import has_retention, retention
from convergebench.analysis.sequential.expected import SPREAD, Scenario, scenario
from convergebench.analysis.sequential.foresight import foreseen_round
from convergebench.analysis.sequential.question import UntilQuestion
from convergebench.engine.plan import EditorForecast, forecast
from convergebench.engine.prepared import Prepared
from convergebench.report.input import ReportInput
from convergebench.store.run import is_complete

DIFFERENCES = (0.0, 1.0, 2.0, 4.0, 6.0)
"""Differences of the scenarios, in smallest differences of interest."""


def saving_lines(root: Path, prepared: Prepared, question: UntilQuestion) -> list[str]:
    """A line per scenario, beside the calls and dollars of the whole study."""
    given = _seen(root)
    spread, seen = _spread(given)
    whole = {row.editor: row for row in forecast(prepared.chains, prepared.editors, {})}
    compared = len(question.pairs)
    lines = [
        f"until decided: {compared} comparison{'s' if compared > 1 else ''} of {question.number}, differences from "
        f"{question.difference:g} points, error {question.error:.0%} over all, at most {question.most} images, "
        f"method {question.method}",
        f"expected, if differences vary by {spread:.0f} points between images "
        f"({'as in this run so far' if seen else 'an assumption'}):",
        f"{'editors differ by':>18} {'images':>8} {'calls':>10} {'dollars':>10} {'of all':>7} {'decided':>8}",
    ]
    for times in DIFFERENCES:
        lines.append(_line(scenario(question, times * question.difference, spread), whole, question))
    return [*lines, *_foreseen(given)]


def _line(found: Scenario, whole: dict[str, EditorForecast], question: UntilQuestion) -> str:
    images = len(question.order)
    share = {name: found.images.get(name, 0.0) / images for name in question.editors}
    calls = sum(share[name] * whole[name].calls for name in question.editors)
    every = sum(whole[name].calls for name in question.editors)
    prices = [whole[name].dollars for name in question.editors]
    dollars = sum(share[name] * (whole[name].dollars or 0.0) for name in question.editors)
    price = "unknown" if None in prices else f"{dollars:,.2f}"
    most = max(found.images.values())
    what = f"{found.difference:g} points"
    return (
        f"{what:>18} {most:>8.1f} {calls:>10,.0f} {price:>10} {calls / max(every, 1):>7.0%} {found.decided:>8.0%}"
    )  # fmt: skip


def _seen(root: Path) -> ReportInput | None:
    from convergebench.conductor.analyse import report_input

    return report_input(root) if is_complete(root) else None


def _spread(given: ReportInput | None) -> tuple[float, bool]:
    """The spread between images that the run has shown, or the assumption."""
    seen = given.analysis.pairwise["spread"].drop_nulls() if given is not None else pl.Series(dtype=pl.Float64)
    largest = max((float(value) for value in seen if value > 0), default=0.0)
    return (largest, True) if largest else (SPREAD, False)


def _foreseen(given: ReportInput | None) -> list[str]:
    """When each editor's headline curve would pass its level, by the rounds so far."""
    if given is None:
        return []
    settings = given.analysis.settings
    facts = given.facts.get(settings.headline)
    rows = given.analysis.half_life.filter(metric=settings.headline, level=settings.level, group="all")
    if facts is None or not has_retention(facts) or not rows.height:
        return []
    level = float(retention(rows["threshold"].to_numpy()[:1], facts)[0])
    lines = []
    for editor in given.editors:
        curve = given.analysis.curves.filter(metric=settings.headline, group="all", editor=editor).sort("round")
        if not curve.height:
            continue
        guess = foreseen_round(retention(curve["mean"].fill_null(float("nan")).to_numpy(), facts), level)
        if guess is not None:
            lines.append(
                f"for planning only: by its first {curve.height - 1} rounds {editor} passes {settings.headline} "
                f"{settings.level} about {given.unit.one} {guess:.0f}"
            )
    return lines
