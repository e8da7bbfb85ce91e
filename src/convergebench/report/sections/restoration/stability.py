"""Does an editor give the same answer twice: tests over repeats, their spread, and the repeats that fell out."""

from __future__ import annotations

from typing import Any

import polars as pl

from convergebench.analysis.restoration.result import RestorationAnalysis
from convergebench.report.environment import Panels
from convergebench.report.input import Row, rows
from convergebench.report.page import Page
from convergebench.report.sections.base import TemplateSection
from convergebench.report.sections.restoration.found import (
    found_in,
    gain_text,
    methods_of,
    metric_head,
    metrics_of,
    numbers_of,
)
from convergebench.report.sections.restoration.pictures import RestoredPictures, readable
from convergebench.report.wording import interval, number, p_value, short

MOST_OUTLIERS = 6
"""Most outliers of one editor with pictures; the table `outlier_repeats` has all."""
MOST_REPEATS = 12
"""Most repeats in one strip."""


def stability_section(page: Page) -> dict[str, Any] | None:
    """A panel per editor: Friedman's tests, spread within and between pictures, outlying repeats."""
    found = found_in(page)
    if found is None or not found.stability.height:
        return None
    pictures = RestoredPictures(page)
    panels = [_panel(page, found, editor, pictures) for editor in methods_of(page, found.stability)]
    return {"panels": Panels("restoration-stability", "restoration_stability_panel.html", panels)} if panels else None


def _panel(page: Page, found: RestorationAnalysis, editor: str, pictures: RestoredPictures) -> Row:
    own = rows(found.stability, editor=editor)
    heads = [metric_head(name, page.given) for name in metrics_of(found, found.stability)]
    cells = {(row["prompt"], row["metric"]): row for row in own}
    prompts = list(dict.fromkeys(row["prompt"] for row in own))
    far = rows(found.outlier_repeats, editor=editor)
    tested = [row for row in own if row["p"] is not None]
    return {
        "name": editor,
        "heads": heads,
        "lines": [
            {"prompt": name, "cells": [_cell(cells.get((name, head["name"])), head) for head in heads]}
            for name in prompts
        ],
        "tests": len(tested),
        "significant": sum(1 for row in tested if row["significant"]),
        "significant_holm": sum(1 for row in tested if row["significant_holm"]),
        "repeats": numbers_of(own, "repeats"),
        "n": [numbers_of((row for row in own if row["metric"] == head["name"]), "n_cases") for head in heads],
        "missing": [numbers_of((row for row in own if row["metric"] == head["name"]), "n_missing") for head in heads],
        "notes": list(dict.fromkeys(row["note"] for row in own if row["note"])),
        "paper": any(row["paper_p"] is not None for row in own),
        "outliers": outlier_strips(page, found, far, pictures),
        "all_outliers": len({row["case"] for row in far}),
    }


def _cell(row: Row | None, head: Row) -> Row:
    if row is None:
        return {
            "statistic": "–",
            "p": "",
            "p_holm": "",
            "sure": False,
            "sure_holm": False,
            "spread": "–",
            "ends": "",
            "between": "",
            "share": "",
            "paper": "",
            "note": "",
        }
    places = head["digits"]
    published = "" if row["paper_p"] is None else f"{number(row['paper_statistic'], 2)}, p {p_value(row['paper_p'])}"
    between, spread = row["between"], row["spread"]
    return {
        "statistic": number(row["statistic"], 2),
        "p": p_value(row["p"]),
        "p_holm": p_value(row["p_holm"]),
        "sure": bool(row["significant"]),
        "sure_holm": bool(row["significant_holm"]),
        "spread": number(spread, places),
        "ends": interval(row["spread_low"], row["spread_high"], places),
        "between": number(between, places),
        "share": "" if spread is None or not between else f"{100 * spread / between:.0f} %",
        "paper": published,
        "note": row["note"] or "",
    }


def outlier_strips(page: Page, found: RestorationAnalysis, far: list[Row], pictures: RestoredPictures) -> list[Row]:
    """The farthest repeats, each between the other repeats of its picture, the input and the clean picture."""
    strips: list[Row] = []
    seen: set[tuple[str, str]] = set()
    for row in far:
        if len(strips) == MOST_OUTLIERS:
            break
        if (row["source"], row["prompt"]) in seen:  # one strip for a picture, by its farthest metric
            continue
        seen.add((row["source"], row["prompt"]))
        strips.append(_outlier(page, found, row, pictures))
    return readable(strips)


def _outlier(page: Page, found: RestorationAnalysis, row: Row, pictures: RestoredPictures) -> Row:
    head = metric_head(row["metric"], page.given)
    unit = f" {head['unit']}" if head["unit"] else ""
    same = found.restored.filter(
        pl.col("editor") == row["editor"],
        pl.col("source") == row["source"],
        pl.col("prompt") == row["prompt"],
        pl.col("metric") == row["metric"],
        pl.col("round") == 1,
    )
    repeats = rows(same.sort("replicate"))
    kept = repeats[:MOST_REPEATS]
    if not any(one["case"] == row["case"] for one in kept):
        kept = [*kept[:-1], *(one for one in repeats if one["case"] == row["case"])]
    shown: list[Row | None] = [pictures.result(row["editor"], row["case"], round=0, name="input")]
    for one in kept:
        far = one["case"] == row["case"]
        value = "" if one["value"] is None else f"{number(one['value'], head['digits'])}{unit}"
        name = f"repeat {one['replicate'] + 1}"
        shown.append(pictures.result(row["editor"], one["case"], name=name, note=value, marked=far))
    like = shown[0]
    compared = any(one["set"] == "scene" for one in repeats)
    shown.append(pictures.clean(row["source"], like, compared=compared) if like else None)
    said = (
        f"{row['source']}, {row['prompt']}, repeat {row['replicate'] + 1}: {row['metric']} "
        f"{gain_text(row['deviation'], head['digits'])}{unit} from the median of the repeats, "
        f"{short(row['times'])} times the usual distance"
    )
    return {**pictures.strip(said, shown), "says": said}


STABILITY = TemplateSection(
    "restoration-stability", "Stability", "restoration_stability.html", stability_section, key="stability"
)
