"""The audit's findings as plain sentences, the most telling first.

Counts are told as counts. A claim that one metric is better than another, or that a share lies on one side of a line,
is made only where its test or its interval carries it; else the sentence says that it cannot be told.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl

from convergebench.analysis.audit.clusters import last_gaps
from convergebench.analysis.audit.material import ALL, Material
from convergebench.analysis.audit.words import counted, ends, listed, percent
from convergebench.analysis.bootstrap import FEWEST_SOURCES
from convergebench.metrics.iqa.typical import PUBLISHED

NOTHING = "No picture has been scored yet, so no metric can be judged."
NO_GAP = "No picture has a score both at the baseline and at a later step, so no metric can be judged."

Row = Mapping[str, Any]


def sentences(frames: Mapping[str, pl.DataFrame], material: Material) -> tuple[str, ...]:
    """Every finding with its numbers."""
    audited = list(frames["metrics"].filter(status="audited").iter_rows(named=True))
    if not audited:
        return (NOTHING,)
    if frames["gaps"]["gap"].null_count() == frames["gaps"].height:
        return NO_GAP, _coverage(audited)
    return (
        f"{_too_few(audited, frames['gaps'])}{_columns(audited)}{_worst_at_last(frames['gaps'], material)}.",
        _coverage(audited),
        *_rates(audited, frames["pairs"], material),
        *_filters(frames["filter_risk"], material),
        *_effects(frames["confound"]),
    )


def _too_few(audited: Sequence[Row], gaps: pl.DataFrame) -> str:
    """Where not one metric can be judged, that comes before all counts."""
    if any(row["verdict"] != "too few to tell" for row in audited):
        return ""
    images = gaps.filter(pl.col("gap").is_not_null())["source"].n_unique()
    if images >= FEWEST_SOURCES:
        return "Too many scores are missing to judge a metric. "
    verb = "is" if images == 1 else "are"
    return f"{counted(images, 'image')} {verb} too few to judge a metric: it takes {FEWEST_SOURCES}. "


def _columns(audited: Sequence[Row]) -> str:
    """Whether any column of the heatmap is fully white, by the data."""
    white = [_marked(row) for row in audited if row["white"]]
    failing = [row for row in audited if row["n_failed"]]
    unknown = len(audited) - len(white) - len(failing)
    if len(audited) == 1:
        verb = "notices" if white else "does not notice" if failing else "is not known to notice"
        return f"{audited[0]['metric']}, the one metric that was run, {verb} the damage on every image"
    if white:
        verb = "notices" if len(white) == 1 else "notice"
        return f"{len(white)} of {len(audited)} metrics that were run {verb} the damage on every image: {_all(white)}"
    if unknown:
        return (
            f"None of the {len(audited)} metrics that were run is known to notice the damage on every image "
            f"({len(failing)} failing, {unknown} lacking scores), so no column is fully white"
        )
    return (
        f"None of the {len(audited)} metrics that were run notices the damage on every image: no column is fully white"
    )


def _marked(row: Row) -> str:
    """The name, and that it is no test where the metric was learned from what it is held against."""
    return f"{row['metric']}, which was learned from editors like these" if row["learned_from"] else str(row["metric"])


def _worst_at_last(gaps: pl.DataFrame, material: Material) -> str:
    """The metric that is fooled most often where the damage is greatest."""
    counts = last_gaps(gaps).group_by("metric", "at", maintain_order=True).agg(
        pl.col("failed").sum().alias("failed"), pl.len().alias("of"), pl.col("zero").sum().alias("zero")
    )  # fmt: skip
    if not counts.height or not counts["failed"].max():
        return ""
    row = counts.sort(pl.col("failed") / pl.col("of"), descending=True, maintain_order=True).row(0, named=True)
    by, base = material.settings.by, material.settings.baseline
    before = f"after {'one' if base == 1 else base}" if base else "untouched"
    better = "no worse" if row["zero"] else "better"
    pictures = f"{row['failed']} of {counted(row['of'], 'picture')}"
    after = f"{row['at']} {by}{'' if row['at'] == 1 else 's'}"
    return f"; {row['metric']} calls {pictures} {better} after {after} than {before}"


def _coverage(audited: Sequence[Row]) -> str:
    published = sum(row["published"] for row in audited)
    others = [row["metric"] for row in audited if not row["published"]]
    more = f", and {_all(others)} beside them" if others else ""
    verb = "was" if published == 1 else "were"
    return f"{published} of the {len(PUBLISHED)} published metrics {verb} run{more}."


def _rates(audited: Sequence[Row], pairs: pl.DataFrame, material: Material) -> list[str]:
    """Who fails least, as far as that can be told, and what changes if every single run must be noticed."""
    known = [{**row, "decided": row["n_cells"] - row["n_missing"]} for row in audited if row["share"] is not None]
    known.sort(key=lambda row: row["share"])
    if not known:
        return []
    fewest = [row for row in known if row["share"] == known[0]["share"]]
    if len(known) == 1:
        told = [f"Failures: {_rate(known, material)} of {counted(known[0]['decided'], 'picture')}."]
    elif len(fewest) == len(known):
        told = [f"All {len(known)} fail on the same share of pictures: {_rate(known, material)}."]
    else:
        told = [_least(known, fewest, pairs, material)]
    white, strict = (sum(row[name] for row in audited) for name in ("white", "white_any"))
    more = sum(row["n_failed_any"] - row["n_failed"] for row in audited)
    if white != strict or more:
        verb = "fails" if more == 1 else "fail"
        knows = "is known to notice" if 1 in (strict, len(audited)) else "are known to notice"
        told.append(
            f"Taken run by run instead of on the mean, {counted(more, 'more cell')} {verb}, "
            f"and {strict} of {counted(len(audited), 'metric')} {knows} the damage in every run."
        )
    return told


def _least(known: Sequence[Row], fewest: Sequence[Row], pairs: pl.DataFrame, material: Material) -> str:
    """The metrics with the fewest failures, and which of the others surely fail more often than all of them."""
    names = [row["metric"] for row in fewest]
    beaten = pairs.filter("told", pl.col("fewer").is_in(names)).group_by("more").len()
    more = set(beaten.filter(pl.col("len") == len(names))["more"])
    others = [row["metric"] for row in known if row["metric"] not in names]
    surely, open_ = ([name for name in others if (name in more) is wanted] for wanted in (True, False))
    images = counted(max(row["n_sources"] for row in known), "image")
    if not surely:
        most = [row for row in known if row["share"] == known[-1]["share"]]
        return (
            f"Which metric fails least cannot be told with {images}: shares go from {_rate(fewest, material)}, to "
            f"{_rate(most, material)}."
        )
    taught = " (learned from editors like these)" if any(row["learned_from"] for row in fewest) else ""
    told = f"Fewest failures: {_rate(fewest, material)} of pictures{taught}; {_all(surely)} surely "
    told += "fails more often" if len(surely) == 1 else "fail more often"
    return f"{told}, of {_all(open_)} that cannot be told with {images}." if open_ else f"{told}."


def _rate(rows: Sequence[Row], material: Material) -> str:
    """Metrics of one share; their intervals are told if they are one too."""
    bands = {ends(row["low"], row["high"], material.settings.confidence, share=True) for row in rows}
    band = bands.pop() if len(bands) == 1 else ""
    return f"{_all([row['metric'] for row in rows])}, {percent(rows[0]['share'])}{band}"


def _filters(risk: pl.DataFrame, material: Material) -> list[str]:
    """The mildest filter that could be set, at the last gap: what comes through."""
    every = risk.filter(pl.col("at").is_in(material.settings.gaps), editor=ALL)
    own = every.drop_nulls("share")
    if not own.height:
        return _no_filter(every)
    own = own.filter(pl.col("at") == pl.col("at").max(), pl.col("percentile") == pl.col("percentile").min())
    worst = own.sort("share", descending=True, maintain_order=True).row(0, named=True)
    alike = own.filter(pl.col("share") == worst["share"])["metric"].to_list()
    # the percentile of a handful of images keeps fewer of them than it says
    keeps = f"set at percentile {worst['percentile']:g} of the untouched images, which keeps "
    keeps += f"{percent(worst['clean_share'])} of them,"
    band = ends(worst["low"], worst["high"], material.settings.confidence, share=True)
    where = f"{material.settings.by} {worst['at']}"
    others = f"; so does one on {_all(alike[1:])}" if len(alike) > 1 else ""
    passed = f"{percent(worst['share'])}{band} of the pictures at {where}"
    return [f"A filter on {worst['metric']} {keeps} lets {passed} through{others}."]


def _no_filter(every: pl.DataFrame) -> list[str]:
    """That no filter could be set, and what the least demanding one would take."""
    if not every.height:
        return []
    least = every.sort("needed").row(0, named=True)
    images = counted(least["n_clean"], "untouched image")
    return [f"{images} are too few to set a filter: one at percentile {least['percentile']:g} takes {least['needed']}."]


def _effects(confound: pl.DataFrame) -> list[str]:
    """For which metrics content surely outweighs damage, or damage content."""
    known = confound.drop_nulls("ratio")
    told = known.drop_nulls("low")
    if not told.height:
        return []
    content = told.filter(pl.col("high") < 1).sort("ratio")["metric"].to_list()
    damage = told.filter(pl.col("low") > 1).sort("ratio")["metric"].to_list()
    open_ = told.height - len(content) - len(damage)
    if len(damage) == told.height:
        whom = f"all {told.height} metrics" if told.height > 1 else damage[0]
        return [f"Damage surely moves {whom} by more than what is on the picture does."]
    of = f"of {counted(told.height, 'metric')}"
    parts = []
    if content:
        more = "what is on the picture surely moves the score more than the damage does"
        parts.append(f"for {len(content)} {of} ({_all(content)}) {more}")
    if damage:
        parts.append(f"for {len(damage)} {of} ({_all(damage)}) damage surely moves the score more than content does")
    if open_:
        whom = str(told["metric"][0]) if told.height == 1 else f"{open_} {of}"
        parts.append(f"for {whom} it cannot be told whether content or damage moves the score more")
    line = "; ".join(parts)
    return [f"{line[0].upper()}{line[1:]}."]


def _all(names: list[str]) -> str:
    return listed(names, most=5)
