"""A verdict for every metric, with the sentence that explains it.

The verdict follows from the interval of the share of failing pictures. Often fooled: the whole interval is at a quarter
or above. Seldom fooled: all of it is below a quarter, with some failures. Sound: all of it is below a quarter, nothing
fails and nothing is missing, on enough images. Otherwise `cannot be told` or, without failures, `unproven`. Fewer than
five source images have no interval: `too few to tell`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl

from convergebench.analysis.audit.audit_data import ALL, AuditData, by_name, table
from convergebench.analysis.audit.clusters import last_gaps, means
from convergebench.analysis.audit.result import AuditInput
from convergebench.analysis.audit.settings import OFTEN
from convergebench.analysis.bootstrap import FEWEST_SOURCES
from convergebench.analysis.wording import counted, interval, listed, percent, share_interval
from convergebench.metrics.base import MetricFacts
from convergebench.metrics.iqa.published import PUBLISHED, Published
from convergebench.studies.analysis_settings import AuditSettings

NOT_REQUESTED = "not asked for in any of these runs"

Row = Mapping[str, Any]


def metric_table(given: AuditInput, data: AuditData, gaps: pl.DataFrame, found: Sequence[Row]) -> pl.DataFrame:
    """The frame `metrics`: every audited, requested or published metric; `found` are the tallies."""
    tally = {row["metric"]: row for row in found if row["editor"] == ALL}
    by_editor = {name: [row for row in found if row["metric"] == name and row["editor"] != ALL] for name in data.scales}
    drift = {row["metric"]: row for row in means(last_gaps(gaps), ["metric", "at"], "gap", data.bootstrap)}
    names = {*data.scales, *data.refused, *given.not_run, *PUBLISHED}
    rows = []
    for name in sorted(names, key=by_name):
        row = _known(name, given, data)
        if name in data.scales:
            own = tally.get(name, _nothing(name))
            word, reason = _verdict(own, by_editor[name], drift.get(name), data)
            row["learned_from"] = _training_editors(given.facts.get(name), by_editor[name])
            if row["learned_from"] and word in ("sound", "seldom fooled"):
                word, reason = "unproven", f"{reason.removesuffix('.')}, but it was trained on {row['learned_from']}."
            rows.append({**own, **row, "status": "audited", "verdict": word, "reason": reason})
        else:
            unknown = dict.fromkeys(("status", "verdict"), "not run")
            rows.append({**_nothing(name), **row, **unknown, "reason": f"Not run: {row['why']}."})
    return table("metrics", rows)


def _training_editors(facts: MetricFacts | None, by_editor: Sequence[Row]) -> str:
    """The audited editors whose pictures trained the metric."""
    taught = set(facts.learned_from) if facts is not None else set()
    return ", ".join(row["editor"] for row in by_editor if row["editor"] in taught and row["n_cells"])


def _nothing(name: str) -> dict[str, Any]:
    counts = ("n_cells", "n_failed", "n_failed_any", "n_zero", "n_missing", "n_sources", "n_editors")
    none = dict.fromkeys(("share", "low", "high"))
    zero = dict.fromkeys((*counts, "decided", "images"), 0)
    return {"metric": name, **zero, **none, "white": False, "white_any": False}


def _known(name: str, given: AuditInput, data: AuditData) -> dict[str, Any]:
    facts, published = given.facts.get(name), PUBLISHED.get(name)
    scale, override = data.scales.get(name), data.settings.ranges.get(name)
    low, high = _range(facts, published, override) if scale is None else (scale.low, scale.high)
    why = given.not_run.get(name, "")
    if scale is None:
        why = data.refused.get(name) or why or NOT_REQUESTED
    return {
        **{"title": published.title if published else name, "route": published.route if published else _route(facts)},
        **{"published": published is not None, "why": why.rstrip("."), "learned_from": ""},
        "better": facts.better if facts else (published.better if published else None),
        **{"range_low": low, "range_high": high, "range_ours": override is not None},
    }


def _range(
    facts: MetricFacts | None, published: Published | None, override: tuple[float, float] | None
) -> tuple[float | None, float | None]:
    """The range of a metric that was not run, None if it is unknown."""
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


def _verdict(own: Row, by_editor: Sequence[Row], drift: Row | None, data: AuditData) -> tuple[str, str]:
    settings = data.settings
    if not own["decided"]:
        return "too few to tell", f"None of {counted(own['n_cells'], 'picture')} has all the scores that it takes."
    facts = _failing(own, by_editor, settings.confidence) if own["n_failed"] else _clean(own)
    if own["low"] is None or own["high"] is None:
        few = f"{counted(own['images'], 'source image')} {'is' if own['images'] == 1 else 'are'} too few to tell more"
        return "too few to tell", f"{facts}; {few}, it takes {FEWEST_SOURCES}."
    if drift is not None and drift["low"] is not None and drift["low"] > 0:
        band = interval(drift["low"], drift["high"], settings.confidence, digits=2, dash=False)
        rise = f"Scores rise by {drift['mean']:.2f} of 100 on average{band} by {settings.by} {drift['at']}"
        return "rewards damage", f"{rise}; {facts[0].lower()}{facts[1:]}."
    return verdict_on(own, facts, settings)


def verdict_on(own: Row, facts: str, settings: AuditSettings) -> tuple[str, str]:
    """The verdict on counts with their interval, and the sentence `facts` with the reason."""
    quarter = percent(OFTEN)
    if own["low"] >= OFTEN:
        return "often fooled", f"{facts}; the whole interval is at {quarter} or above."
    if own["n_failed"]:
        if own["high"] < OFTEN:
            return "seldom fooled", f"{facts}; the whole interval is below {quarter}."
        images = counted(own["images"], "image")
        return "cannot be told", f"{facts}; with {images} the interval includes {quarter}, so this is undecided."
    if own["n_missing"]:
        verb = "lacks" if own["n_missing"] == 1 else "lack"
        return "unproven", f"{facts}, but {own['n_missing']} of {own['n_cells']} {verb} a score."
    band = share_interval(own["low"], own["high"], settings.confidence)
    if own["high"] >= OFTEN:
        return "unproven", f"{facts}{band}, but the interval is not entirely below {quarter}."
    if own["n_sources"] < settings.enough:
        return "unproven", f"{facts}{band}, but it takes {settings.enough} images to call it sound."
    alone = own["n_failed_any"]
    return "sound", f"{facts}{band}{f'; in single runs {alone} of them fail' if alone else ''}."


def _clean(own: Row) -> str:
    images, editors = counted(own["n_sources"], "source image"), counted(own["n_editors"], "editor")
    return f"No failure on {counted(own['decided'], 'picture')} of {images} under {editors}"


def _failing(own: Row, by_editor: Sequence[Row], confidence: float) -> str:
    band = share_interval(own["low"], own["high"], confidence)
    facts = f"Fails on {own['n_failed']} of {counted(own['decided'], 'picture')}, {percent(own['share'])}{band}"
    failing = (row for row in by_editor if row["n_failed"])
    worst = sorted(failing, key=lambda row: (-row["n_failed"] / row["seen"], row["editor"]))
    where = [f"{row['editor']} ({row['n_failed']} of {row['n_cells']}{_unknown(row)})" for row in worst]
    facts += f" ({own['n_missing']} more cannot be told)" if own["n_missing"] else ""
    return f"{facts}: {listed(where, most=4)}" if len(by_editor) > 1 else f"{facts}, of {worst[0]['editor']}"


def _unknown(row: Row) -> str:
    return f", {row['n_missing']} unknown" if row["n_missing"] else ""
