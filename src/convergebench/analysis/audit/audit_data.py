"""The inputs of the audit, checked and arranged: numbered chains, scaled scores, damage values (higher is worse).

A score counts if its status is ok and it is a finite number. All others are missing: counted, and never a success.
Scores without `at` belong to pictures inside a round and are ignored.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

from convergebench.analysis.audit.result import INPUTS, SCHEMAS, AuditInput
from convergebench.analysis.audit.scaling import ScoreScale, better_of, scale_of, scale_table, scaled
from convergebench.analysis.bootstrap import Bootstrap
from convergebench.analysis.schemas import clean, declared
from convergebench.analysis.series import without_first
from convergebench.errors import StudyError
from convergebench.metrics.base import MetricFacts
from convergebench.metrics.iqa.published import PUBLISHED
from convergebench.studies.analysis_settings import AuditSettings

COPIES, ADDITIONS, APART, OTHER = "copies", "additions", "additions-apart", "other"
ROLES = (COPIES, ADDITIONS, APART, OTHER)
ALL = "all"
"""Stands for every editor together."""
DAMAGE = ("lpips-first", "ssim-first", "lpips", "ssim", "psnr")
"""Damage metrics to choose from where the settings name none: the one that most chains have, ties in this order."""
CELL = ["run", "editor", "source", "pair"]
_CHAIN = ["run", "editor", "case"]


@dataclass(frozen=True, slots=True)
class AuditData:
    """The arranged inputs that every part of the audit uses."""

    chains: pl.DataFrame
    """The input's columns, with `chain` and `cell` (numbers) and `reach`, the last `at` of the chain."""
    scores: pl.DataFrame
    """`chain`, `metric`, `at`, `raw` (None: missing), `scaled`; scalable metrics on audited chains."""
    scales: Mapping[str, ScoreScale]
    """Of the metrics in `scores`, in the order of all tables."""
    refused: Mapping[str, str]
    """Metrics that have rows but cannot be audited → the reason; their status is `not run`."""
    left_out: tuple[str, ...]
    """Scored metrics that do not rate quality: of another kind, or without a direction."""
    asked: pl.DataFrame
    """`run` and `metric`: which metrics have rows in which run."""
    damage: pl.DataFrame
    """`chain`, `at`, `value` (as measured) and `damage` (with the sign that makes higher worse)."""
    damage_metric: str
    """Empty if there is none."""
    n_odd: int
    """Scores that are infinite or NaN although their status is ok."""
    settings: AuditSettings
    bootstrap: Bootstrap

    @property
    def copies(self) -> pl.DataFrame:
        """The chains in which every picture should show the source."""
        return self.chains.filter(role=COPIES)

    def of(self, *roles: str) -> pl.DataFrame:
        """Scores on the chains of these roles."""
        chains_of_roles = self.chains.filter(pl.col("role").is_in(roles)).select("chain")
        return self.scores.join(chains_of_roles, on="chain", how="semi", maintain_order="left")


def arrange(given: AuditInput, settings: AuditSettings) -> AuditData:
    """Check the inputs and arrange them; contradictions are errors."""
    chains, scores = typed(given.chains, "chains"), typed(given.scores, "scores").filter(pl.col("at").is_not_null())
    scores, chains = _numbered(scores, _checked(chains))
    present = scores["metric"].unique().to_list()
    scales, refused, left_out = _scales(present, scores, given.facts, settings)
    names = pl.Enum(list(scales))
    kept = scores.filter(pl.col("metric").is_in(list(scales))).with_columns(pl.col("metric").cast(names))
    n_odd = kept.select((pl.col("raw").is_not_null() & ~pl.col("raw").is_finite()).sum()).item()
    kept = kept.with_columns(pl.when(pl.col("raw").is_finite()).then(pl.col("raw")).alias("raw"))
    kept = (
        kept.join(scale_table(scales, names), on="metric", how="left", maintain_order="left")
        .with_columns(scaled().alias("scaled"))
        .select("chain", "metric", "at", "raw", "scaled")
    )
    _require_unique(kept, chains)
    chains = chains.with_columns(pl.col("cell").cast(pl.UInt32)).join(
        kept.group_by("chain").agg(pl.col("at").max().alias("seen")), on="chain", how="left", maintain_order="left"
    )
    chains = chains.with_columns(pl.coalesce("last", "seen", pl.lit(0)).alias("reach")).drop("seen")
    asked = kept.select("chain", "metric").unique().join(chains.select("chain", "run"), on="chain")
    damage_metric, damage = _damage(typed(given.damage, "damage"), chains, given.facts, settings)
    return AuditData(
        chains=chains,
        scores=kept,
        scales=scales,
        refused=refused,
        left_out=left_out,
        asked=asked.select("run", "metric").unique().sort("run", "metric"),
        damage=damage,
        damage_metric=damage_metric,
        n_odd=int(n_odd or 0),
        settings=settings,
        bootstrap=Bootstrap(settings.draws, settings.seed, settings.confidence),
    )


def typed(frame: pl.DataFrame, name: str) -> pl.DataFrame:
    """An input frame with its declared columns; one without columns is taken as empty."""
    columns = INPUTS[name]
    if not frame.width:
        return pl.DataFrame(schema=columns)
    missing = [column for column in columns if column not in frame.columns]
    if missing:
        raise StudyError(f"the table `{name}` of the audit lacks the column {missing[0]}")
    return frame.select(pl.col(column).cast(kind) for column, kind in columns.items())


def shaped(name: str, frame: pl.DataFrame) -> pl.DataFrame:
    """An output frame with its declared columns, in their order; a missing number is None."""
    return declared(frame, SCHEMAS[name])


def table(name: str, rows: Sequence[Mapping[str, Any]]) -> pl.DataFrame:
    """An output frame from row mappings, which may hold more than its columns; a missing number is None."""
    columns = SCHEMAS[name]
    return clean(pl.DataFrame([{column: row.get(column) for column in columns} for row in rows], schema=columns))


def by_name(name: str) -> tuple[int, str]:
    """Sort key of metrics in every table: the published ones in their order, then the others by name."""
    known = list(PUBLISHED)
    return (known.index(name) if name in PUBLISHED else len(known), name)


def _checked(chains: pl.DataFrame) -> pl.DataFrame:
    if chains.select(pl.struct(_CHAIN).is_duplicated().any()).item():
        raise StudyError("the chain table of the audit names a chain twice; each (run, editor, case) must have one row")
    odd = set(chains["role"].unique()) - set(ROLES)
    if odd:
        raise StudyError(f"unknown role {odd.pop()!r} in the chain table of the audit; known: {', '.join(ROLES)}")
    if ALL in chains["editor"]:
        raise StudyError(f"an editor is named {ALL!r}, which stands for every editor together; rename it")
    chains = chains.sort(_CHAIN).with_row_index("chain")
    cells = chains.select(CELL).unique().sort(CELL).with_row_index("cell")
    return chains.join(cells, on=CELL, how="left", maintain_order="left", nulls_equal=True)


def _numbered(scores: pl.DataFrame, chains: pl.DataFrame) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Scores with the number of their chain, and the chains, both without those that are not audited."""
    numbered = scores.join(chains.select(*_CHAIN, "chain"), on=_CHAIN, how="left", maintain_order="left")
    orphans = numbered.filter(pl.col("chain").is_null())
    if orphans.height:
        row = orphans.row(0, named=True)
        raise StudyError(f"a score of {row['run']}, {row['editor']}, {row['case']} has no row in the chain table")
    audited = chains.filter(pl.col("role") != OTHER)
    usable = pl.when(pl.col("status") == "ok").then(pl.col("value")).alias("raw")
    numbered = numbered.join(audited.select("chain"), on="chain", how="semi", maintain_order="left")
    return numbered.select("chain", "metric", "at", usable, "status", "detail"), audited


def _scales(
    present: list[str], scores: pl.DataFrame, facts: Mapping[str, MetricFacts], settings: AuditSettings
) -> tuple[dict[str, ScoreScale], dict[str, str], tuple[str, ...]]:
    unknown = sorted(name for name in present if name not in facts)
    if unknown:
        raise StudyError(f"the audit was given scores of {unknown[0]} but not its facts (range and direction)")
    judges = {name for name in present if facts[name].kind == "no-reference" and facts[name].better != "neither"}
    finite = scores.group_by("metric").agg(pl.col("raw").is_finite().any().fill_null(False).alias("any"))
    scored = set(finite.filter("any")["metric"])
    scales: dict[str, ScoreScale] = {}
    refused: dict[str, str] = {}
    for name in sorted(judges, key=by_name):
        try:
            scale = scale_of(facts[name], settings)
        except StudyError as error:
            refused[name] = str(error)
            continue
        if name in scored:
            scales[name] = scale
        else:
            refused[name] = _why(scores.filter(metric=name))
    return scales, refused, tuple(sorted(set(present) - judges))


def _why(rows: pl.DataFrame) -> str:
    """The most frequent reason why a metric has no score."""
    reasons = rows.select(pl.concat_str(pl.col("status"), pl.col("detail").fill_null(""), separator=": "))
    counts = reasons.to_series().str.strip_chars(": ").value_counts(sort=True)
    return f"no usable score of {rows.height}: {counts.row(0)[0]}"


def _require_unique(scores: pl.DataFrame, chains: pl.DataFrame) -> None:
    key = (pl.col("chain").cast(pl.Int64) * 1024 + pl.col("metric").to_physical()) * 2**24 + pl.col("at")
    keys = scores.select(key.alias("key"))["key"]
    if keys.n_unique() == keys.len():
        return
    row = scores.filter(keys.is_duplicated()).join(chains, on="chain").row(0, named=True)
    place = f"{row['run']}, {row['editor']}, {row['case']}, at {row['at']}"
    raise StudyError(f"two scores of {row['metric']} for one picture ({place}); give one per picture")


def _damage(
    damage: pl.DataFrame, chains: pl.DataFrame, facts: Mapping[str, MetricFacts], settings: AuditSettings
) -> tuple[str, pl.DataFrame]:
    """The damage metric, and its values with the sign that makes higher worse.

    Infinite values stay: two equal pictures have an infinite PSNR, the least possible damage.
    """
    known = damage.filter(pl.col("value").is_not_null() & ~pl.col("value").is_nan() & pl.col("at").is_not_null())
    present = set(known["metric"].unique())
    copies = chains.filter(role=COPIES).select(_CHAIN)
    reached = known.select(*_CHAIN, "metric").unique().join(copies, on=_CHAIN, how="semi")["metric"].value_counts()
    covers = dict(reached.iter_rows())
    # round trips have no value against step 1: coverage of all chains matters more than the better metric
    name = settings.damage or max(
        (one for one in DAMAGE if one in present), key=lambda one: covers.get(one, 0), default=""
    )
    if settings.damage and settings.damage not in present:
        there = ", ".join(sorted(present)) or "none"
        raise StudyError(f"damage = {settings.damage!r} in [analysis.audit] has no values here; there are: {there}")
    better = (better_of(name, facts) or better_of(without_first(name), facts)) if name else "lower"
    if better not in ("higher", "lower"):
        raise StudyError(f"{name} has no known direction, so it cannot say how damaged a picture is; change damage")
    turned = (pl.col("value") if better == "lower" else -pl.col("value")).alias("damage")
    values = known.filter(metric=name).join(chains.select(*_CHAIN, "chain"), on=_CHAIN, maintain_order="left")
    if values.select(pl.struct("chain", "at").is_duplicated().any()).item():
        raise StudyError(f"two values of {name} for one picture; give the audit one per picture")
    return name, values.select("chain", "at", "value", turned)
