"""Table 2 of the literature: every prompt of an editor, the means of the groups and of the lengths."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
import polars as pl

from convergebench.analysis.restoration.paper import as_printed, paper_prompt, whole_group
from convergebench.analysis.restoration.pictures import PictureValues, bounds_of, picture_mean, picture_values
from convergebench.analysis.restoration.result import frame
from convergebench.analysis.restoration.scope import RestorationScope

DIGITS = 9
"""Means that differ beyond this digit only differ by the order of a summation."""


class _PromptRow(NamedTuple):
    name: str
    level: str
    prompts: tuple[tuple[str, ...], ...]
    """The groups that are averaged, each a mean of its prompts."""

    @property
    def flat(self) -> list[str]:
        return [prompt for group in self.prompts for prompt in group]


def prompt_table(scope: RestorationScope) -> pl.DataFrame:
    """The frame `prompt_results`, of editors that read words and were asked with two prompts or more."""
    rows: list[dict[str, object]] = []
    for editor in scope.editors:
        prompts = scope.prompts_of(editor)
        if editor in scope.uninstructed or len(prompts) < 2:
            continue
        own = scope.restored.filter(pl.col("round") == 1, pl.col("editor") == editor)
        for metric in scope.metrics:
            values = picture_values(own, scope, metric=metric, by="prompt", names=prompts)
            if values.pictures:
                rows += [{"editor": editor, "metric": metric, **row} for row in _rows(values, scope, metric)]
    return frame("prompt_results", rows)


def _rows(values: PictureValues, scope: RestorationScope, metric: str) -> Iterator[dict[str, object]]:
    kept = values.on(values.common(scope.settings.coverage))
    covered = dict(zip(values.names, values.coverage >= scope.settings.coverage, strict=True))
    rows: list[dict[str, object]] = []
    for one in prompt_rows(values.names, scope):
        parts = [np.mean([kept.row(name) for name in group], axis=0) for group in one.prompts]
        found = picture_mean(np.mean(parts, axis=0), kept.photographs, scope, bounds_of(metric, scope))
        n_cases = int((~np.isnan(np.mean(parts, axis=0))).sum())
        rows.append(
            {
                **{"row": one.name, "level": one.level, "mean": found.value, "low": found.low, "high": found.high},
                **{"n_cases": n_cases, "n_sources": found.n_sources, "n_missing": len(values.pictures) - n_cases},
                "best": all(covered[name] for name in one.flat) and found.value is not None,
                "paper": paper_prompt(one.name, metric) if _printed(one, scope) else None,
            }
        )
    for row in rows:
        rivals = [other for other in rows if other["level"] == row["level"] and other["best"]]
        yield {**row, "best": bool(row["best"]) and len(rivals) > 1 and _leads(row, rivals, scope.sign(metric))}


def prompt_rows(prompts: Sequence[str], scope: RestorationScope) -> list[_PromptRow]:
    """Prompts by group with its mean, groups by length with theirs; a mean of a single prompt is left out."""
    groups: dict[str, list[str]] = {}
    for name in prompts:
        groups.setdefault(str(scope.prompts.get(name, {}).get("group") or name), []).append(name)
    lengths: dict[str, list[str]] = {}
    for group, members in groups.items():
        known = {scope.prompts.get(name, {}).get("length") for name in members}
        lengths.setdefault(str(known.pop() or "") if len(known) == 1 else "", []).append(group)
    rows = []
    for length in sorted(lengths, key=lambda one: (not one, one)):
        for group in sorted(lengths[length], key=lambda one: (len(one), one)):
            rows += [_PromptRow(name, "prompt", ((name,),)) for name in groups[group]]
            if len(groups[group]) > 1:
                rows.append(_PromptRow(f"Avg({group})", "group", (tuple(groups[group]),)))
        of = sorted(lengths[length], key=lambda one: (len(one), one))
        if length and len(of) > 1:
            rows.append(_PromptRow(f"Avg ({' + '.join(of)})", "length", tuple(tuple(groups[one]) for one in of)))
    return rows


def _printed(one: _PromptRow, scope: RestorationScope) -> bool:
    if one.level == "prompt":
        return as_printed(one.flat, scope.prompts)
    return whole_group(one.flat, scope.prompts)


def _leads(row: dict[str, object], rivals: Sequence[dict[str, object]], sign: int) -> bool:
    means = [sign * round(float(str(other["mean"])), DIGITS) for other in rivals]
    return sign * round(float(str(row["mean"])), DIGITS) == max(means)
