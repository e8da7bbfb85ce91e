"""What all tables of a restoration run share: its results, its settings, and the photograph behind every picture."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import polars as pl

from convergebench.analysis.bootstrap import Bootstrap
from convergebench.analysis.parts import AnalysisContext
from convergebench.analysis.restoration.restored import needs_reference, restored_table, sign, table_metrics
from convergebench.documents import check_document
from convergebench.metrics.base import MetricFacts
from convergebench.studies.analysis_settings import AnalysisSettings
from convergebench.studies.restoration_table import RestorationTable


@dataclass(frozen=True, slots=True)
class RestorationScope:
    """The results of a run and what is needed to average and compare them."""

    restored: pl.DataFrame
    """The frame of this name."""
    metrics: tuple[str, ...]
    facts: Mapping[str, MetricFacts]
    prompts: Mapping[str, Mapping[str, Any]]
    """Prompt → its group, length, fidelity and instructions."""
    unified: str
    photographs: Mapping[str, str]
    """Picture → the photograph behind it; pictures that are not in it are photographs of their own."""
    settings: AnalysisSettings
    uninstructed: frozenset[str]
    simulated: frozenset[str]
    deterministic: frozenset[str]

    @property
    def editors(self) -> list[str]:
        """By name."""
        return sorted(self.restored["editor"].unique().to_list())

    @property
    def bootstrap(self) -> Bootstrap:
        """How intervals are made."""
        return Bootstrap.of(self.settings)

    @property
    def level(self) -> float:
        """The p below which a test is significant."""
        return 1 - self.settings.confidence

    @property
    def reference_metrics(self) -> tuple[str, ...]:
        """Those that compare with a clean picture."""
        return tuple(name for name in self.metrics if needs_reference(self.facts[name]))

    @property
    def alone_metrics(self) -> tuple[str, ...]:
        """Those that look at the result alone."""
        return tuple(name for name in self.metrics if not needs_reference(self.facts[name]))

    def sign(self, metric: str) -> int:
        """1 where higher values are better, −1 where lower ones are."""
        return sign(self.facts[metric])

    def photograph(self, picture: str) -> str:
        """The photograph that a picture was made from: the cluster of every interval."""
        return self.photographs.get(picture) or picture

    def prompts_of(self, editor: str) -> list[str]:
        """The prompts an editor was asked, in the study's order."""
        asked = set(self.restored.filter(editor=editor)["prompt"].unique())
        return [name for name in self.prompts if name in asked] + sorted(asked - set(self.prompts))

    def first_results(self) -> pl.DataFrame:
        """The rows of `restored` by which methods are compared: round 1 under the unified prompt."""
        return self.unified_results().filter(pl.col("round") == 1)

    def unified_results(self) -> pl.DataFrame:
        """The rows of `restored` under the unified prompt, all rounds.

        A method that was never asked with it counts with its only prompt; with several others it is left out.
        """
        asked = self.restored.group_by("editor").agg(
            pl.col("prompt").unique().sort(), (pl.col("prompt") == self.unified).any().alias("has")
        )
        chosen = {
            row["editor"]: self.unified if row["has"] else row["prompt"][0]
            for row in asked.to_dicts()
            if row["has"] or len(row["prompt"]) == 1
        }
        own = pl.col("editor").replace_strict(chosen, default=None, return_dtype=pl.String)
        return self.restored.filter(pl.col("prompt") == own)


def restoration_scope(run: AnalysisContext) -> RestorationScope:
    """The scope of a run; a run without results has one without rows."""
    restored = restored_table(run)
    table = check_document(dict(run.spec.get("restoration", {})), RestorationTable, where="[restoration]")
    known = list(run.pairs) or sorted(restored["prompt"].unique())
    return RestorationScope(
        restored=restored,
        metrics=table_metrics(run, restored),
        facts=run.facts,
        prompts=run.pairs,
        unified=table.unified if table.unified in known or not known else known[0],
        photographs={name: str(facts.get("clean") or name) for name, facts in run.sources.items()},
        settings=run.settings,
        uninstructed=run.uninstructed,
        simulated=run.simulated,
        deterministic=run.deterministic,
    )
