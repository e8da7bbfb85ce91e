"""What the headline says of the methods: who restores best, who makes things worse, who does nothing.

A winner is named only where its difference to every other contender holds after Holm's correction and it is better than
the degraded input.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import polars as pl

from convergebench.analysis.restoration.methods import contenders, method_values
from convergebench.analysis.restoration.phrases import amount, evidence, title, too_few
from convergebench.analysis.restoration.result import INPUT, RestorationAnalysis
from convergebench.analysis.restoration.scope import RestorationScope
from convergebench.analysis.wording import counted, listed, percent

Row = Mapping[str, Any]


def method_sentences(found: RestorationAnalysis, scope: RestorationScope) -> Iterator[str]:
    """By the first metric: the leader with its gain and its lead, then who is worse than the input."""
    metric = scope.metrics[0]
    results = {row["editor"]: row for row in found.method_results.filter(metric=metric).to_dicts()}
    if scope.alone_metrics and not scope.reference_metrics:
        yield "No clean reference images: the scores measure appearance, not fidelity."
    able = contenders(method_values(scope.first_results(), scope, metric), scope)
    leaders: list[Row] = [row for row in results.values() if row["editor"] in able and row["mean"] is not None]
    leaders.sort(key=lambda row: -scope.sign(metric) * row["mean"])
    if leaders:
        yield _lead(leaders, found, scope)
    else:
        yield "No method delivered enough results to be compared."
    yield from _worse(list(results.values()), found, scope)
    yield from _other_leader(found, scope)
    yield from _left_out(list(results.values()), scope)
    yield from _simulated(scope)


def _lead(leaders: list[Row], found: RestorationAnalysis, scope: RestorationScope) -> str:
    first, metric = leaders[0], scope.metrics[0]
    name, by = first["editor"], title(metric)
    if first["gain"] is None:
        return f"{name} has {by} {amount(first['mean'], metric, scope)}; the degraded input was not measured."
    if not first["best"]:
        return f"No method beats the degraded input in {by}: the best, {name}, {_gain(first, scope)}."
    over_input = _against(found, metric, name, INPUT)
    if not _certain(over_input, name):
        few = too_few(first["n_sources"], found.method_contrasts.filter(metric=metric).height, scope)
        return f"No method significantly improves {by}: the best, {name}, {_gain(first, scope, over_input)}{few}."
    rest = [(row, _against(found, metric, name, row["editor"])) for row in leaders[1:]]
    if not rest:
        return f"{name} restores: by {by} it {_gain(first, scope, over_input)}."
    if all(_certain(pair, name) for _, pair in rest):
        closest = rest[0][1]
        assert closest is not None
        more = f"{amount(closest['difference'], metric, scope)} more than {closest['worse']}, the next"
        lead = f"{more}{evidence(closest, metric, scope)}"
        return f"{name} restores best by {by}: it {_gain(first, scope, over_input)}, {lead}."
    equal = [(row, pair) for row, pair in rest if not _certain(pair, name)]
    names = listed([name, *(row["editor"] for row, _ in equal)])
    pair = equal[0][1]
    ahead = "they have no image in common"
    if pair is not None:
        few = too_few(pair["n_sources"], found.method_contrasts.filter(metric=metric).height, scope)
        ahead = f"{_ahead(pair, metric, scope)}{few}"
    return f"{names} lead in {by} and do not differ significantly: {name} {_gain(first, scope, over_input)}; {ahead}."


def _ahead(pair: Row, metric: str, scope: RestorationScope) -> str:
    by = amount(pair["difference"], metric, scope)
    return f"{pair['better']} is {by} ahead of {pair['worse']}{evidence(pair, metric, scope)}"


def _gain(row: Row, scope: RestorationScope, pair: Row | None = None) -> str:
    """`gains 0.81 dB over the degraded input (95%: 0.62–1.03; p = 0.002; 12 photographs)`."""
    metric = scope.metrics[0]
    verb = "gains" if row["gain"] >= 0 else "loses"
    low, high = row["gain_low"], row["gain_high"]
    if row["gain"] < 0 and low is not None and high is not None:
        low, high = -high, -low
    ends = {"low": low, "high": high, "n_sources": row["n_sources"], "p_holm": pair["p_holm"] if pair else None}
    word = "over" if row["gain"] >= 0 else "against"
    return f"{verb} {amount(abs(row['gain']), metric, scope)} {word} the degraded input{evidence(ends, metric, scope)}"


def _worse(results: list[Row], found: RestorationAnalysis, scope: RestorationScope) -> Iterator[str]:
    metric = scope.metrics[0]
    for row in results:
        if row["editor"] == INPUT or row["gain"] is None:
            continue
        pair = _against(found, metric, row["editor"], INPUT)
        if "same as the input" in row["note"]:
            yield f"{row['editor']} changed nothing: every result has the {title(metric)} of its input."
        elif _certain(pair, INPUT):
            yield f"{row['editor']} makes pictures worse: by {title(metric)} it {_gain(row, scope, pair)}."


def _other_leader(found: RestorationAnalysis, scope: RestorationScope) -> Iterator[str]:
    """Where looks alone have another favourite than closeness to the clean picture."""
    if not scope.reference_metrics or not scope.alone_metrics:
        return
    best = found.method_results.filter("best")
    close, looks = ((metric, best.filter(metric=metric)["editor"].to_list()) for metric in _heads(scope))
    if close[1] and looks[1] and not set(close[1]) & set(looks[1]):
        yield (
            f"{listed(looks[1])} has the best mean {title(looks[0])} (no reference), "
            f"{listed(close[1])} the best mean {title(close[0])} (against the clean image)."
        )


def _heads(scope: RestorationScope) -> tuple[str, str]:
    return scope.reference_metrics[0], scope.alone_metrics[0]


def _left_out(results: list[Row], scope: RestorationScope) -> Iterator[str]:
    for row in results:
        if row["editor"] != INPUT and row["coverage"] is not None and row["coverage"] < scope.settings.coverage:
            yield (
                f"{row['editor']} delivered {percent(row['coverage'])} of its results and is not ranked: "
                f"{percent(scope.settings.coverage)} are needed."
            )


def _simulated(scope: RestorationScope) -> Iterator[str]:
    names = [name for name in scope.editors if name in scope.simulated]
    if names and len(names) < len(scope.editors):
        is_are = "is a simulated method" if len(names) == 1 else "are simulated methods"
        yield f"{listed(names)} {is_are}, shown for comparison."
    elif names:
        yield f"All of the {counted(len(names), 'method')} are simulated, so nothing here is a finding about a model."


def _against(found: RestorationAnalysis, metric: str, one: str, other: str) -> Row | None:
    both = [one, other]
    pairs = found.method_contrasts.filter(pl.col("better").is_in(both), pl.col("worse").is_in(both), metric=metric)
    rows = pairs.to_dicts()
    return rows[0] if rows else None


def _certain(pair: Row | None, better: str) -> bool:
    return pair is not None and bool(pair["significant"]) and pair["better"] == better
