"""Checks claims against the papers' own tables and those of the given runs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from convergebench.claims.claim import Claim, addresses
from convergebench.claims.kinds import check_test
from convergebench.claims.outcome import VERDICTS, ClaimVerdict, TestOutcome
from convergebench.claims.read import ClaimFile
from convergebench.claims.tables import PAPERS, ClaimTables, check_run
from convergebench.errors import StudyError


@dataclass(frozen=True)
class ClaimResult:
    """One claim on one set of tables. `run` is None for the paper's own."""

    file: str
    paper: str
    claim: Claim
    run: Path | None
    outcome: TestOutcome

    @property
    def verdict(self) -> ClaimVerdict:
        """The verdict in words."""
        return self.outcome.verdict


@dataclass(frozen=True)
class ClaimResults:
    """All results, and the claims that need a run."""

    results: tuple[ClaimResult, ...]
    waiting: tuple[tuple[str, Claim], ...]
    """(name of the file, claim)"""
    unused_runs: tuple[Path, ...] = ()
    """Runs that have none of the claims' tables."""

    def counts(self) -> dict[ClaimVerdict, int]:
        """Number of results with each verdict."""
        return counts_of(self.results)


def counts_of(results: Iterable[ClaimResult]) -> dict[ClaimVerdict, int]:
    """Number of these results with each verdict."""
    found = Counter(result.verdict for result in results)
    return {verdict: found[verdict] for verdict in VERDICTS}


def check(files: Sequence[ClaimFile], runs: Sequence[Path] = (), *, papers: Path = PAPERS) -> ClaimResults:
    """Check every claim on the paper's tables, where it uses those, and on each run that has its tables."""
    for run in runs:
        check_run(run)
    results: list[ClaimResult] = []
    waiting: list[tuple[str, Claim]] = []
    for file in files:
        shelves = [(run, ClaimTables(papers=papers, claim_folder=file.path.parent, run=run)) for run in runs]
        fixed = ClaimTables(papers=papers, claim_folder=file.path.parent)
        for claim in file.claims:
            named = set(addresses(claim.test))
            of_runs = any(address.startswith(("run:", "audit:")) for address in named)
            if not of_runs:
                results.append(_result(file, claim, None, fixed))
            elif not runs:
                waiting.append((file.name, claim))
            results += [
                _result(file, claim, run, shelf)
                for run, shelf in shelves
                if of_runs or any(shelf.in_run(address) for address in named)
            ]
    touched = {result.run for result in results}
    return ClaimResults(tuple(results), tuple(waiting), tuple(run for run in runs if run not in touched))


def _result(file: ClaimFile, claim: Claim, run: Path | None, tables: ClaimTables) -> ClaimResult:
    try:
        return ClaimResult(file.name, file.paper, claim, run, check_test(claim.test, tables))
    except StudyError as error:
        raise StudyError(f"{file.path}: claim {claim.id}: {error}") from error
