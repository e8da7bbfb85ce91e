"""Entries of a leaderboard: one editor of one accepted bundle, with its rows as frames."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import polars as pl

from convergebench.analysis.parts import AnalysisContext
from convergebench.ids import content_hash
from convergebench.leaderboard.bundle import ResultBundle
from convergebench.leaderboard.checking import CheckedBundle
from convergebench.leaderboard.describing import suite_name
from convergebench.texts import plain_line

LONGEST_NAME = 80
ANONYMOUS = "not stated"


@dataclass(frozen=True)
class LoadedBundle:
    """An accepted bundle with the frames of the run that was rebuilt from it."""

    checked: CheckedBundle
    context: AnalysisContext

    @property
    def bundle(self) -> ResultBundle:
        """The rows themselves."""
        assert self.checked.bundle is not None
        return self.checked.bundle

    @property
    def submitter(self) -> str:
        """As they call themselves."""
        return plain_line(str(self.bundle.about["submitter"].get("name", "")))[:LONGEST_NAME] or ANONYMOUS

    @property
    def finished(self) -> str:
        """When the last call was made."""
        return str(self.bundle.about["finished"])

    @property
    def place(self) -> tuple[str, str]:
        """Study and suite: bundles of one place may be comparable."""
        return self.bundle.manifest.study, suite_name(self.bundle.manifest)


@dataclass(frozen=True)
class LeaderboardEntry:
    """One editor of one bundle."""

    name: str
    """The editor's name in its run: the model of this entry."""
    loaded: LoadedBundle
    label: str = ""
    """Unique among the entries of a ranking; the name, where no other entry has it."""

    @property
    def facts(self) -> dict[str, Any]:
        """What `bundle.json` says of the editor."""
        found: dict[str, Any] = self.loaded.bundle.about["editors"][self.name]
        return found

    @property
    def simulated(self) -> bool:
        """Whether it is a programmed baseline, not a model."""
        return bool(self.facts["simulated"])

    @property
    def owner(self) -> tuple[str, str]:
        """Two entries of one model and one owner are versions of each other; the newest one is ranked."""
        checked = self.loaded.checked
        return self.name, checked.key or f"unsigned {self.loaded.submitter}"

    @property
    def identity(self) -> str:
        """Stable and short, for links and feeds."""
        return content_hash([self.loaded.checked.head, self.name]).removeprefix("d1:")[:12]

    @cached_property
    def costs(self) -> EditCosts:
        """What an edit cost and how long it took, as the journal says."""
        return edit_costs(self.name, self.loaded.bundle)


@dataclass(frozen=True, slots=True)
class EditCosts:
    """Per edit that gave an image; None where nothing is known."""

    dollars: float | None
    seconds: float | None
    unsettled: int
    """Calls of which it is unknown whether they are charged."""


def edit_costs(editor: str, bundle: ResultBundle) -> EditCosts:
    """Dollars of all calls, failed ones included, and seconds of the answered ones, per edit that gave an image."""
    made = {row["id"] for row in bundle.tables["steps"] if row["editor"] == editor and row["status"] == "ok"}
    calls = [row for row in bundle.tables["attempts"] if row["editor"] == editor]
    fresh = [row for row in calls if row["outcome"] == "ok" and row["part"] == "" and row["step"] in made]
    reused = sum(row["outcome"] == "reused" for row in calls)
    edits = len(made) - reused
    if edits <= 0 or not fresh:
        return EditCosts(None, None, 0)
    return EditCosts(
        dollars=sum(float(row["dollars"]) for row in calls) / edits,
        seconds=sum(float(row["seconds"]) for row in fresh) / len(fresh),
        unsettled=sum(not row["settled"] for row in calls),
    )


def entries_of(loaded: LoadedBundle) -> list[LeaderboardEntry]:
    """Every editor of a bundle."""
    return [LeaderboardEntry(name, loaded) for name in loaded.bundle.manifest.editors]


def labelled(entries: Iterable[LeaderboardEntry]) -> list[LeaderboardEntry]:
    """The entries with labels: the name, and the submitter where two entries have one name."""
    listed = list(entries)
    names = [plain_line(one.name)[:LONGEST_NAME] for one in listed]
    found: list[LeaderboardEntry] = []
    taken: set[str] = set()
    for one, name in zip(listed, names, strict=True):
        label = name
        if names.count(name) > 1:
            by = one.loaded.submitter if one.loaded.submitter != ANONYMOUS else one.loaded.checked.key or "unsigned"
            label = f"{name} ({by})"
        if label in taken:
            label = f"{label} {one.identity[:6]}"
        taken.add(label)
        found.append(LeaderboardEntry(one.name, one.loaded, label))
    return found


def current(entries: Iterable[LeaderboardEntry]) -> tuple[list[LeaderboardEntry], list[LeaderboardEntry]]:
    """The newest entry of every model and owner, and the older ones; both by name, the newest first."""
    order = sorted(entries, key=lambda one: (one.loaded.finished, one.loaded.checked.head, one.name), reverse=True)
    newest: dict[tuple[str, str], LeaderboardEntry] = {}
    older = []
    for one in order:
        if newest.setdefault(one.owner, one) is not one:
            older.append(one)
    return sorted(newest.values(), key=_by_name), sorted(older, key=_by_name)


def _by_name(entry: LeaderboardEntry) -> tuple[str, str, str]:
    return entry.name, entry.owner[1], entry.identity


def frames_of(entry: LeaderboardEntry, cases: dict[str, str], rounds: int) -> tuple[pl.DataFrame, pl.DataFrame]:
    """(measurements, chains) of an entry under its label: these cases under the board's ids, up to these rounds."""
    context = entry.loaded.context
    own = (pl.col("editor") == entry.name) & pl.col("case").is_in(list(cases))
    sources = {case: name.rsplit("/", 2)[0] for case, name in cases.items()}
    renamed = (
        pl.lit(entry.label).alias("editor"),
        pl.col("case").replace_strict(sources, return_dtype=pl.String).alias("source"),
        pl.col("case").replace_strict(cases, return_dtype=pl.String),
    )
    measured = context.measurements.filter(own & (pl.col("round") <= rounds)).with_columns(renamed)
    chains = context.chains.filter(own).with_columns(
        *renamed, pl.min_horizontal("rounds", pl.lit(rounds)), pl.min_horizontal("planned", pl.lit(rounds))
    )
    # a chain that ended after the last round of the board ended well
    ended = (pl.col("rounds") >= rounds) & pl.col("status").is_in(["refused", "failed", "ended"])
    chains = chains.with_columns(pl.when(ended).then(pl.lit("finished")).otherwise("status").alias("status"))
    return measured, chains
