"""Which pictures the page shows: chosen by rule from the measured gains, never by eye."""

from __future__ import annotations

from statistics import fmean, median

import polars as pl

from convergebench.analysis.restoration.result import RestorationAnalysis
from convergebench.report.input import Row, rows
from convergebench.report.page import Page
from convergebench.report.sections.restoration.found import gain_text, metric_head, unified_rows
from convergebench.report.sections.restoration.pictures import RestoredPictures
from convergebench.report.wording import number


def gains_of(page: Page, found: RestorationAnalysis, *, kind: str | None = None) -> tuple[str, list[Row]]:
    """The metric that pictures are chosen by, the first with gains, and the rows of `restored` with these gains."""
    own = unified_rows(found).filter(pl.col("gain").is_finite(), pl.col("editor").is_in(list(page.style)))
    own = own if kind is None else own.filter(pl.col("kind") == kind)
    for metric in found.metrics:
        part = rows(own, metric=metric)
        if part:
            return metric, part
    return "", []


def chosen_pictures(page: Page, found: RestorationAnalysis, *, kind: str | None = None) -> list[Row]:
    """At most three pictures: `source`, `whys` (the rules that chose it), `editors` (whose gain they are about)."""
    metric, gains = gains_of(page, found, kind=kind)
    if not gains:
        return []
    head = metric_head(metric, page.given)

    def said(value: float) -> str:
        return f"{gain_text(value, head['digits'])}{_unit(head)} {metric}"

    best = max(gains, key=lambda row: (row["gain"], row["editor"], row["source"]))
    worst = min(gains, key=lambda row: (row["gain"], row["editor"], row["source"]))
    means: dict[str, list[float]] = {}
    for row in gains:
        means.setdefault(row["source"], []).append(row["gain"])
    middle = median(fmean(values) for values in means.values())
    typical = min(means, key=lambda source: (abs(fmean(means[source]) - middle), source))
    several = len({row["editor"] for row in gains}) > 1
    usual = f"nearest the median gain: {said(fmean(means[typical]))}{', mean of the methods' if several else ''}"
    least = "largest loss" if worst["gain"] < 0 else "smallest gain"
    named = [
        (best["source"], f"largest gain: {best['editor']}, {said(best['gain'])}", [best["editor"]]),
        (typical, usual if len(means) > 1 else "the only picture", []),
        (worst["source"], f"{least}: {worst['editor']}, {said(worst['gain'])}", [worst["editor"]]),
    ]
    if len(gains) == 1:
        named = named[:1]
    chosen: dict[str, Row] = {}
    for source, why, editors in named:
        one = chosen.setdefault(source, {"metric": metric, "source": source, "whys": [], "editors": []})
        one["whys"].append(why)
        one["editors"] += editors
    return [{**one, "typical": one["source"] == typical} for one in chosen.values()]


def strip_of(page: Page, found: RestorationAnalysis, choice: Row, pictures: RestoredPictures) -> Row:
    """The strip of a chosen picture: the input, every method in the page's order, the clean picture."""
    own = unified_rows(found).filter(pl.col("source") == choice["source"])
    cases = {row["editor"]: row["case"] for row in rows(own)}
    values = {row["editor"]: row for row in rows(own, metric=choice["metric"])}
    head = metric_head(choice["metric"], page.given)
    methods = [editor for editor in page.drawn if editor in cases]
    if not methods:
        return {**pictures.strip("", []), **choice}
    before = next((row["before"] for row in values.values() if row["before"] is not None), None)
    given = pictures.result(methods[0], cases[methods[0]], round=0, name="input", note=_value(before, head))
    shown = [
        pictures.result(
            editor,
            cases[editor],
            note=_value(values[editor]["value"] if editor in values else None, head),
            marked=editor in choice["editors"],
        )
        for editor in methods
    ]
    compared = own["metric"].is_in([name for name in found.metrics if metric_head(name, page.given)["reference"]]).any()
    clean = pictures.clean(choice["source"], given, compared=compared)
    return {**pictures.strip(f"{choice['source']}: {'; '.join(choice['whys'])}", [given, *shown, clean]), **choice}


def typical_strip(page: Page, found: RestorationAnalysis) -> Row | None:
    """The picture nearest the median gain, for the top of the page."""
    for choice in chosen_pictures(page, found):
        if choice["typical"]:
            return strip_of(page, found, {**choice, "editors": []}, RestoredPictures(page))
    return None


def _value(value: float | None, head: Row) -> str:
    return "" if value is None else f"{number(value, head['digits'])}{_unit(head)}"


def _unit(head: Row) -> str:
    return f" {head['unit']}" if head["unit"] else ""
