"""From one run to another, paired by case: the change of the score, of every metric and of every half-life.

A case of one run is the same as a case of the other if source image (by its content), edit and replicate are. Every
change is second minus first, on the cases that both runs have, over the rounds that are known in both.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from convergebench.analysis.adherence import rounds_adhered
from convergebench.analysis.area import areas
from convergebench.analysis.common_cases import CommonCases, EditorComparison, make_comparison
from convergebench.analysis.decay import comparable
from convergebench.analysis.halflife import Level, cut, find_levels, fit, followed, half_life_text
from convergebench.analysis.paired import PairedDifference, compare_paired, smallest_p, sources_needed
from convergebench.analysis.permutation import holm
from convergebench.analysis.result import AnalysisInput
from convergebench.analysis.retention import has_retention
from convergebench.analysis.schemas import AnalysisTables, B, F, N, T, clean
from convergebench.analysis.score import Score, make_score
from convergebench.analysis.survival import median
from convergebench.analysis.trajectories import Floats, trajectories
from convergebench.analysis.two_runs import KEY
from convergebench.studies.analysis_settings import AnalysisSettings

LABELS = ("first", "second")
_PAIR: dict[str, type[pl.DataType]] = {"editor_first": T, "editor_second": T}
_TEST: dict[str, type[pl.DataType]] = {"change": F, "low": F, "high": F, "p": F, "p_holm": F, "exact": B}
_COUNTS: dict[str, type[pl.DataType]] = {"n_cases": N, "n_sources": N, "rounds": N}
SCHEMAS: dict[str, dict[str, type[pl.DataType]]] = {
    "editors": {
        **{**_PAIR, "score_first": F, "score_second": F, **_TEST, **_COUNTS},
        **{"n_only_first": N, "n_only_second": N, "smallest_p": F, "needed": N, "by_image": T, "formula": T},
    },
    "metrics": {**_PAIR, "metric": T, "what": T, "mean_first": F, "mean_second": F, **_TEST, **_COUNTS},
    "half_lives": {
        **{**_PAIR, "metric": T, "level": T, "threshold": F, "half_life_first": T, "half_life_second": T},
        **{"mean_first": F, "mean_second": F, **_TEST, **_COUNTS, "n_left_out": N},
    },
    "cases": {
        **{**_PAIR, "case_first": T, "case_second": T, "source": T, "pair": T, "replicate": N},
        **{"score_first": F, "score_second": F, "change": F, "rounds": N},
    },
}
"""The columns of every frame."""


class RunInput(NamedTuple):
    """One of the two runs."""

    given: AnalysisInput
    """`measurements` only of metrics that mean the same in both runs."""
    pairs: Mapping[str, Mapping[str, Any]]
    images: Mapping[str, str]
    """Name of a source → hash of its image."""


@dataclass(frozen=True, slots=True)
class RunChange(AnalysisTables):
    """Second run minus first run; docs/comparing-runs.md explains the columns."""

    editors: pl.DataFrame
    """One row per pair of editors: the score. `by_image`: the change image by image, where there is no interval."""
    metrics: pl.DataFrame
    """`what` is `retention` (mean over the rounds, 1: nothing lost), or the unit of a metric that has none."""
    half_lives: pl.DataFrame
    """Rounds until the level is passed, at most `rounds`; on the cases that were followed for so long in both runs."""
    cases: pl.DataFrame
    """One row per case, the largest loss first."""


def run_change(
    first: RunInput, second: RunInput, pairs: Sequence[tuple[str, str]], settings: AnalysisSettings
) -> RunChange:
    """Compare these pairs of editors, one of the first run with one of the second."""
    found: dict[str, list[dict[str, Any]]] = {name: [] for name in SCHEMAS}
    for pair in pairs:
        both = _both(first, second, pair, settings)
        if both is None:
            continue
        named = dict(zip(_PAIR, pair, strict=True))
        for table, rows in both.tables(len(pairs)).items():
            found[table] += [{**named, **row} for row in rows]
    for table in ("editors", "metrics", "half_lives"):
        for row in found[table]:
            row["p_holm"] = row["p"]
        # after Tarone: where nothing changed on any image, no sign could flip, so there was nothing to test
        able = [row for row in found[table] if not row.pop("unchanged")]
        for row, p in zip(able, holm([row["p"] for row in able]), strict=True):
            row["p_holm"] = p
    found["cases"].sort(key=lambda row: row["change"])
    return RunChange(**{name: clean(pl.DataFrame(rows, schema=SCHEMAS[name])) for name, rows in found.items()})


class _Both(NamedTuple):
    """Two editors as one input, called `first` and `second`."""

    given: AnalysisInput
    comparison: EditorComparison
    common: CommonCases
    settings: AnalysisSettings

    def tables(self, pairs: int) -> dict[str, list[dict[str, Any]]]:
        cases = self._cases()
        return {
            "editors": [self._score(cases, pairs)],
            "metrics": [row for name in self.comparison.data.measured if (row := self._metric(name))],
            "half_lives": [
                row
                for level in find_levels(self.comparison.data, self.settings)
                if level.name == self.settings.level and (row := self._half_life(level))
            ],
            "cases": cases,
        }

    def _test(self, first: Floats, second: Floats, value: Callable[[Floats], Floats]) -> PairedDifference:
        settings = self.settings
        return compare_paired(
            second,
            first,
            value,
            confidence=settings.confidence,
            exact_up_to=settings.exact_sources,
            permutations=settings.permutations,
            seed=settings.seed,
        )

    def _score(self, cases: list[dict[str, Any]], pairs: int) -> dict[str, Any]:
        """The score of both editors; only counts where no metric of it is in both runs."""
        data, settings, score = self.comparison.data, self.settings, self.comparison.score
        own = [int(data.of(label).sum()) - self.common.horizon.size for label in LABELS]
        row: dict[str, Any] = {
            **{"n_only_first": own[0], "n_only_second": own[1], "formula": score.formula, "p": 1.0, "unchanged": True},
            **{"n_cases": self.common.horizon.size, "n_sources": int(np.unique(self.common.source).size)},
        }
        if not self.common.horizon.size:
            return row
        features = [self.comparison.features(self.common, label) for label in LABELS]
        test = self._test(features[0], features[1], score.value)
        means = [float(score.value(one.sum(axis=0))) for one in features]
        few = np.isnan(test.low) and test.difference != 0
        changes = score.value(features[1]) - score.value(features[0])
        return {
            **row,
            **dict(zip(("score_first", "score_second"), means, strict=True)),
            **_tested(test),
            "rounds": int(self.common.horizon.max()),
            "smallest_p": smallest_p(test.n_sources, settings.exact_sources, settings.permutations),
            "needed": sources_needed(test.difference, test.spread, confidence=settings.confidence, pairs=pairs),
            "by_image": ", ".join(f"{one:+.1f}" for one in changes).replace("-", "−") if few else None,
        }

    def _cases(self) -> list[dict[str, Any]]:
        """Every common case with its own score."""
        if not self.common.horizon.size:
            return []
        alone = self.common._replace(source=np.arange(self.common.horizon.size))
        scores = [self.comparison.score.value(self.comparison.features(alone, label)) for label in LABELS]
        chains = self.comparison.data.chains
        names = [chains["detail"].gather(self.common.of(label)).to_list() for label in LABELS]
        shown = chains.select("kind", "pair", "replicate")[self.common.of(LABELS[0])].to_dicts()
        return [
            {
                **{"case_first": names[0][n], "case_second": names[1][n], "source": row["kind"], "pair": row["pair"]},
                **{"replicate": row["replicate"], "score_first": float(scores[0][n])},
                **{"score_second": float(scores[1][n]), "change": float(scores[1][n] - scores[0][n])},
                "rounds": int(self.common.horizon[n]),
            }
            for n, row in enumerate(shown)
        ]

    def _metric(self, name: str) -> dict[str, Any] | None:
        """Retention over the rounds that both delivered; the plain mean of a metric that has no retention."""
        data = self.comparison.data
        if not has_retention(data.facts.get(name)):
            return self._plain(name)
        alone = make_comparison(data, Score(quality=(name,), semantic=None), self.comparison.adhered)
        cases = alone.common_cases(LABELS)
        features = [alone.closeness(cases, label) for label in LABELS] if cases.horizon.size else []
        return self._row(name, "retention", features, int(cases.horizon.max(initial=0)))

    def _plain(self, name: str) -> dict[str, Any] | None:
        data, facts = self.comparison.data, self.comparison.data.facts.get(name)
        if facts is None or facts.kind in ("diagnostic", "adherence"):
            return None
        rows = [self.common.of(label) for label in LABELS] if self.common.horizon.size else []
        if not rows:
            return None
        values = [data.values[name][one, 1:] for one in rows]
        inside = np.arange(1, data.horizon + 1)[None, :] <= self.common.horizon[:, None]
        there = inside & np.isfinite(values[0]) & np.isfinite(values[1])
        whole = (there == inside).all(axis=1)  # a case counts if both have a value at every round
        if not whole.any():
            return None
        means = [np.where(inside, one, 0.0)[whole].sum(axis=1) / self.common.horizon[whole] for one in values]
        features = [_sums(one, self.common.source[whole]) for one in means]
        return self._row(name, facts.unit or "value", features, int(self.common.horizon[whole].max()))

    def _row(self, name: str, what: str, features: Sequence[Floats], rounds: int) -> dict[str, Any] | None:
        if not features or not features[0].shape[0]:
            return None
        test = self._test(features[0], features[1], _mean)
        return {
            **{"metric": name, "what": what, "rounds": rounds, **_tested(test)},
            **{"mean_first": float(_mean(features[0].sum(axis=0))), "n_cases": int(features[0][:, -1].sum())},
            "mean_second": float(_mean(features[1].sum(axis=0))),
        }

    def _half_life(self, level: Level) -> dict[str, Any] | None:
        data, place = self.comparison.data, self.comparison.place
        shared = [case for label, case in place if label == LABELS[0] and (LABELS[1], case) in place]
        rows = [np.array([place[label, case] for case in shared], dtype=np.int64) for label in LABELS]
        masks = [np.isin(np.arange(data.chains.height), one) for one in rows]
        end = min(followed(data, level.cases, mask) for mask in masks) if shared else 0
        if not end:
            return None
        seen = cut(level.cases, end)
        known = np.all([seen.passed[one] | (seen.rounds[one] >= end) for one in rows], axis=0)
        if not known.any():
            return None
        lived = [_sums(seen.rounds[one][known].astype(np.float64), data.source[one][known]) for one in rows]
        test = self._test(lived[0], lived[1], _mean)
        texts = [
            half_life_text(median(fit(data, seen, mask, confidence=self.settings.confidence)), end) for mask in masks
        ]
        return {
            **{"metric": level.metric, "level": level.name, "threshold": level.threshold, "rounds": end},
            **{"half_life_first": texts[0], "half_life_second": texts[1], **_tested(test)},
            **{"mean_first": float(_mean(lived[0].sum(axis=0))), "mean_second": float(_mean(lived[1].sum(axis=0)))},
            **{"n_cases": int(known.sum()), "n_left_out": int((~known).sum())},
        }


def _both(first: RunInput, second: RunInput, pair: tuple[str, str], settings: AnalysisSettings) -> _Both | None:
    """Both editors in one input; None where one of them has no chain."""
    sides = [_side(run, editor, label) for run, editor, label in zip((first, second), pair, LABELS, strict=True)]
    if not all(chains.height for chains, _ in sides):
        return None
    # sorted by image, so that which run comes first does not change what is drawn at random
    chains = pl.concat([one for one, _ in sides]).sort("case", "editor")
    known = set.intersection(*({str(name) for name in rows["metric"].unique()} for _, rows in sides))
    rows = pl.concat([one for _, one in sides]).filter(pl.col("metric").is_in(sorted(known)))
    copying = [
        label
        for run, editor, label in zip((first, second), pair, LABELS, strict=True)
        if editor in run.given.uninstructed
    ]
    given = AnalysisInput(
        measurements=rows,
        chains=chains,
        facts={name: one for name, one in {**first.given.facts, **second.given.facts}.items() if name in known},
        simulated=frozenset(),
        deterministic=frozenset(),
        uninstructed=frozenset(copying),
    )
    data = trajectories(given)
    adhered = rounds_adhered(data, rows, settings, uninstructed=given.uninstructed)
    comparison = make_comparison(data, make_score(areas(data), settings, adhered=adhered.measured), adhered)
    return _Both(given, comparison, comparison.common_cases(LABELS), settings)


def _side(run: RunInput, editor: str, label: str) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Chains and measurements of one editor under names that are the same in both runs.

    The case's own id is kept as `detail` and its source's name as `kind`, which nothing here reads otherwise.
    """
    image = pl.col("source").replace_strict(dict(run.images), default=None, return_dtype=pl.String)
    key = pl.concat_str([image, *(pl.col(name).cast(pl.String) for name in KEY[1:])], separator="\x1f")
    chains = comparable(run.pairs, run.given.chains).filter(pl.col("editor") == editor)
    own = chains.select("editor", "case")
    rows = run.given.measurements.join(own, on=["editor", "case"], how="semi")
    named = [pl.lit(label).alias("editor"), key.alias("case"), image.alias("source"), pl.col("source").alias("kind")]
    chains = chains.with_columns(*named, pl.col("case").alias("detail")).filter(pl.col("source").is_not_null())
    rows = rows.with_columns(*named).filter(pl.col("source").is_not_null())
    return chains, rows


def _tested(test: PairedDifference) -> dict[str, Any]:
    return {
        **{"change": test.difference, "low": test.low, "high": test.high, "p": test.p, "exact": test.exact},
        "n_sources": test.n_sources,
        "unchanged": test.difference == 0 and not test.spread > 0,
    }


def _sums(values: Floats, sources: Any) -> Floats:
    """Sources × (sum, number of cases)."""
    kinds, place = np.unique(sources, return_inverse=True)
    found = np.zeros((kinds.size, 2))
    np.add.at(found, place, np.column_stack([values, np.ones(values.size)]))
    return found


def _mean(sums: Floats) -> Floats:
    return np.asarray(sums[..., 0] / sums[..., 1])
