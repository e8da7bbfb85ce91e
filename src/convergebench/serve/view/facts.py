"""What the pages show of a run as a whole: what it is, its editors and metrics, its curves, how it was made."""

from __future__ import annotations

from typing import Any

import polars as pl

from convergebench.analysis.series import facts_of_series, parse_series
from convergebench.report.made import find_key
from convergebench.report.palette import DARK, LIGHT, styles
from convergebench.report.titles import study_title
from convergebench.serve.guard import Refusal
from convergebench.serve.view.tables import RunTables

_BETTER = {"higher": "up", "lower": "down", "neither": ""}


def editors(tables: RunTables) -> list[dict[str, Any]]:
    """Every editor with its colour, in the order of the manifest."""
    seen = tables.chains["editor"].unique(maintain_order=True).to_list()
    named = list(dict.fromkeys([*tables.manifest.editors, *seen]))
    drawn = styles(named)
    return [
        {
            "name": name,
            "colour": {
                "light": LIGHT[drawn[name].slot],
                "dark": DARK[drawn[name].slot],
                "slot": drawn[name].slot,
                "dash": drawn[name].dash,
            },
            "simulated": bool(tables.manifest.editors.get(name, {}).get("simulated")),
            "instructed": tables.manifest.editors.get(name, {}).get("instructed") is not False,
        }
        for name in named
    ]


def metric(tables: RunTables, name: str) -> dict[str, Any]:
    """What is known of the metric of a series."""
    known = facts_of_series(name, tables.facts)
    plain_series = parse_series(name, tables.facts).role == ""
    levels = [("noticeable", known.noticeable), ("half lost", known.half)] if known and plain_series else []
    own = known.self_value if known and plain_series and known.kind in ("full-reference", "semantic") else None
    return {
        "name": name,
        "better": _BETTER[known.better] if known else "",
        "unit": known.unit if known else "",
        "summary": known.summary if known else "",
        "kind": known.kind if known else "",
        "levels": [[word, level] for word, level in levels if level is not None],
        "self": own,
    }


def made(tables: RunTables) -> dict[str, Any]:
    """How the run was made."""
    facts = tables.made
    versions = facts.get("versions") or {}
    fingerprints = {f"editor {one['name']}": one.get("fingerprint") for one in facts["editors"]}
    fingerprints |= {f"metric {one['name']}": one.get("fingerprint") for one in facts["metrics"]}
    return {
        "command": facts.get("command") or "",
        "version": versions.get("convergebench", ""),
        "versions": versions,
        "hashes": {"suite": facts["suite_hash"], "pairs": facts["pairs_hash"], **fingerprints},
        "seed": find_key(facts.get("spec"), "seed"),
        "date": facts.get("created") or "",
        "align": tables.align,
    }


def title(tables: RunTables) -> str:
    """The heading of its pages."""
    return study_title(tables.made)


def curves(tables: RunTables, name: str) -> dict[str, Any]:
    """The mean of a series over rounds: with intervals from the report where it still fits, else plain means."""
    if not name:
        name = tables.main
    if name not in tables.series:
        raise Refusal(404, "There are no values of this metric in the run.")
    known = tables.analysed.curves.filter((pl.col("metric") == name) & (pl.col("group") == "all"))
    fits = known.height > 0 and _is_current(tables)
    points = known if fits else _means(tables, name)
    series = [
        {
            "editor": editor,
            "points": [
                {"x": row["round"], "value": row["mean"], "low": row["low"], "high": row["high"], "n": row["n_cases"]}
                for row in points.filter(pl.col("editor") == editor).sort("round").iter_rows(named=True)
            ],
        }
        for editor in points["editor"].unique(maintain_order=True)
    ]
    facts = metric(tables, name)
    words = "mean with 95 % interval, from the report" if fits else "plain mean of the images so far, without interval"
    return {"metric": name, "better": facts["better"], "levels": facts["levels"], "series": series, "note": words}


def _is_current(tables: RunTables) -> bool:
    """Whether every chain is as it was when the report was written."""
    keys = ["editor", "case", "status", "steps"]
    now, then = tables.chains.select(keys), tables.analysed.chains.select(keys)
    return now.height == then.height and now.join(then, on=keys, how="anti").height == 0


def _means(tables: RunTables, name: str) -> pl.DataFrame:
    found = tables.images.filter(pl.col(name).is_not_null() & pl.col(name).is_not_nan() & pl.col(name).is_finite())
    return (
        found.group_by("editor", "round", maintain_order=True)
        .agg(pl.col(name).mean().alias("mean"), pl.len().cast(pl.Int64).alias("n_cases"))
        .with_columns(pl.lit(None, pl.Float64).alias("low"), pl.lit(None, pl.Float64).alias("high"))
    )
