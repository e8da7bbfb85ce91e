"""The audit's findings as plain sentences, the most telling first."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl

from convergebench.analysis.audit.clusters import last_gaps
from convergebench.analysis.audit.material import ALL, Material
from convergebench.analysis.audit.words import counted, ends, listed, percent
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
        f"{_columns(audited)}{_worst_at_last(frames['gaps'], material)}.",
        _coverage(audited),
        *_rates(audited, material),
        *_filters(frames["filter_risk"], material),
        *_effects(frames["confound"]),
    )


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


def _rates(audited: Sequence[Row], material: Material) -> list[str]:
    """Who fails least and most, and what changes if every single run must be noticed."""
    known = [{**row, "decided": row["n_cells"] - row["n_missing"]} for row in audited if row["share"] is not None]
    known.sort(key=lambda row: row["share"])
    if not known:
        return []
    fewest = [row for row in known if row["share"] == known[0]["share"]]
    most = [row for row in known if row["share"] == known[-1]["share"]]
    if len(known) == 1:
        told = [f"Failures: {_rate(known, material)} of {counted(known[0]['decided'], 'picture')}."]
    elif len(fewest) == len(known):
        told = [f"All {len(known)} fail on the same share of pictures: {_rate(known, material)}."]
    else:
        told = [f"Fewest failures: {_rate(fewest, material)} of pictures; most: {_rate(most, material)}."]
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


def _rate(rows: Sequence[Row], material: Material) -> str:
    """Metrics of one share; their intervals are told if they are one too."""
    bands = {ends(row["low"], row["high"], material.settings.confidence, share=True) for row in rows}
    band = bands.pop() if len(bands) == 1 else ""
    return f"{_all([row['metric'] for row in rows])}, {percent(rows[0]['share'])}{band}"


def _filters(risk: pl.DataFrame, material: Material) -> list[str]:
    """The mildest filter at the last gap: what comes through."""
    own = risk.filter(pl.col("at").is_in(material.settings.gaps), editor=ALL).drop_nulls("share")
    if not own.height:
        return []
    own = own.filter(pl.col("at") == pl.col("at").max(), pl.col("percentile") == pl.col("percentile").min())
    worst = own.sort("share", descending=True, maintain_order=True).row(0, named=True)
    alike = own.filter(pl.col("share") == worst["share"])["metric"].to_list()
    # the percentile of a handful of images keeps fewer of them than it says
    keeps = f"set at percentile {worst['percentile']:g} of the untouched images, which keeps "
    keeps += f"{percent(worst['clean_share'])} of them,"
    band = ends(worst["low"], worst["high"], material.settings.confidence, share=True)
    where = f"{material.settings.by} {worst['at']}"
    others = f"; so does one on {_all(alike[1:])}" if len(alike) > 1 else ", the most of all"
    passed = f"{percent(worst['share'])}{band} of the pictures at {where}"
    return [f"A filter on {worst['metric']} {keeps} lets {passed} through{others if own.height > 1 else ''}."]


def _effects(confound: pl.DataFrame) -> list[str]:
    known = confound.drop_nulls("ratio")
    if not known.height:
        return []
    low = known.filter(pl.col("ratio") < 1).sort("ratio")
    if not low.height:
        whom = f"all {known.height} metrics" if known.height > 1 else str(known["metric"][0])
        return [f"Damage moves {whom} by more than what is on the picture does."]
    names = _all(low["metric"].to_list())
    return [
        f"For {low.height} of {counted(known.height, 'metric')} what is on the picture moves the score more than the "
        f"damage does ({names}; smallest ratio {low['ratio'][0]:.2f})."
    ]


def _all(names: list[str]) -> str:
    return listed(names, most=5)
