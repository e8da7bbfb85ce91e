"""One word for every metric, with the sentence that carries it.

The word follows from the interval of the share of pictures that fail, not from the share itself. Often fooled: all of
the interval lies at a quarter or above. Seldom fooled: all of it lies under a quarter, though the metric fails
somewhere. Sound: all of it lies under a quarter, nothing fails and nothing is missing, on enough images. Between these
nothing can be told or, where nothing fails, nothing is proven. Fewer than five source images have no interval: they are
too few to tell.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl

from convergebench.analysis.audit.clusters import last_gaps, means
from convergebench.analysis.audit.material import ALL, Material, by_name, table
from convergebench.analysis.audit.result import AuditInput
from convergebench.analysis.audit.settings import OFTEN, AuditSettings
from convergebench.analysis.audit.words import counted, ends, listed, percent
from convergebench.analysis.bootstrap import FEWEST_SOURCES
from convergebench.metrics.base import MetricFacts
from convergebench.metrics.iqa.typical import PUBLISHED, Published

NOWHERE = "not asked for in any of these runs"

Row = Mapping[str, Any]


def metric_table(given: AuditInput, material: Material, gaps: pl.DataFrame, found: Sequence[Row]) -> pl.DataFrame:
    """The frame `metrics`: every metric that was audited, meant to be, or published; `found` are the tallies."""
    tally = {row["metric"]: row for row in found if row["editor"] == ALL}
    places = {
        name: [row for row in found if row["metric"] == name and row["editor"] != ALL] for name in material.scales
    }
    drift = {row["metric"]: row for row in means(last_gaps(gaps), ["metric", "at"], "gap", material.bootstrap)}
    names = {*material.scales, *material.refused, *given.not_run, *PUBLISHED}
    rows = []
    for name in sorted(names, key=by_name):
        row = _known(name, given, material)
        if name in material.scales:
            own = tally.get(name, _nothing(name))
            word, reason = _verdict(own, places[name], drift.get(name), material)
            row["learned_from"] = _teachers(given.facts.get(name), places[name])
            if row["learned_from"] and word in ("sound", "seldom fooled"):
                word, reason = "unproven", f"{reason.removesuffix('.')}, but it was learned from {row['learned_from']}."
            rows.append({**own, **row, "status": "audited", "verdict": word, "reason": reason})
        else:
            why = str(row["why"])
            rows.append(
                {**_nothing(name), **row, "status": "not run", "verdict": "not run", "reason": f"Not run: {why}."}
            )
    return table("metrics", rows)


def _teachers(facts: MetricFacts | None, places: Sequence[Row]) -> str:
    """The editors here that the metric was learned from."""
    taught = set(facts.learned_from) if facts is not None else set()
    return ", ".join(row["editor"] for row in places if row["editor"] in taught and row["n_cells"])


def _nothing(name: str) -> dict[str, Any]:
    counts = ("n_cells", "n_failed", "n_failed_any", "n_zero", "n_missing", "n_sources", "n_editors")
    none = dict.fromkeys(("share", "low", "high"))
    zero = dict.fromkeys((*counts, "decided", "images"), 0)
    return {"metric": name, **zero, **none, "white": False, "white_any": False}


def _known(name: str, given: AuditInput, material: Material) -> dict[str, Any]:
    facts, published = given.facts.get(name), PUBLISHED.get(name)
    scale, override = material.scales.get(name), material.settings.ranges.get(name)
    low, high = _range(facts, published, override) if scale is None else (scale.low, scale.high)
    why = given.not_run.get(name, "")
    if scale is None:
        why = material.refused.get(name) or why or NOWHERE
    return {
        **{"title": published.title if published else name, "route": published.route if published else _route(facts)},
        **{"published": published is not None, "why": why.rstrip("."), "learned_from": ""},
        "better": facts.better if facts else (published.better if published else None),
        **{"range_low": low, "range_high": high, "range_ours": override is not None},
    }


def _range(
    facts: MetricFacts | None, published: Published | None, override: tuple[float, float] | None
) -> tuple[float | None, float | None]:
    """The range of a metric that was not run, as far as anybody knows it."""
    if override is not None:
        return override
    if facts is not None:
        return facts.typical or facts.range
    return (published.low, published.high) if published is not None else (None, None)


def _route(facts: MetricFacts | None) -> str:
    if facts is None:
        return "plug-in"
    if facts.asks:
        return "served"
    return "pyiqa" if "iqa" in facts.needs else "native"


def _verdict(own: Row, places: Sequence[Row], drift: Row | None, material: Material) -> tuple[str, str]:
    settings = material.settings
    if not own["decided"]:
        return "too few to tell", f"None of {counted(own['n_cells'], 'picture')} has all the scores that it takes."
    told = _failing(own, places, settings.confidence) if own["n_failed"] else _clean(own)
    if own["low"] is None or own["high"] is None:
        few = f"{counted(own['images'], 'source image')} {'is' if own['images'] == 1 else 'are'} too few to tell more"
        return "too few to tell", f"{told}; {few}, it takes {FEWEST_SOURCES}."
    if drift is not None and drift["low"] is not None and drift["low"] > 0:
        band = ends(drift["low"], drift["high"], settings.confidence, digits=2)
        rise = f"Scores rise by {drift['mean']:.2f} of 100 on average{band} by {settings.by} {drift['at']}"
        return "rewards damage", f"{rise}; {told[0].lower()}{told[1:]}."
    return verdict_on(own, told, settings)


def verdict_on(own: Row, told: str, settings: AuditSettings) -> tuple[str, str]:
    """The word for counts with their interval, and `told` with what follows from it."""
    quarter = percent(OFTEN)
    if own["low"] >= OFTEN:
        return "often fooled", f"{told}; {quarter} or more for sure."
    if own["n_failed"]:
        if own["high"] < OFTEN:
            return "seldom fooled", f"{told}; under {quarter} for sure."
        images = counted(own["images"], "image")
        return "cannot be told", f"{told}; whether that is often, {quarter} or more, cannot be told with {images}."
    if own["n_missing"]:
        verb = "lacks" if own["n_missing"] == 1 else "lack"
        return "unproven", f"{told}, but {own['n_missing']} of {own['n_cells']} {verb} a score."
    band = ends(own["low"], own["high"], settings.confidence, share=True)
    if own["high"] >= OFTEN:
        return "unproven", f"{told}{band}, but what is sound fails on under {quarter} for sure."
    if own["n_sources"] < settings.enough:
        return "unproven", f"{told}{band}, but it takes {settings.enough} images to call it sound."
    alone = own["n_failed_any"]
    return "sound", f"{told}{band}{f'; in single runs {alone} of them fail' if alone else ''}."


def _clean(own: Row) -> str:
    images, editors = counted(own["n_sources"], "source image"), counted(own["n_editors"], "editor")
    return f"No failure on {counted(own['decided'], 'picture')} of {images} under {editors}"


def _failing(own: Row, places: Sequence[Row], confidence: float) -> str:
    band = ends(own["low"], own["high"], confidence, share=True)
    told = f"Fails on {own['n_failed']} of {counted(own['decided'], 'picture')}, {percent(own['share'])}{band}"
    worst = sorted(
        (row for row in places if row["n_failed"]), key=lambda row: (-row["n_failed"] / row["seen"], row["editor"])
    )
    where = [f"{row['editor']} ({row['n_failed']} of {row['n_cells']}{_untold(row)})" for row in worst]
    told += f" ({own['n_missing']} more cannot be told)" if own["n_missing"] else ""
    return f"{told}: {listed(where, most=4)}" if len(places) > 1 else f"{told}, of {worst[0]['editor']}"


def _untold(row: Row) -> str:
    return f", {row['n_missing']} unknown" if row["n_missing"] else ""
