"""Boards: entries that can be compared. A board fixes the cases, edits, rounds, alignment and metric versions.

A bundle belongs to a board if it has all of its cases with the same images and words. One that left cases out is not
compared, since fewer cases would change the ranking of everybody else. The board of a study and a suite is the one that
most submitters have; a maintainer can pin another one in `board.toml`.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from convergebench.ids import content_hash
from convergebench.leaderboard.bundle import ResultBundle
from convergebench.leaderboard.describing import suite_name
from convergebench.leaderboard.entries import LeaderboardEntry, LoadedBundle, current, entries_of, labelled
from convergebench.leaderboard.settings import BoardPin, BoardSettings
from convergebench.studies.analysis_settings import AnalysisSettings

CaseKey = tuple[str, str, int]
"""Image, hash of the words of the edit, replicate."""


@dataclass(frozen=True)
class BoardRules:
    """What bundles must have in common to be compared."""

    study: str
    suite: str
    cases: dict[CaseKey, str]
    """→ id of the case."""
    rounds: int
    align: str
    order: str
    metrics: dict[str, str]
    """Metric of the score, of adherence or of half-lives → fingerprint."""

    @property
    def hash(self) -> str:
        """Equal for bundles with equal rules."""
        cases = sorted([*key, name] for key, name in self.cases.items())
        return content_hash(
            [self.study, self.suite, cases, self.rounds, self.align, self.order, sorted(self.metrics.items())]
        )


def rules_of(bundle: ResultBundle) -> BoardRules:
    """The rules that a bundle would make."""
    manifest = bundle.manifest
    return BoardRules(
        study=manifest.study,
        suite=suite_name(manifest),
        cases={case_key(row, manifest.pairs): row["id"] for row in bundle.tables["cases"]},
        rounds=int(bundle.about["rounds"]),
        align=manifest.align,
        order=str(manifest.fixed.get("order", "")),
        metrics={name: manifest.metrics[name] for name in counted_metrics() if name in manifest.metrics},
    )


def counted_metrics() -> list[str]:
    """The metrics on which a ranking rests."""
    settings = AnalysisSettings()
    return list(
        dict.fromkeys(
            [*settings.quality, str(settings.semantic), *settings.adherence, settings.headline, settings.distance]
        )
    )


def case_key(row: dict[str, Any], pairs: dict[str, dict[str, Any]]) -> CaseKey:
    """What makes a case the same in two bundles, whatever it is called."""
    words = [pairs.get(part, {}) for part in (row["pair"], *row["pair"].split("+"))]
    texts = [[one.get("forward"), one.get("backward"), one.get("category")] if one else [] for one in words]
    return str(row["image"]), content_hash([texts, row["pair"]]), int(row["replicate"])


def not_comparable(rules: BoardRules, board: BoardRules) -> str:
    """Why a bundle with these rules is not compared on a board; empty if it is."""
    lacking = sorted(name for key, name in board.cases.items() if key not in rules.cases)
    if lacking:
        same_name = set(rules.cases.values())
        changed = [name for name in lacking if name in same_name]
        if changed:
            return f"{len(changed)} cases have another image or other words than on the board (first: {changed[0]})"
        return f"lacks {len(lacking)} of the {len(board.cases)} cases of the board (first: {lacking[0]})"
    if rules.rounds < board.rounds:
        return f"has {rules.rounds} rounds, the board {board.rounds}"
    if rules.align != board.align:
        return f"was measured under the alignment {rules.align}, the board under {board.align}"
    if rules.order != board.order:
        return f"makes its edits in the order {rules.order or 'not stated'}, the board {board.order or 'not stated'}"
    for name, identity in board.metrics.items():
        if name not in rules.metrics:
            return f"was not measured by {name}, which the board counts"
        if rules.metrics[name] != identity:
            return f"was measured by {rules.metrics[name]}, the board by {identity}"
    return ""


@dataclass(frozen=True)
class Board:
    """One ranking: its rules, the entries that are compared, and those that are not."""

    rules: BoardRules
    entries: list[LeaderboardEntry]
    """The newest of every model and owner, with labels."""
    older: list[LeaderboardEntry]
    left_out: list[tuple[LoadedBundle, str]]
    """Bundles of the same study and suite that cannot be compared, with the reason."""
    pinned: bool = False
    cases_of: dict[str, dict[str, str]] = field(default_factory=dict)
    """SHA-256 of a bundle → its case ids → those of the board."""

    @property
    def models(self) -> list[LeaderboardEntry]:
        """Entries that are not simulated."""
        return [one for one in self.entries if not one.simulated]

    @property
    def simulated(self) -> list[LeaderboardEntry]:
        """Programmed baselines, which have a table of their own."""
        return [one for one in self.entries if one.simulated]


def make_boards(bundles: Iterable[LoadedBundle], settings: BoardSettings) -> list[Board]:
    """A board for every study and suite; the one with most models first."""
    places: dict[tuple[str, str], list[LoadedBundle]] = defaultdict(list)
    for one in _without_copies(bundles):
        places[one.place].append(one)
    boards = [_board(found, settings.pin(*place)) for place, found in sorted(places.items())]
    return sorted(boards, key=lambda one: (-len(one.models), -len(one.entries), one.rules.study, one.rules.suite))


def _without_copies(bundles: Iterable[LoadedBundle]) -> list[LoadedBundle]:
    """Each chain of rows once, in an order that file names do not change."""
    order = sorted(bundles, key=lambda one: (one.finished, one.checked.head, not one.checked.key, one.bundle.sha256))
    return list({one.checked.head: one for one in reversed(order)}.values())[::-1]


def _board(bundles: list[LoadedBundle], pin: BoardPin | None) -> Board:
    own = [(one, rules_of(one.bundle)) for one in bundles]
    meeting = [(one, rules) for one, rules in own if pin is None or rules.hash == pin.rules]
    if pin is not None and not meeting:
        reason = f"board.toml pins the rules {pin.rules}, which no bundle has"
        return Board(_chosen(own), [], [], [(one, reason) for one, _ in own])
    rules = _chosen(meeting)
    compared, left_out = [], []
    for one, mine in own:
        reason = not_comparable(mine, rules)
        if reason:
            left_out.append((one, reason))
        else:
            compared.append(one)
    newest, older = current(entry for one in compared for entry in entries_of(one))
    cases = {
        one.bundle.sha256: {mine.cases[key]: name for key, name in rules.cases.items()}
        for one, mine in own
        if one in compared
    }
    return Board(rules, labelled(newest), older, left_out, pin is not None, cases)


def _chosen(own: list[tuple[LoadedBundle, BoardRules]]) -> BoardRules:
    """The rules of most submitters; of several, those with most cases and rounds."""
    owners: dict[str, set[str]] = defaultdict(set)
    known: dict[str, BoardRules] = {}
    for one, rules in own:
        owners[rules.hash].add(one.checked.key or f"unsigned {one.submitter}")
        known[rules.hash] = rules
    best = min(known, key=lambda name: (-len(owners[name]), -len(known[name].cases), -known[name].rounds, name))
    return known[best]
