"""The audit's findings as plain sentences, the most important first.

A sentence claims that one metric is better than another, or that a share is on one side of a limit, only where a test
or an interval supports it; otherwise it says that this cannot be told.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl

from convergebench.analysis.audit.audit_data import ALL, AuditData
from convergebench.analysis.audit.clusters import last_gaps
from convergebench.analysis.bootstrap import FEWEST_SOURCES
from convergebench.analysis.wording import counted, listed, percent, share_interval
from convergebench.metrics.iqa.published import PUBLISHED

NOTHING = "No picture has been scored yet, so no metric can be judged."
NO_GAP = "No picture has a score both at the baseline and at a later step, so no metric can be judged."

Row = Mapping[str, Any]


def sentences(frames: Mapping[str, pl.DataFrame], data: AuditData) -> tuple[str, ...]:
    """Every finding with its numbers."""
    audited = list(frames["metrics"].filter(status="audited").iter_rows(named=True))
    if not audited:
        return (NOTHING,)
    if frames["gaps"]["gap"].null_count() == frames["gaps"].height:
        return NO_GAP, _coverage(audited)
    return (
        f"{_too_few(audited, frames['gaps'])}{_columns(audited)}{_worst_at_last(frames['gaps'], data)}.",
        _coverage(audited),
        *_rates(audited, frames["pairs"], data),
        *_filters(frames["filter_risk"], data),
        *_effects(frames["confound"]),
    )


def _too_few(audited: Sequence[Row], gaps: pl.DataFrame) -> str:
    """An introduction for audits in which no metric can be judged."""
    if any(row["verdict"] != "too few to tell" for row in audited):
        return ""
    images = gaps.filter(pl.col("gap").is_not_null())["source"].n_unique()
    if images >= FEWEST_SOURCES:
        return "Too many scores are missing to judge a metric. "
    verb = "is" if images == 1 else "are"
    return f"{counted(images, 'image')} {verb} too few to judge a metric: it takes {FEWEST_SOURCES}. "


def _columns(audited: Sequence[Row]) -> str:
    """Whether any metric catches damage on every image."""
    white = [_marked(row) for row in audited if row["white"]]
    failing = [row for row in audited if row["n_failed"]]
    unknown = len(audited) - len(white) - len(failing)
    if len(audited) == 1:
        verb = "catches damage on every" if white else "misses damage on some" if failing else "may miss damage on some"
        return f"{audited[0]['metric']}, the only metric run, {verb} image"
    if white:
        verb = "catches" if len(white) == 1 else "catch"
        return f"{len(white)} of {len(audited)} metrics {verb} damage on every image: {_all(white)}"
    if unknown:
        return (
            f"None of the {len(audited)} metrics is known to catch damage on every image "
            f"({len(failing)} miss some, {unknown} lack scores)"
        )
    return f"Every one of the {len(audited)} metrics misses damage on some image"


def _marked(row: Row) -> str:
    """The name, with a warning if the metric was trained on pictures of the audited editors."""
    return f"{row['metric']}, which was trained on editors like these" if row["learned_from"] else str(row["metric"])


def _worst_at_last(gaps: pl.DataFrame, data: AuditData) -> str:
    """The metric with the most failures at the last step."""
    counts = last_gaps(gaps).group_by("metric", "at", maintain_order=True).agg(
        pl.col("failed").sum().alias("failed"), pl.len().alias("of"), pl.col("zero").sum().alias("zero")
    )  # fmt: skip
    if not counts.height or not counts["failed"].max():
        return ""
    row = counts.sort(pl.col("failed") / pl.col("of"), descending=True, maintain_order=True).row(0, named=True)
    by, base = data.settings.by, data.settings.baseline
    before = f"after {'one' if base == 1 else base}" if base else "untouched"
    better = "no worse" if row["zero"] else "better"
    pictures = f"{row['failed']} of {counted(row['of'], 'image')}"
    after = f"{row['at']} {by}{'' if row['at'] == 1 else 's'}"
    return f"; {row['metric']} rates {pictures} {better} after {after} than {before}"


def _coverage(audited: Sequence[Row]) -> str:
    published = sum(row["published"] for row in audited)
    others = [row["metric"] for row in audited if not row["published"]]
    more = f", and {_all(others)} beside them" if others else ""
    verb = "was" if published == 1 else "were"
    return f"{published} of the {len(PUBLISHED)} published metrics {verb} run{more}."


def _rates(audited: Sequence[Row], pairs: pl.DataFrame, data: AuditData) -> list[str]:
    """Which metric fails least, if that is known, and what changes if every single run must be noticed."""
    known = [{**row, "decided": row["n_cells"] - row["n_missing"]} for row in audited if row["share"] is not None]
    known.sort(key=lambda row: row["share"])
    if not known:
        return []
    fewest = [row for row in known if row["share"] == known[0]["share"]]
    if len(known) == 1:
        lines = [f"Failures: {_rate(known, data)} of {counted(known[0]['decided'], 'picture')}."]
    elif len(fewest) == len(known):
        lines = [f"All {len(known)} fail on the same share of images: {_rate(known, data)}."]
    else:
        lines = [_least(known, fewest, pairs, data)]
    white, strict = (sum(row[name] for row in audited) for name in ("white", "white_any"))
    more = sum(row["n_failed_any"] - row["n_failed"] for row in audited)
    if white != strict or more:
        verb = "fails" if more == 1 else "fail"
        knows = "is known to catch" if 1 in (strict, len(audited)) else "are known to catch"
        lines.append(
            f"Run by run instead of on the mean, {counted(more, 'more image')} {verb}, "
            f"and {strict} of {counted(len(audited), 'metric')} {knows} damage in every run."
        )
    return lines


def _least(known: Sequence[Row], fewest: Sequence[Row], pairs: pl.DataFrame, data: AuditData) -> str:
    """The metrics with the fewest failures, and which others significantly fail more often than all of them."""
    names = [row["metric"] for row in fewest]
    beaten = pairs.filter("told", pl.col("fewer").is_in(names)).group_by("more").len()
    more = set(beaten.filter(pl.col("len") == len(names))["more"])
    others = [row["metric"] for row in known if row["metric"] not in names]
    surely, open_ = ([name for name in others if (name in more) is sure] for sure in (True, False))
    images = counted(max(row["n_sources"] for row in known), "image")
    if not surely:
        most = [row for row in known if row["share"] == known[-1]["share"]]
        return (
            f"With {images} no metric fails significantly less often than another: "
            f"shares range from {_rate(fewest, data)}, to "
            f"{_rate(most, data)}."
        )
    taught = " (trained on editors like these)" if any(row["learned_from"] for row in fewest) else ""
    line = f"Fewest failures: {_rate(fewest, data)} of images{taught}; {_all(surely)} "
    line += "fails significantly more often" if len(surely) == 1 else "fail significantly more often"
    return f"{line}; no significant difference to {_all(open_)} with {images}." if open_ else f"{line}."


def _rate(rows: Sequence[Row], data: AuditData) -> str:
    """Metrics of equal share, with the interval if that is equal too."""
    bands = {share_interval(row["low"], row["high"], data.settings.confidence) for row in rows}
    band = bands.pop() if len(bands) == 1 else ""
    return f"{_all([row['metric'] for row in rows])}, {percent(rows[0]['share'])}{band}"


def _filters(risk: pl.DataFrame, data: AuditData) -> list[str]:
    """What passes the mildest possible filter at the last gap."""
    every = risk.filter(pl.col("at").is_in(data.settings.gaps), editor=ALL)
    own = every.drop_nulls("share")
    if not own.height:
        return _no_filter(every)
    own = own.filter(pl.col("at") == pl.col("at").max(), pl.col("percentile") == pl.col("percentile").min())
    worst = own.sort("share", descending=True, maintain_order=True).row(0, named=True)
    alike = own.filter(pl.col("share") == worst["share"])["metric"].to_list()
    # the percentile of a handful of images keeps fewer of them than its name suggests
    keeps = f"that keeps {percent(worst['clean_share'])} of the untouched images (percentile {worst['percentile']:g})"
    band = share_interval(worst["low"], worst["high"], data.settings.confidence)
    where = f"{data.settings.by} {worst['at']}"
    others = f"; so does one on {_all(alike[1:])}" if len(alike) > 1 else ""
    passed = f"{percent(worst['share'])}{band} of the images at {where}"
    return [f"A filter on {worst['metric']} {keeps} also keeps {passed}{others}."]


def _no_filter(every: pl.DataFrame) -> list[str]:
    """That no filter could be set, and how many images the least demanding one needs."""
    if not every.height:
        return []
    least = every.sort("needed").row(0, named=True)
    images = counted(least["n_clean"], "untouched image")
    return [f"{images} are too few to set a filter: one at percentile {least['percentile']:g} takes {least['needed']}."]


def _effects(confound: pl.DataFrame) -> list[str]:
    """For which metrics content significantly outweighs damage, or damage content."""
    known = confound.drop_nulls(["ratio", "low"])
    if not known.height:
        return []
    content = known.filter(pl.col("high") < 1).sort("ratio")["metric"].to_list()
    damage = known.filter(pl.col("low") > 1).sort("ratio")["metric"].to_list()
    open_ = known.height - len(content) - len(damage)
    if len(damage) == known.height:
        whom = f"all {known.height} metrics" if known.height > 1 else damage[0]
        return [f"Damage moves {whom} significantly more than image content does."]
    of = f"of {counted(known.height, 'metric')}"
    parts = []
    if content:
        more = "image content moves the score significantly more than damage does"
        parts.append(f"for {len(content)} {of} ({_all(content)}) {more}")
    if damage:
        parts.append(
            f"for {len(damage)} {of} ({_all(damage)}) damage moves the score significantly more than content does"
        )
    if open_:
        whom = str(known["metric"][0]) if known.height == 1 else f"{open_} {of}"
        parts.append(f"for {whom} it cannot be told whether content or damage moves the score more")
    line = "; ".join(parts)
    return [f"{line[0].upper()}{line[1:]}."]


def _all(names: list[str]) -> str:
    return listed(names, most=5)
