"""What a factory run would make and cost, on average and at most, before anything is paid.

How many tries an edit needs is not known beforehand: a share is assumed, or taken from a run that was made with the
same roles and editors (a pilot). Prices come from the pilot too, retries included, or are those that editors and roles
declare.
"""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import polars as pl

from convergebench.engine.plan import Chain, forecast, hours_in_all
from convergebench.engine.plan_questions import forecast_questions
from convergebench.engine.prepared import Prepared
from convergebench.errors import StudyError
from convergebench.store.frames import RunFrames
from convergebench.store.manifest import read_manifest
from convergebench.studies.factory import Factory

ASSUMED = 0.75
"""Share of attempts that are accepted, if nobody says otherwise."""
LEAST_TURNS = 8
"""A type with fewer turns in the pilot counts as all types together do."""


@dataclass(frozen=True)
class Rate:
    """How turns of one edit type go."""

    tries: float
    """Mean attempts of a turn."""
    success: float
    """Share of turns in which an attempt was accepted."""


@dataclass(frozen=True)
class Pilot:
    """What is expected of turns, sessions and prices, and where that comes from."""

    pooled: Rate
    by_type: Mapping[str, Rate] = field(default_factory=dict)
    fit: float = 1.0
    """Share of inspected pictures that may go on."""
    dollars: Mapping[str, float] = field(default_factory=dict)
    """Editor, or role → mean dollars per edit or question, with its retries; empty: as declared."""
    origin: str = ""

    def rate(self, edit_type: str) -> Rate:
        """Of this type."""
        return self.by_type.get(edit_type, self.pooled)


def assumed(success: float, attempts: int) -> Pilot:
    """Every attempt is accepted with this chance, and no session is stopped."""
    if not 0 < success <= 1:
        raise StudyError(
            f"--success {success:g} is not a share of attempts; give a number above 0 and up to 1, such as 0.75"
        )
    done = 1 - (1 - success) ** attempts
    return Pilot(Rate(done / success, done), origin=f"assumed: {success:.0%} of attempts are accepted")


def pilot_of(root: Path, attempts: int) -> Pilot:
    """What a run has shown; it must have had the same number of attempts."""
    manifest = read_manifest(root / "manifest.json")
    before = manifest.spec.get("factory", {}).get("attempts")
    if manifest.study != "factory" or before != attempts:
        had = f"{before} attempts" if manifest.study == "factory" else f"the study {manifest.study}"
        raise StudyError(f"{root} had {had}, so it says nothing about a factory with {attempts}; give another run")
    frames = RunFrames(root)
    decisions, calls = frames.decisions(), frames.attempts()
    frames.close()
    decided = [(kind, json.loads(text)) for kind, text in decisions.select("decision", "facts").iter_rows()]
    tries: Counter[str] = Counter()
    turns: Counter[str] = Counter()
    accepted: Counter[str] = Counter()
    for kind, facts in decided:
        if kind == "attempt":
            tries[facts["edit_type"]] += 1
            accepted[facts["edit_type"]] += bool(facts["accepted"])
        elif kind == "instruction":
            turns[facts["edit_type"]] += 1
    if not tries:
        raise StudyError(f"{root} has no factory attempts to learn from; give another run")
    fit = [facts["fit"] for kind, facts in decided if kind == "inspection"]
    return Pilot(
        Rate(tries.total() / turns.total(), accepted.total() / turns.total()),
        {
            name: Rate(tries[name] / count, accepted[name] / count)
            for name, count in turns.items()
            if count >= LEAST_TURNS
        },
        sum(fit) / len(fit) if fit else 1.0,
        _mean_dollars(calls, decided, manifest.spec.get("factory", {}).get("judged", 1)),
        f"as in {root.name}: {turns.total()} turns",
    )


def _mean_dollars(
    calls: pl.DataFrame, decided: Sequence[tuple[str, Mapping[str, object]]], judged: int
) -> dict[str, float]:
    kinds = Counter(kind for kind, _ in decided)
    asked = {
        "writer": kinds["instruction"] + kinds["unwritten"],
        "rewriter": sum("rewriter" in facts for kind, facts in decided if kind == "instruction"),
        "judge": judged * sum("answers" in facts for kind, facts in decided if kind == "attempt") + 2 * kinds["pair"],
        "inspector": kinds["inspection"],
        "detector": kinds["content"],
    }
    spent = dict(calls.group_by("editor").agg(pl.col("dollars").sum()).iter_rows())
    edits = dict(calls.group_by("editor").agg(pl.col("step").n_unique()).iter_rows())
    found = {name: spent[name] / count for name, count in edits.items() if not name.startswith("role:")}
    return found | {
        name: spent.get(f"role:{name}", 0.0) / count
        for name, count in asked.items()
        if count and f"role:{name}" in spent
    }


@dataclass(frozen=True)
class Expected:
    """What is expected of one editor or role."""

    name: str
    calls: float
    most: int | None
    dollars: float | None
    most_dollars: float | None


@dataclass(frozen=True)
class FactoryForecast:
    """The plan of a factory in numbers."""

    sources: int
    cases: int
    sessions: int
    by_type: Mapping[str, int]
    attempts: int
    accepted: float
    """Accepted first turns: rows for supervised training."""
    preferences: float
    whole_sessions: float
    rows: Sequence[Expected]
    """Editors first, then roles."""
    hours: float
    """At most."""
    origin: str
    """Where the shares come from."""

    @property
    def dollars(self) -> float | None:
        """Expected; None where a price is not known."""
        known = [row.dollars for row in self.rows]
        return None if None in known else sum(one for one in known if one is not None)


def forecast_factory(prepared: Prepared, pilot: Pilot) -> FactoryForecast:
    """Expected calls, rows and dollars of a checked study."""
    chains = prepared.chains
    made = _Made()
    for chain in chains:
        made.add(chain, pilot)
    most = forecast(chains, prepared.editors, {})
    asked = {row.role: row for row in forecast_questions(chains, (), prepared.roles)}
    rows = [
        _expected(row.editor, made.edits[row.editor], row.calls, row.dollars, pilot.dollars.get(row.editor))
        for row in most
    ]
    for name, row in asked.items():
        rows.append(_expected(name, made.asked[name], row.questions, row.dollars, pilot.dollars.get(name)))
    cases = {chain.case.id: chain.case for chain in chains}
    study = _study(chains)
    return FactoryForecast(
        sources=len(prepared.sources),
        cases=len(cases),
        sessions=sum(study.turns_of(case) > 1 for case in cases.values()),
        by_type=dict(Counter(case.label for case in cases.values())),
        attempts=study.table.attempts,
        accepted=made.accepted,
        preferences=made.preferences,
        whole_sessions=made.sessions,
        rows=rows,
        hours=hours_in_all(most, prepared.editors),
        origin=pilot.origin,
    )


def _study(chains: Iterable[Chain]) -> Factory:
    study = next(iter(chains)).study
    if not isinstance(study, Factory):
        raise StudyError(f"this is a plan of the study '{study.name}', not of a factory; type: cbench run … --dry-run")
    return study


def _expected(name: str, calls: float, most: int | None, dollars: float | None, price: float | None) -> Expected:
    """At the pilot's mean price; else in proportion to the most that it can cost."""
    if price is not None:
        return Expected(name, calls, most, calls * price, dollars)
    each = None if dollars is None or not most else dollars / most
    return Expected(name, calls, most, None if dollars is None else calls * (each or 0.0), dollars)


@dataclass
class _Made:
    """Sums over chains."""

    edits: defaultdict[str, float] = field(default_factory=lambda: defaultdict(float))
    asked: defaultdict[str, float] = field(default_factory=lambda: defaultdict(float))
    accepted: float = 0.0
    preferences: float = 0.0
    sessions: float = 0.0

    def add(self, chain: Chain, pilot: Pilot) -> None:
        study, case = _study([chain]), chain.case
        table, turns = study.table, study.turns_of(chain.case)
        most = study.questions(case)
        self.asked["detector"] += most["detector"]
        reached = 1.0
        for turn in range(1, turns + 1):
            rate = pilot.rate(case.label) if turn == 1 else pilot.pooled
            edits, done = reached * rate.tries, reached * rate.success
            # attempts beyond one per turn fail before a success, or are all that failed
            failed_first = max(0.0, edits - reached - (reached - done) * (table.attempts - 1))
            self.edits[chain.editor] += edits
            self.asked["writer"] += reached
            self.asked["rewriter"] += reached * table.short
            self.asked["judge"] += edits * table.judged + 2 * table.pairwise * failed_first
            if turns > 1 and table.least_quality > 0:
                self.asked["inspector"] += done
            if turn == 1:
                self.accepted += done
                self.preferences += min(done, failed_first)
            reached = done * (pilot.fit if turns > 1 and table.least_quality > 0 else 1.0)
        if turns > 1:
            self.sessions += reached
