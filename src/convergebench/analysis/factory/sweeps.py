"""What other thresholds and weights would have accepted.

Only attempts that were made can be scored again. An edit accepted at its first attempt has no second one: where another
rule rejects the first, nobody knows what the second would have been. Such edits are counted as unknown.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import polars as pl

from convergebench.analysis.bootstrap import Bootstrap
from convergebench.analysis.factory.result import frame
from convergebench.analysis.factory.shares import share_of
from convergebench.analysis.trajectories import Floats, Ints, Mask
from convergebench.studies.factory_table import CRITERIA, FactoryTable, Weights

LEAST = (0.0, 0.25, 0.5, 0.75)
THRESHOLDS = tuple(round(0.5 + 0.05 * place, 2) for place in range(10))
"""0.5 to 0.95."""


class Choice(NamedTuple):
    """A rule to try: its name, and its threshold and weights."""

    sweep: str
    name: str
    threshold: float
    weights: Mapping[str, float]
    least: float = 0.0
    """Least instruction compliance."""


@dataclass(frozen=True)
class TriedEdits:
    """Edits with the criteria of their attempts: edits × attempts × criteria, NaN where there is no judgement."""

    sources: list[str]
    types: list[str]
    categories: list[str]
    criteria: Floats
    made: Ints
    """How many attempts each had."""
    accepted_at: Ints
    """The attempt that was accepted; 0: none."""

    def accepted_by(self, choice: Choice) -> Ints:
        """The first attempt that this rule accepts; 0: none."""
        # summed in the order of the study, so that a score at the threshold is rounded as it was there
        total = sum(choice.weights[name] * self.criteria[..., place] for place, name in enumerate(CRITERIA))
        passed = np.asarray(total / sum(choice.weights.values())) > choice.threshold  # NaN passes nothing
        passed &= self.criteria[..., CRITERIA.index("instruction_compliance")] >= choice.least
        return np.where(passed.any(axis=1), passed.argmax(axis=1) + 1, 0)


def choices(table: FactoryTable) -> list[Choice]:
    """The run's own rule first, then thresholds, then weights, then least compliances."""
    least = table.least_compliance
    own = {name: float(value) for name, value in table.weights.model_dump().items()}
    found = [Choice("threshold", f"{table.threshold:g}", table.threshold, own, least)]
    found += [Choice("threshold", f"{t:g}", t, own, least) for t in THRESHOLDS if abs(t - table.threshold) > 1e-9]
    found.append(Choice("weights", "as run", table.threshold, own, least))
    tried = {
        "the paper's": {name: float(value) for name, value in Weights().model_dump().items()},
        "equal": dict.fromkeys(CRITERIA, 1.0),
        **{f"{_words(name)} ×2": {**own, name: 2 * own[name]} for name in CRITERIA},
        **{f"{_words(name)} ×½": {**own, name: own[name] / 2} for name in CRITERIA},
        **{f"without {_words(name)}": {**own, name: 0.0} for name in CRITERIA},
    }
    found += [
        Choice("weights", name, table.threshold, weights, least)
        for name, weights in tried.items()
        if sum(weights.values()) > 0 and not _same(weights, own)
    ]
    return found + [
        Choice("compliance", f"at least {one:g}", table.threshold, own, one) for one in sorted({*LEAST, least})
    ]


def _words(name: str) -> str:
    return name.replace("_", " ")


def _same(one: Mapping[str, float], other: Mapping[str, float]) -> bool:
    first, second = ([weights[name] / sum(weights.values()) for name in CRITERIA] for weights in (one, other))
    return bool(np.allclose(first, second))


def tried_edits(edits: pl.DataFrame, attempts: pl.DataFrame) -> TriedEdits:
    """Finished first-turn edits of one editor with at least one attempt."""
    made: dict[str, list[list[float]]] = {}
    rows = attempts.filter(pl.col("turn") == 1).sort("case", "attempt")
    for case, *scores in rows.select("case", *CRITERIA).iter_rows():
        made.setdefault(case, []).append([np.nan if one is None else one for one in scores])
    ended = edits.filter(
        pl.col("turn") == 1, pl.col("outcome").is_in(["accepted", "discarded"]), pl.col("case").is_in(list(made))
    )
    criteria = np.full((ended.height, max(map(len, made.values()), default=0), len(CRITERIA)), np.nan)
    for place, case in enumerate(ended["case"]):
        criteria[place, : len(made[case])] = made[case]
    return TriedEdits(
        sources=ended["source"].to_list(),
        types=ended["edit_type"].to_list(),
        categories=ended["category"].to_list(),
        criteria=criteria,
        made=np.array([len(made[case]) for case in ended["case"]], dtype=np.int64),
        accepted_at=ended["accepted_at"].fill_null(0).to_numpy(),
    )


def sweep_tables(
    edits: pl.DataFrame, attempts: pl.DataFrame, table: FactoryTable, bootstrap: Bootstrap
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """The frames `sweeps` and `sweep_types`."""
    rows: list[dict[str, object]] = []
    types: list[dict[str, object]] = []
    for editor in edits["editor"].unique().sort():
        own = tried_edits(edits.filter(pl.col("editor") == editor), attempts.filter(pl.col("editor") == editor))
        if not own.sources:
            continue
        for choice in choices(table):
            accepted = own.accepted_by(choice)
            unknown = (accepted == 0) & (own.made < table.attempts)  # attempts that were never made would decide
            names = {"editor": editor, "sweep": choice.sweep, "choice": choice.name}
            rows.append(
                {
                    **names,
                    "chosen": _is_own(choice, table),
                    **{"threshold": choice.threshold, **_scaled(choice.weights)},
                    **_compared(own, accepted, unknown, bootstrap),
                }
            )
            types += [{**names, **row} for row in _by_type(own, accepted, unknown)]
    sweeps = frame("sweeps", rows)
    along = sweeps.filter(sweep="threshold").sort("editor", "threshold")
    others = [sweeps.filter(sweep=name) for name in ("weights", "compliance")]
    return pl.concat([along, *others]), frame("sweep_types", types)


def _is_own(choice: Choice, table: FactoryTable) -> bool:
    same = choice.threshold == table.threshold and choice.least == table.least_compliance
    return same and _same(choice.weights, table.weights.model_dump())


def _scaled(weights: Mapping[str, float]) -> dict[str, float]:
    return {name: weights[name] / sum(weights.values()) for name in CRITERIA}


def _compared(edits: TriedEdits, accepted: Ints, unknown: Mask, bootstrap: Bootstrap) -> dict[str, object]:
    share = share_of((accepted > 0).astype(np.float64), edits.sources, bootstrap)
    before, after = edits.accepted_at, accepted
    kept = int(((before == after) & (after > 0)).sum())
    lost, gained = int((before > 0).sum()) - kept, int((after > 0).sum()) - kept
    either = kept + lost + gained
    return {
        **{"n": after.size, "accepted": kept + gained, "unknown": int(unknown.sum()), "share": share.value},
        **{"low": share.low, "high": share.high, "n_sources": share.n_sources},
        "share_most": (kept + gained + int(unknown.sum())) / after.size,
        **{"kept": kept, "gained": gained, "lost": lost, "jaccard": kept / either if either else None},
    }


def _by_type(edits: TriedEdits, accepted: Ints, unknown: Mask) -> Iterator[dict[str, object]]:
    """Types whose number of accepted edits changes."""
    types = np.array(edits.types)
    for edit_type, first in zip(*np.unique(types, return_index=True), strict=True):
        own = types == edit_type
        before, after = (int((found[own] > 0).sum()) for found in (edits.accepted_at, accepted))
        if before != after:
            yield {
                **{"edit_type": str(edit_type), "category": edits.categories[first], "n": int(own.sum())},
                **{"before": before, "after": after, "unknown": int(unknown[own].sum())},
            }
