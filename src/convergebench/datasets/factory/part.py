"""The factory's parts of an export: rows with pictures, every attempt, and what may only be named."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

from convergebench.datasets.factory.products import examples, pairs, sessions
from convergebench.datasets.factory.rows import FactoryRows
from convergebench.datasets.factory.tables import ATTEMPTS, BY_REFERENCE, TABLES
from convergebench.datasets.factory.turns import factory_chain
from convergebench.datasets.parts import ExportedChain, ExportPart
from convergebench.datasets.pictured import PicturedPart
from convergebench.datasets.record import licence_of


def _attempt_rows(chain: ExportedChain) -> Iterable[Mapping[str, Any]]:
    for turn in factory_chain(chain).turns:
        for one in turn.attempts:
            yield {
                "edit_type": turn.type.id,
                "turn": turn.number,
                "attempt": one.number,
                "step_index": one.step.position if one.step is not None else None,
                "accepted": one.accepted,
                "refused": one.refused,
                "score": one.score,
                **one.criteria,
                "spread": one.spread,
                "reason": one.reason,
                "step_key": one.step.key if one.step is not None else None,
            }


def _references(chain: ExportedChain) -> Iterable[Mapping[str, Any]]:
    """Of the same products that would have been rows."""
    facts, read = chain.facts, factory_chain(chain)
    source = chain.manifest.sources.get(facts.source, {})
    common = {
        "source_address": source.get("source"),
        "source_sha256": facts.picture.sha256,
        "source_licence": licence_of(chain.manifest, facts.source),
        "source_credit": source.get("credit"),
    }
    for example in examples(read):
        yield {**common, **_reference("sft", [example.turn.type.id], [example.turn.long], [example.after.sha256])}
    for pair in pairs(read):
        named = _reference("preference", [pair.turn.type.id], [pair.turn.long], [pair.better.sha256])
        yield {**common, **named, "rejected_sha256": json.dumps([pair.worse.sha256])}
    for session in sessions(read):
        types, words = [one.turn.type.id for one in session.turns], [one.turn.long for one in session.turns]
        yield {**common, **_reference("multi_turn", types, words, [one.after.sha256 for one in session.turns])}


def _reference(subset: str, types: list[str], prompts: list[str | None], pictures: list[str]) -> dict[str, Any]:
    return {
        "subset": subset,
        "edit_type": " ".join(types),
        "prompts": json.dumps(prompts, ensure_ascii=False),
        "chosen_sha256": json.dumps(pictures),
        "rejected_sha256": "[]",
    }


attempts = ExportPart(ATTEMPTS, _attempt_rows)
products = PicturedPart(TABLES, FactoryRows, ExportPart(BY_REFERENCE, _references))
