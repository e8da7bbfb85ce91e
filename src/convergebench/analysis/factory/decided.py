"""The decisions of a factory run as frames: one row per edit, per attempt, per session, per judged pair."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import polars as pl

from convergebench.analysis.factory.result import SCHEMAS, frame
from convergebench.edits.taxonomy import taxonomy
from convergebench.studies.factory_table import CRITERIA

Facts = Mapping[str, Any]
Key = tuple[str, str]
"""Editor and case."""


@dataclass
class DecidedChain:
    """What was decided in one chain, by kind and in order."""

    editor: str
    case: str
    source: str
    label: str
    """The edit type that was dealt."""
    facts: dict[str, list[Facts]] = field(default_factory=lambda: defaultdict(list))

    def of(self, kind: str, **equal: object) -> list[Facts]:
        """The decisions of a kind whose facts equal these."""
        return [one for one in self.facts[kind] if all(one.get(key) == value for key, value in equal.items())]

    @property
    def end(self) -> Facts | None:
        """How the chain ended; None while it is open."""
        return next(iter(self.facts["end"]), None)

    @property
    def names(self) -> dict[str, object]:
        """The columns that name the chain."""
        return {"editor": self.editor, "case": self.case, "source": self.source}


def decided_chains(chains: pl.DataFrame, decisions: pl.DataFrame) -> list[DecidedChain]:
    """Every chain of the run, those without a decision too, in order."""
    found: dict[Key, DecidedChain] = {}
    for table in (chains, decisions):
        if table.height:
            for editor, case, source, label in table.select("editor", "case", "source", "pair").iter_rows():
                found.setdefault((editor, case), DecidedChain(editor, case, source, label))
    if decisions.height:
        for editor, case, kind, text in decisions.select("editor", "case", "decision", "facts").iter_rows():
            facts = _facts(text)
            if facts is not None:
                found[editor, case].facts[kind].append(facts)
    return sorted(found.values(), key=lambda chain: (chain.editor, chain.case))


def _facts(text: str) -> Facts | None:
    """The facts of a decision; None where a received run has something else there."""
    try:
        value = json.loads(text)
    except ValueError:
        return None
    return value if isinstance(value, dict) else None


def category_of(edit_type: str) -> str:
    """The category of an edit type; empty for one that this version does not know."""
    known = taxonomy().get(edit_type)
    return known.category if known else ""


def attempts_table(chains: list[DecidedChain], steps: pl.DataFrame, answers: pl.DataFrame) -> pl.DataFrame:
    """The frame `attempts`. What an edit cost stands in its step; the judge's calls are those asked at its position."""
    edit_dollars = _sums(steps, "index")
    judge = answers.filter(pl.col("role") == "judge") if answers.height else answers
    judge_dollars = _sums(judge, "position")
    rows = []
    for chain in chains:
        for facts in chain.of("attempt"):
            place = (chain.editor, chain.case, facts.get("position"))
            scores = facts.get("scores")
            rows.append(
                {
                    **{key: facts[key] for key in SCHEMAS["attempts"] if key in facts and key != "scores"},
                    **chain.names,
                    "category": category_of(facts["edit_type"]),
                    "scores": None if scores is None else json.dumps(scores),
                    "replies": len(facts.get("answers", ())),
                    "dollars": edit_dollars.get(place),
                    "judge_dollars": judge_dollars.get(place),
                }
            )
    return frame("attempts", rows)


def _sums(table: pl.DataFrame, position: str) -> dict[tuple[Any, ...], float]:
    if not table.height:
        return {}
    summed = table.drop_nulls(["editor", "case"]).group_by("editor", "case", position).agg(pl.col("dollars").sum())
    return {(editor, case, at): dollars for editor, case, at, dollars in summed.iter_rows()}


def edits_table(chains: list[DecidedChain]) -> pl.DataFrame:
    """The frame `edits`: every turn that was begun, and the first turn of every case."""
    return frame("edits", [row for chain in chains for row in _edits(chain)])


def _edits(chain: DecidedChain) -> Iterator[dict[str, object]]:
    end = chain.end
    begun = {one["turn"] for kind in ("instruction", "unwritten", "attempt") for one in chain.of(kind)} | {1}
    # only the end says how many turns were planned; before it, an inspection or a second turn shows a session
    session = end["turns_planned"] > 1 if end else max(begun) > 1 or bool(chain.of("inspection"))
    for turn in sorted(begun):
        written = next(iter(chain.of("instruction", turn=turn)), None)
        unwritten = next(iter(chain.of("unwritten", turn=turn)), None)
        tries = chain.of("attempt", turn=turn)
        shown = _shown_attempt(tries)
        accepted = shown is not None and bool(shown["accepted"])
        outcome = "accepted" if accepted else "unwritten" if unwritten else "discarded" if end else "open"
        outcome = "unfit" if end is not None and end.get("outcome") == "unfit" else outcome
        said: Facts = written or unwritten or {}
        edit_type = said.get("edit_type") or _type_of(chain)
        looked: Facts = next(iter(chain.of("inspection", turn=turn)), {})
        yield {
            **chain.names,
            **{"turn": turn, "edit_type": edit_type, "category": category_of(edit_type), "session": session},
            "assigned": chain.label if turn == 1 else edit_type,
            **{"long": said.get("long"), "short": said.get("short"), "attempts": len(tries), "outcome": outcome},
            "delivered": sum("refused" not in one for one in tries),
            "judged": sum(one.get("score") is not None for one in tries),
            "accepted_at": shown["attempt"] if shown and accepted else None,
            "position": shown["position"] if shown else None,
            **{key: shown.get(key) for key in ("score", *CRITERIA, "spread", "reason") if shown},
            **{"quality": looked.get("quality"), "fit": looked.get("fit")},
            "damage": "; ".join(str(one) for one in looked.get("damage", ())) or None,
        }


def _type_of(chain: DecidedChain) -> str:
    """The type of the first turn: the one dealt, or the one that took its place."""
    return next((str(one["instead"]) for one in chain.of("filtered") if one["instead"]), chain.label)


def _shown_attempt(tries: list[Facts]) -> Facts | None:
    """The accepted attempt, else the one with the best score, else the last that came back with a picture."""
    accepted = [one for one in tries if one["accepted"]]
    if accepted:
        return accepted[0]
    scored = [one for one in tries if one.get("score") is not None]
    if scored:
        return max(scored, key=lambda one: float(one["score"]))
    return next((one for one in reversed(tries) if "refused" not in one), None)


def sessions_table(chains: list[DecidedChain]) -> pl.DataFrame:
    """The frame `sessions`: chains that ended and were planned to have several turns."""
    rows = []
    for chain in chains:
        end = chain.end
        if end is None or end["turns_planned"] < 2:
            continue
        counts = {"planned": end["turns_planned"], "done": end["turns_done"], "fit": end["turns_fit"]}
        whole = end["turns_fit"] == end["turns_planned"]
        rows.append({**chain.names, **counts, "ended": end["ended"], "whole": whole})
    return frame("sessions", rows)
