"""Claims against tables: the papers' own, and those of every run that is named."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from convergebench.claims.claim import Claim, addresses
from convergebench.claims.kinds import check_test
from convergebench.claims.outcome import VERDICTS, Outcome, Verdict
from convergebench.claims.read import ClaimFile
from convergebench.claims.tables import PAPERS, Tables, check_run
from convergebench.errors import StudyError


@dataclass(frozen=True)
class Result:
    """One claim on one set of tables. `run` is None for the paper's own."""

    file: str
    paper: str
    claim: Claim
    run: Path | None
    outcome: Outcome

    @property
    def verdict(self) -> Verdict:
        """In words."""
        return self.outcome.verdict


@dataclass(frozen=True)
class Checked:
    """Every answer, and the claims that wait for a run."""

    results: tuple[Result, ...]
    waiting: tuple[tuple[str, Claim], ...]
    """(name of the file, claim)"""
    untouched: tuple[Path, ...] = ()
    """Runs without any table that these claims are about."""

    def counts(self) -> dict[Verdict, int]:
        """How many answers there are of each sort."""
        return counts_of(self.results)


def counts_of(results: Iterable[Result]) -> dict[Verdict, int]:
    """How many of these answers there are of each sort."""
    found = Counter(result.verdict for result in results)
    return {verdict: found[verdict] for verdict in VERDICTS}


def check(files: Sequence[ClaimFile], runs: Sequence[Path] = (), *, papers: Path = PAPERS) -> Checked:
    """Every claim: on the paper's tables if it is about those, and on each run that has the tables it is about."""
    for run in runs:
        check_run(run)
    results: list[Result] = []
    waiting: list[tuple[str, Claim]] = []
    for file in files:
        shelves = [(run, Tables(papers=papers, beside=file.path.parent, run=run)) for run in runs]
        fixed = Tables(papers=papers, beside=file.path.parent)
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
    return Checked(tuple(results), tuple(waiting), tuple(run for run in runs if run not in touched))


def _result(file: ClaimFile, claim: Claim, run: Path | None, tables: Tables) -> Result:
    try:
        return Result(file.name, file.paper, claim, run, check_test(claim.test, tables))
    except StudyError as error:
        raise StudyError(f"{file.path}: claim {claim.id}: {error}") from error
