"""Decisions of a factory, written down by hand: what was tried, how it scored, how it ended."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import polars as pl

from convergebench.analysis.bootstrap import Bootstrap
from convergebench.analysis.factory.decided import (
    DecidedChain,
    attempts_table,
    decided_chains,
    edits_table,
    sessions_table,
)
from convergebench.store.frames import ANSWERS, CHAINS, DECISIONS, STEPS
from convergebench.studies.factory_table import CRITERIA

BOOTSTRAP = Bootstrap()
REFUSED, UNREAD = "refused", None
Try = float | str | tuple[float, ...] | None
"""A score, four criteria, `REFUSED`, or None: the judge's reply could not be parsed."""


@dataclass
class Told:
    """One chain: its tries turn by turn. The last try of a turn that is above 0.7 is accepted."""

    source: str
    turns: Sequence[Sequence[Try]] = ((0.9,),)
    label: str = "add-object"
    editor: str = "ours"
    planned: int = 1
    instead: str = ""
    unwritten: bool = False
    open: bool = False
    damaged: bool = False
    later: Sequence[str] = ("zoom-in", "outpaint", "film-grain", "art-style")
    spreads: dict[int, list[float]] = field(default_factory=dict)
    """Position → the single replies' scores."""
    more: Sequence[tuple[str, dict[str, Any]]] = ()

    @property
    def case(self) -> str:
        return f"{self.source}/{self.label}/0"

    def decisions(self) -> list[tuple[str, int, dict[str, Any]]]:
        rows: list[tuple[str, int, dict[str, Any]]] = []
        first = self.instead or self.label
        if self.instead:
            rows.append(("filtered", 0, {"edit_type": self.label, "needs": "text", "instead": self.instead}))
        if self.unwritten:
            rows.append(("unwritten", 0, {"turn": 1, "edit_type": first, "answer": "a", "asked": 3}))
        position, done, end = 0, 0, "unwritten" if self.unwritten else "discarded"
        for turn, tries in enumerate(() if self.unwritten else self.turns, start=1):
            kind = first if turn == 1 else self.later[turn - 2]
            words = {"turn": turn, "edit_type": kind, "long": f"Please do {kind}.", "short": kind}
            asked = {"writer": "w", "asked": 1, "rewriter": "r", "rewriter_asked": 1}
            rows.append(("instruction", position, {**words, **asked}))
            end = "discarded"
            for number, tried in enumerate(tries, start=1):
                position += 1
                facts = {"turn": turn, "attempt": number, "edit_type": kind, "position": position}
                rows.append(("attempt", position, {**facts, **self._judged(tried, position)}))
                if rows[-1][2]["accepted"]:
                    end, done = "accepted", done + 1
            if end == "accepted" and self.planned > 1:
                fit = not (self.damaged and turn == len(self.turns))
                looked = {"turn": turn, "quality": 0.9 if fit else 0.2, "fit": fit, "damage": [], "asked": 1}
                rows.append(("inspection", position, looked))
                end = end if fit else "damaged"
        rows += [(kind, position, facts) for kind, facts in self.more]
        if not self.open:
            facts = {"outcome": "accepted" if done else end, "ended": end, "edit_type": first}
            counts = {"turns_planned": self.planned, "turns_done": done, "turns_fit": done - (end == "damaged")}
            rows.append(("end", position, {**facts, **counts}))
        return rows

    def _judged(self, tried: Try, position: int) -> dict[str, Any]:
        if tried == REFUSED:
            return {"accepted": False, "refused": "not allowed"}
        state = {"state": f"{self.editor}:{self.case}:{position}", "answers": ["a"], "asked": 1}
        if tried is None:
            return {**state, "accepted": False, "asked": 3, "parsed": 0, "score": None, "spread": None, "reason": "?"}
        assert not isinstance(tried, str)
        scores = tried if isinstance(tried, tuple) else (tried,) * 4
        score = sum(w * s for w, s in zip((0.4, 0.25, 0.2, 0.15), scores, strict=True))
        each = self.spreads.get(position, [score])
        found = {**dict(zip(CRITERIA, scores, strict=True)), "score": score, "scores": each, "spread": None}
        return {**state, "accepted": score > 0.7, "parsed": 1, "reason": "so it is", **found}


@dataclass(frozen=True)
class World:
    """The frames of what was told."""

    chains: list[DecidedChain]
    edits: pl.DataFrame
    attempts: pl.DataFrame
    sessions: pl.DataFrame


def world(*told: Told, steps: pl.DataFrame | None = None, answers: pl.DataFrame | None = None) -> World:
    rows, decisions = [], []
    for one in told:
        known = {"editor": one.editor, "case": one.case, "source": one.source, "pair": one.label}
        rows.append({**known, "status": "open" if one.open else "finished"})
        for number, (kind, position, facts) in enumerate(one.decisions(), start=1):
            place = {"number": number, "position": position}
            decisions.append({**known, **place, "decision": kind, "facts": json.dumps(facts)})
    chains = decided_chains(_frame(rows, CHAINS), _frame(decisions, DECISIONS))
    no_steps, no_answers = _frame([], STEPS), _frame([], ANSWERS)
    attempts = attempts_table(chains, no_steps if steps is None else steps, no_answers if answers is None else answers)
    return World(chains, edits_table(chains), attempts, sessions_table(chains))


def _frame(rows: list[dict[str, Any]], schema: dict[str, Any]) -> pl.DataFrame:
    return pl.DataFrame([{key: row.get(key) for key in schema} for row in rows], schema=schema)
