"""How often results are unfaithful to their picture or overdone, by prompt: what rules propose and what people confirm.

Rules and people are counted apart: a rule's finding is a proposal, and people see what rules cannot. `any` is a chain
in which at least one of the modes is present; it is not present only if the same voice looked and found none.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import polars as pl

from convergebench.analysis.factory.shares import share_of
from convergebench.analysis.failures import labels_by_chain, verdict_from
from convergebench.analysis.permutation import holm
from convergebench.analysis.restoration.pictures import UNFINISHED, finite, paired_mean
from convergebench.analysis.restoration.result import frame
from convergebench.analysis.restoration.scope import RestorationScope

MODES = ("structure-change", "invented-edges", "colour-on-grey", "invented-texture", "lost-object", "new-object")
ANY, ALL = "any", "all"
VOICES = ("rule", "person")

Verdicts = Mapping[tuple[str, str, str, str], bool | None]
"""(editor, case, mode, voice) → whether it is present; None: undecided."""


def infidelity_tables(labels: pl.DataFrame, scope: RestorationScope) -> tuple[pl.DataFrame, pl.DataFrame]:
    """The frames `infidelity` and `infidelity_effects`; modes that nobody looked for have no rows."""
    chains = _delivered(scope)
    verdicts = _verdicts(labels)
    looked = sorted({(editor, mode, voice) for editor, _, mode, voice in verdicts}, key=_order)
    rows: list[dict[str, Any]] = []
    effects: list[dict[str, Any]] = []
    for editor, mode, voice in looked:
        own = chains.filter(pl.col("editor") == editor).to_dicts()
        for one in own:
            one["present"] = verdicts.get((editor, one["case"], mode, voice))
        names = {"editor": editor, "mode": mode, "said_by": voice}
        rows += [{**names, **row} for row in _shares(own, scope)]
        if effect := _effect(own, scope):
            effects.append({**names, **effect})
    return frame("infidelity", rows), frame("infidelity_effects", _corrected(effects, scope))


def _delivered(scope: RestorationScope) -> pl.DataFrame:
    """One row per chain that has a result, with its prompt's place in the design."""
    there = scope.restored.filter(pl.col("round") == 1, ~pl.col("status").is_in(UNFINISHED))
    fidelity = {name: facts.get("fidelity") for name, facts in scope.prompts.items()}
    asked = pl.col("prompt").replace_strict(fidelity, default=None, return_dtype=pl.Boolean)
    chains = there.select("editor", "case", "source", "prompt", "group").unique(maintain_order=True)
    return chains.with_columns(asked.alias("fidelity"))


def _verdicts(labels: pl.DataFrame) -> Verdicts:
    if not labels.height:
        return {}
    found: dict[tuple[str, str, str, str], bool | None] = {}
    every: dict[tuple[str, str, str], list[bool | None]] = {}
    for rows in labels_by_chain(labels.filter(pl.col("mode").is_in(MODES))):
        for voice in VOICES:
            one = verdict_from(rows, voice)
            if one is not None:
                found[one.editor, one.case, one.mode, voice] = one.present
                every.setdefault((one.editor, one.case, voice), []).append(one.present)
    for (editor, case, voice), said in every.items():
        found[editor, case, ANY, voice] = True if True in said else None if None in said else False
    return found


def _shares(chains: Sequence[Mapping[str, Any]], scope: RestorationScope) -> list[dict[str, Any]]:
    prompts = list(dict.fromkeys(one["prompt"] for one in chains))
    order = [name for name in scope.prompts if name in prompts] + [
        name for name in prompts if name not in scope.prompts
    ]
    rows = []
    for prompt in order:
        own = [one for one in chains if one["prompt"] == prompt]
        facts = {"prompt": prompt, "group": own[0]["group"], "fidelity": own[0]["fidelity"]}
        rows.append({**facts, **_share(own, scope, prompts=1)})
    for asked in (False, True):
        own = [one for one in chains if one["fidelity"] is asked]
        if own:
            many = len({one["prompt"] for one in own})
            rows.append({"prompt": ALL, "group": ALL, "fidelity": asked, **_share(own, scope, prompts=many)})
    return rows


def _share(own: Sequence[Mapping[str, Any]], scope: RestorationScope, *, prompts: int) -> dict[str, Any]:
    known = [one for one in own if one["present"] is not None]
    seen = [one["present"] for one in known]
    found = share_of(seen, [scope.photograph(one["source"]) for one in known], scope.bootstrap)
    return {
        **{"cases": sum(seen), "n": len(known), "share": found.value, "low": found.low, "high": found.high},
        **{"n_sources": found.n_sources, "n_unknown": len(own) - len(known)},
        "per_prompt": sum(seen) / prompts if known else None,
    }


def _effect(chains: Sequence[Mapping[str, Any]], scope: RestorationScope) -> dict[str, Any]:
    """The difference of the shares within pictures; empty without pictures that have both."""
    shares: dict[str, dict[bool, list[bool]]] = {}
    for one in chains:
        if one["present"] is not None and one["fidelity"] is not None:
            shares.setdefault(one["source"], {}).setdefault(one["fidelity"], []).append(one["present"])
    both = {source: own for source, own in shares.items() if len(own) == 2}
    if not both:
        return {}
    means = np.array([[np.mean(own[asked]) for asked in (False, True)] for own in both.values()])
    found = paired_mean(means[:, 1] - means[:, 0], tuple(scope.photograph(one) for one in both), scope)
    return {
        **{
            "without": float(means[:, 0].mean()),
            "with": float(means[:, 1].mean()),
            "difference": finite(found.difference),
        },
        **{"low": finite(found.low), "high": finite(found.high), "p": found.p},
        **{"n_cases": len(both), "n_sources": found.n_sources},
    }


def _corrected(effects: Sequence[Mapping[str, Any]], scope: RestorationScope) -> list[dict[str, Any]]:
    """With Holm's correction over the modes of one editor and voice; `any` is not one more question."""
    rows: list[dict[str, Any]] = []
    for editor, voice in dict.fromkeys((row["editor"], row["said_by"]) for row in effects):
        own = [row for row in effects if (row["editor"], row["said_by"]) == (editor, voice)]
        single = [row for row in own if row["mode"] != ANY]
        adjusted = {row["mode"]: p for row, p in zip(single, holm([row["p"] for row in single]), strict=True)}
        for row in own:
            p = adjusted.get(row["mode"], row["p"])
            rows.append({**row, "p_holm": p, "significant": p < scope.level})
    return rows


def _order(one: tuple[str, str, str]) -> tuple[str, int, int]:
    editor, mode, voice = one
    return editor, VOICES.index(voice), (ANY, *MODES).index(mode)
