"""The tables that the viewer shows of one run, as they stood at one moment of its journal."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import polars as pl

from convergebench.analysis.series import UNNAMED_ROLES, Series, facts_of_series, parse_series
from convergebench.errors import ConvergeBenchError, StudyError
from convergebench.metrics import load_metric
from convergebench.metrics.base import MetricFacts
from convergebench.report.chains import chain_key
from convergebench.report.manifest_facts import manifest_facts
from convergebench.serve.view.analysed import AnalysedTables, read_analysed
from convergebench.store.manifest import Manifest, read_manifest
from convergebench.store.queries.viewing import ViewingReader
from convergebench.store.rubrics import readable
from convergebench.studies.analysis_settings import analysis_settings
from convergebench.studies.base import study_of
from convergebench.studies.units import STEP

IMAGE_COLUMNS = (
    "image", "width", "height", "chain", "step", "round", "leg", "editor", "case", "source", "kind", "pair",
    "category", "replicate", "status", "seconds", "dollars", "attempts",
)  # fmt: skip
CHAIN_COLUMNS = (
    "chain", "editor", "case", "source", "kind", "pair", "category", "replicate", "status", "detail", "steps",
    "rounds", "planned", "verdict", "auc", "half_life", "last", "dollars", "seconds", "first", "final", "spark",
)  # fmt: skip
_LEGS = ("forward", "backward")
_FIRST = ("lpips", "ssim", "psnr")
"""Metrics that stand for a run which names none."""


@dataclass(frozen=True)
class RunTables:
    """One run at one moment."""

    root: Path
    state: str
    manifest: Manifest
    align: str
    images: pl.DataFrame
    """One row per image; a column per series after `IMAGE_COLUMNS`."""
    chains: pl.DataFrame
    series: tuple[str, ...]
    """Names of the series, the main one first."""
    facts: Mapping[str, MetricFacts]
    main: str
    """The series that stands for the run; empty without measurements."""
    analysed: AnalysedTables
    sources: Mapping[tuple[str, str], str]
    """(editor, case) → the image of the source."""

    @cached_property
    def names(self) -> dict[str, tuple[str, str]]:
        """Key of a chain → editor and case."""
        return {key: (editor, case) for key, editor, case in self.chains.select("chain", "editor", "case").iter_rows()}

    @cached_property
    def made(self) -> dict[str, Any]:
        """What pages show of the manifest."""
        return manifest_facts(self.manifest)

    @property
    def unit(self) -> str:
        """What the study counts: `round` or `step`."""
        return "step" if study_of(self.manifest.study).unit == STEP else "round"

    @property
    def image_columns(self) -> list[dict[str, str]]:
        """Of the table of images."""
        return [_column(self.images, name, self.facts) for name in self.images.columns]

    @property
    def chain_columns(self) -> list[dict[str, str]]:
        """Of the table of chains."""
        found = [_column(self.chains, name, {}) for name in self.chains.columns]
        return [{**one, "label": self.main} if one["name"] == "spark" else one for one in found]


def load_tables(root: Path, state: str) -> RunTables:
    """Read a run; `StudyError` says in one line what is wrong with it."""
    try:
        with closing(ViewingReader(root)) as reader:
            return _load(root, state, reader)
    except sqlite3.Error as error:
        raise StudyError(f"{root.name} cannot be read: {error}; see: cbench verify {root}") from error
    except (pl.exceptions.PolarsError, TypeError, ValueError, OSError) as error:
        reason = str(error).splitlines()[0][:160] if str(error) else type(error).__name__
        raise StudyError(f"{root.name} cannot be read: {reason}; see: cbench verify {root}") from error


def _load(root: Path, state: str, reader: ViewingReader) -> RunTables:
    manifest = read_manifest(root / "manifest.json")
    metrics, alignments = reader.measured()
    align = _alignment(manifest, alignments)
    facts = _facts(root, manifest)
    values, series = _values(reader.compared(align, metrics), metrics)
    main = _main(manifest, series, facts)
    ordered = sorted(series, key=lambda name: (name != main, _place(name, facts), name))
    images = reader.images().join(values, on=["editor", "case", "step"], how="left")
    images = images.sort("editor", "case", "step")
    listed = reader.frames.chains()
    keys = _keys(listed.select("editor", "case"))
    images = images.join(keys, on=["editor", "case"], how="left", maintain_order="left")
    images = images.select(*IMAGE_COLUMNS, *ordered)
    analysed, sources = read_analysed(root), reader.first_images()
    chains = _chains(listed.join(keys, on=["editor", "case"]), images, main, analysed, sources)
    return RunTables(
        *(root, state, manifest, align, images, chains, tuple(ordered), facts, main, analysed, sources),
    )


def _alignment(manifest: Manifest, measured: Sequence[str]) -> str:
    """The alignment that the run was asked for, or else one that it was measured under."""
    return manifest.align if manifest.align in measured or not measured else measured[0]


def _facts(root: Path, manifest: Manifest) -> dict[str, MetricFacts]:
    found = {}
    for name in manifest.metrics:
        with suppress(ConvergeBenchError):  # a plug-in that is not here, a file that is damaged
            one = load_metric(readable(root, name)).facts
            found[one.name] = one
    return found


def _values(compared: pl.DataFrame, metrics: Sequence[str]) -> tuple[pl.DataFrame, list[str]]:
    """One row per editor, case and step: round, leg, and a column per series that has a value."""
    keys = ["editor", "case", "step"]
    role = pl.col("role")
    found = compared.group_by(keys).agg(
        pl.col("round").filter(role == "step").first().fill_null(pl.col("round").max()).alias("round"),
        role.filter(role.is_in(_LEGS)).first().fill_null("step").alias("leg"),
    )
    series: list[str] = []
    for (word, lag), part in sorted(compared.partition_by("role", "lag", as_dict=True).items()):
        named = str(word) not in UNNAMED_ROLES
        for place, metric in enumerate(metrics):
            column = f"m{place}"
            if part[column].null_count() == part.height:
                continue
            name = Series(metric, str(word), int(lag)).name if named else metric
            values = part.select(*keys, pl.col(column).alias("value")).filter(pl.col("value").is_not_null())
            values = values.unique(keys, keep="first")
            found = found.join(values, on=keys, how="left")
            if name in series:  # another role whose series has the same name: it fills the gaps
                found = found.with_columns(pl.coalesce(name, "value").alias(name)).drop("value")
            else:
                series.append(name)
                found = found.rename({"value": name})
    return found, series


def _main(manifest: Manifest, series: Sequence[str], facts: Mapping[str, MetricFacts]) -> str:
    """The headline of the study's analysis, or else a metric that everybody knows, or else the first."""
    wanted = list(_FIRST)
    with suppress(ConvergeBenchError, ValueError):
        wanted.insert(0, analysis_settings(manifest.spec).headline)
    for metric in wanted:
        named = [name for name in series if name == metric or parse_series(name, facts).metric == metric]
        if named:
            return min(named, key=lambda name: (name != metric, name))
    return next(iter(series), "")


def _place(name: str, facts: Mapping[str, MetricFacts]) -> tuple[int, bool]:
    order = list(facts)
    metric = parse_series(name, facts).metric
    return (order.index(metric) if metric in order else len(order), name != metric)


def _keys(chains: pl.DataFrame) -> pl.DataFrame:
    keys = [chain_key(editor, case) for editor, case in chains.iter_rows()]
    return chains.with_columns(pl.Series("chain", keys, pl.String))


def _chains(
    chains: pl.DataFrame,
    images: pl.DataFrame,
    main: str,
    analysed: AnalysedTables,
    sources: Mapping[tuple[str, str], str],
) -> pl.DataFrame:
    value = pl.col(main) if main else pl.lit(None, pl.Float64)
    grown = images.group_by("editor", "case", maintain_order=True).agg(
        pl.col("image").last().alias("final"),
        value.filter(value.is_not_null()).last().alias("measured_last")
        if main
        else pl.lit(None).alias("measured_last"),
        (value.filter(value.is_not_null()) if main else pl.lit([], pl.List(pl.Float64)).first()).alias("spark"),
    )
    first = pl.DataFrame(
        [(*chain, image) for chain, image in sources.items()],
        schema={"editor": pl.String, "case": pl.String, "first": pl.String},
        orient="row",
    )
    joined = chains.join(grown, on=["editor", "case"], how="left").join(first, on=["editor", "case"], how="left")
    joined = joined.join(analysed.chains, on=["editor", "case", "status", "steps"], how="left")
    joined = joined.with_columns(pl.coalesce("last", "measured_last").alias("last"))
    return joined.sort("editor", "case").select(CHAIN_COLUMNS)


def _column(frame: pl.DataFrame, name: str, facts: Mapping[str, MetricFacts]) -> dict[str, str]:
    kind = frame.schema[name]
    if name in ("image", "first", "final"):
        shown = "image"
    elif isinstance(kind, pl.List):
        shown = "series"
    else:
        shown = "number" if kind.is_numeric() else "text"
    known = facts_of_series(name, facts)
    label = f"{name}, {known.unit}" if known and known.unit else name.replace("_", "-")
    return {"name": name, "label": label, "kind": shown}
