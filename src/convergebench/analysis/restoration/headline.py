"""The sentences at the top of a restoration page: the methods, then prompts, steadiness, rounds and faithfulness."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import polars as pl

from convergebench.analysis.restoration.headline_methods import method_sentences
from convergebench.analysis.restoration.infidelity import ANY
from convergebench.analysis.restoration.phrases import amount, digits, evidence, p_text, title, too_few
from convergebench.analysis.restoration.result import RestorationAnalysis
from convergebench.analysis.restoration.scope import RestorationScope
from convergebench.analysis.wording import counted, interval, listed, percent

NOTHING = "No result has been measured yet."
EFFECTS = {
    "length": ("Long prompts give", "higher", "lower", "than short ones"),
    "fidelity": ("A request for fidelity gives", "higher", "lower", "than none"),
    "interaction": ("What a request for fidelity adds in long prompts is", "more", "less", "than in short ones"),
}
FRIEDMAN = "the test detects an effect of repeat order, not random variation"


def restoration_sentences(found: RestorationAnalysis, scope: RestorationScope) -> tuple[str, ...]:
    """The most important first; sentences without a number are left out."""
    if not found.restored.height or not found.metrics:
        return (NOTHING,)
    sentences = list(method_sentences(found, scope))
    for part in (_prompts, _trade):
        for editor in scope.editors:
            sentences += part(found, scope, editor)
    sentences += [*_spread(found, scope), *_repeats(found, scope)]
    for part in (_outliers, _rounds, _unfaithful):
        for editor in scope.editors:
            sentences += part(found, scope, editor)
    return tuple(sentences)


def _prompts(found: RestorationAnalysis, scope: RestorationScope, editor: str) -> Iterator[str]:
    """The clearest effects of the wording; or that there is none, and how large one could be."""
    rows = found.factor_effects.filter(pl.col("p").is_not_null(), editor=editor).to_dicts()
    if not rows:
        return
    order = {metric: place for place, metric in enumerate(scope.metrics)}
    certain = sorted((row for row in rows if row["significant"]), key=lambda row: (row["p_holm"], order[row["metric"]]))
    if not certain:
        main = [row for row in rows if row["effect"] != "interaction"]
        row = min(main, key=lambda row: (order[row["metric"]], -abs(row["estimate"])))
        yield (
            f"The length of the prompt and a request for fidelity make no significant difference to {editor} in "
            f"{counted(len(rows), 'test')}; {_effect(row, scope)}{evidence(row, row['metric'], scope)}"
            f"{too_few(row['n_sources'], len(rows), scope)}."
        )
        return
    seen: set[str] = set()
    for row in certain:
        if row["effect"] not in seen:
            seen.add(row["effect"])
            effect = _effect(row, scope)
            shown = f"{evidence(row, row['metric'], scope)}{_wordings(row, scope)}"
            yield f"{effect[0].upper()}{effect[1:]} by {editor}{shown}."


def _effect(row: dict[str, Any], scope: RestorationScope) -> str:
    begin, more, less, end = EFFECTS[row["effect"]]
    by = amount(abs(row["estimate"]), row["metric"], scope)
    side = more if row["estimate"] > 0 else less
    return f"{begin[0].lower()}{begin[1:]} a {title(row['metric'])} {by} {side} {end}"


def _wordings(row: dict[str, Any], scope: RestorationScope) -> str:
    """What a reader may conclude for other wordings."""
    if row["p_wordings"] is None or row["p_wordings"] < scope.level:
        return ""
    return f"; wordings of one cell differ as much ({p_text(row['p_wordings'])}), so other wordings may not show it"


def _trade(found: RestorationAnalysis, scope: RestorationScope, editor: str) -> Iterator[str]:
    """Whether a request for fidelity buys closeness with looks."""
    rows = found.factor_effects.filter(pl.col("significant"), editor=editor, effect="fidelity").to_dicts()
    closer = [
        title(row["metric"]) for row in rows if row["metric"] in scope.reference_metrics and row["better"] == "with"
    ]
    duller = [
        title(row["metric"]) for row in rows if row["metric"] in scope.alone_metrics and row["better"] == "without"
    ]
    if closer and duller:
        yield (
            f"{editor} trades perception for distortion: asked for fidelity, it is closer to the clean image "
            f"({', '.join(closer)}) but scores worse without a reference ({', '.join(duller)})."
        )


def _spread(found: RestorationAnalysis, scope: RestorationScope) -> Iterator[str]:
    """Who varies most and who least, each by its least steady prompt."""
    metric = scope.metrics[0]
    known = found.stability.filter(pl.col("spread").is_not_null(), metric=metric)
    worst = (
        known.sort("spread").unique("editor", keep="last").sort("spread", "editor", descending=[True, False]).to_dicts()
    )
    same = [row["editor"] for row in worst if row["spread"] == 0]
    varied = [row for row in worst if row["spread"] > 0]
    if same:
        yield f"{listed(same)} {'gives' if len(same) == 1 else 'give'} the same answer every time."
    if not varied:
        return
    most, least = varied[0], varied[-1]
    ends = interval(most["spread_low"], most["spread_high"], scope.settings.confidence, digits(metric, scope))
    scale = f"; images differ by {amount(most['between'], metric, scope)}" if most["between"] is not None else ""
    rest = f"; {least['editor']} varies least, by {amount(least['spread'], metric, scope)}" if len(varied) > 1 else ""
    yield (
        f"Repeating the same request, {most['editor']} varies {'most, ' if len(varied) > 1 else ''}by a standard "
        f"deviation of {amount(most['spread'], metric, scope)} in {title(metric)} under {most['prompt']}"
        f"{ends}{scale}{rest}."
    )


def _repeats(found: RestorationAnalysis, scope: RestorationScope) -> Iterator[str]:
    rows = found.stability.filter(pl.col("p").is_not_null())
    if rows.height:
        chance = f"{scope.level * rows.height:.1f} expected by chance"
        yield (
            f"Friedman's test finds a difference between repeats in {rows['significant'].sum()} of "
            f"{counted(rows.height, 'test')} ({chance}), {rows['significant_holm'].sum()} after Holm's correction "
            f"within each editor; {FRIEDMAN}."
        )


def _outliers(found: RestorationAnalysis, scope: RestorationScope, editor: str) -> Iterator[str]:
    rows = found.outlier_repeats.filter(pl.col("metric").is_in(scope.metrics), editor=editor)
    if rows.height:
        far = rows.row(0, named=True)
        value, middle = (amount(far[name], far["metric"], scope) for name in ("value", "median"))
        repeats = rows["case"].n_unique()
        verb = "is" if repeats == 1 else "are"
        yield (
            f"{counted(repeats, 'repeat')} of {editor} {verb} far from the others of the same image; "
            f"the farthest is {far['case']}: {title(far['metric'])} {value}, median {middle}."
        )


def _rounds(found: RestorationAnalysis, scope: RestorationScope, editor: str) -> Iterator[str]:
    rows = found.refinement.filter(pl.col("gain").is_not_null(), editor=editor, metric=scope.metrics[0]).to_dicts()
    if len(rows) < 2:
        return
    second, metric = rows[1], rows[1]["metric"]
    better = "improves" if second["gain"] > 0 else "worsens" if second["gain"] < 0 else "leaves"
    ends = {"low": second["gain_low"], "high": second["gain_high"], "n_sources": second["n_sources"]}
    if second["gain"] < 0:
        low, high = second["gain_low"], second["gain_high"]
        ends |= {"low": None if high is None else -high, "high": None if low is None else -low}
    by = "as it is" if better == "leaves" else f"by {amount(abs(second['gain']), metric, scope)}"
    yield f"A second round by {editor} {better} {title(metric)} {by}{evidence(ends, metric, scope)}."


def _unfaithful(found: RestorationAnalysis, scope: RestorationScope, editor: str) -> Iterator[str]:
    for voice, said in (("person", "People see"), ("rule", "Rules propose")):
        rows = found.infidelity_effects.filter(editor=editor, mode=ANY, said_by=voice).to_dicts()
        if rows:
            row = rows[0]
            yield (
                f"{said} an unfaithful or overdone result of {editor} in {percent(row['with'])} of the chains with a "
                f"request for fidelity and in {percent(row['without'])} without ({p_text(row['p'])}; "
                f"{counted(row['n_sources'], 'photograph')})."
            )
            return  # what people say stands above what rules propose
