"""What makes two runs differ besides their editors: metrics, alignment, images, words, settings."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any

import polars as pl

from convergebench.analysis.run_change import RunInput
from convergebench.conductor.analyse import AnalysedRun

_SHOWN = 3


def meaning_differs(runs: Sequence[AnalysedRun], pairs: Sequence[tuple[str, str]]) -> dict[str, str]:
    """Metric → why its values in the two runs do not mean the same."""
    seen = []
    for side, run in enumerate(runs):
        rows = run.context.measurements.filter(pl.col("editor").is_in([pair[side] for pair in pairs]))
        found = rows.group_by("metric").agg(pl.col("fingerprint").unique(), pl.col("align").unique())
        seen.append({row["metric"]: row for row in found.iter_rows(named=True)})
    left_out = {}
    for metric in seen[0].keys() & seen[1].keys():
        for column, what in (("fingerprint", "versions"), ("align", "alignments")):
            kinds = sorted({*seen[0][metric][column], *seen[1][metric][column]})
            if len(kinds) > 1:
                left_out[metric] = f"{metric} was measured under two {what} ({', '.join(kinds)})"
    return dict(sorted(left_out.items()))


def run_input(run: AnalysedRun, chains: pl.DataFrame, left_out: Collection[str] = ()) -> RunInput:
    """One side of a comparison: these chains of the run, without the metrics that mean something else there."""
    kept = run.context.measurements.filter(~pl.col("metric").is_in(sorted(left_out)))
    return RunInput(
        given=replace(run.context, chains=chains, measurements=kept),
        pairs=run.manifest.pairs,
        images={name: str(facts["sha256"]) for name, facts in run.manifest.sources.items()},
    )


def differences(runs: Sequence[AnalysedRun], pairs: Sequence[tuple[str, str]]) -> list[str]:
    """What else is not alike, a phrase each; empty if only the editors differ."""
    one, other = (run.manifest for run in runs)
    found = []
    images = [{name: facts["sha256"] for name, facts in run.manifest.sources.items()} for run in runs]
    changed = [name for name in images[0].keys() & images[1].keys() if images[0][name] != images[1][name]]
    if changed:
        found.append(f"{_some(changed)} {_are(changed)} another image in each run, so not paired")
    words = [name for name in one.pairs.keys() & other.pairs.keys() if one.pairs[name] != other.pairs[name]]
    if words:
        found.append(f"the instructions of {_some(words)} differ")
    found += _settings("setting", one.fixed, other.fixed)
    found += _settings("measure", *({k: v for k, v in m.spec.get("measure", {}).items() if k != "metrics"}
                                    for m in (one, other)))  # fmt: skip
    found += _settings("analysis", *(m.spec.get("analysis", {}) for m in (one, other)))
    judges = [
        name
        for name in one.roles.keys() & other.roles.keys()
        if one.roles[name].get("fingerprint") != other.roles[name].get("fingerprint")
    ]
    if judges:
        found.append(f"the role {_some(judges)} is another model")
    for first, second in pairs:
        sent = [m.editors.get(name, {}).get("settings") for m, name in ((one, first), (other, second))]
        found += _settings(f"settings of {first}", *(table or {} for table in sent))
    unfinished = [int((run.context.chains["status"] == "open").sum()) for run in runs]
    for run, number in zip(runs, unfinished, strict=True):
        if number:
            found.append(f"{number} chains of {run.root} are not finished")
    return found


def _settings(what: str, one: Mapping[str, Any], other: Mapping[str, Any]) -> list[str]:
    keys = sorted(key for key in one.keys() | other.keys() if one.get(key) != other.get(key))
    shown = [f"{what} {key}: {_value(one.get(key))} → {_value(other.get(key))}" for key in keys[:_SHOWN]]
    return [*shown, *([f"{len(keys) - _SHOWN} more differences in {what}"] if len(keys) > _SHOWN else [])]


def _value(value: object) -> str:
    text = "not set" if value is None else str(value)
    return text if len(text) <= 40 else f"{text[:39]}…"


def _some(names: Sequence[str]) -> str:
    listed = sorted(names)
    more = f" and {len(listed) - _SHOWN} more" if len(listed) > _SHOWN else ""
    return ", ".join(listed[:_SHOWN]) + more


def _are(names: Sequence[str]) -> str:
    return "is" if len(names) == 1 else "are"
