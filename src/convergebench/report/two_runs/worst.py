"""The cases that lost most from one run to the other, with the pictures of both."""

from __future__ import annotations

from typing import NamedTuple

from convergebench.report.input import Row
from convergebench.report.two_runs.input import ComparedRun, TwoRunsInput

MOST = 5


class WorstPicture(NamedTuple):
    """A picture of one run: the round that it ends, and its file inside the run."""

    round: int
    file: str


class WorstCase(NamedTuple):
    """A case whose score fell."""

    row: Row
    source: WorstPicture | None
    first: WorstPicture | None
    second: WorstPicture | None


def worst_cases(given: TwoRunsInput, most: int = MOST) -> list[WorstCase]:
    """Those with the largest loss, the worst first; fewer, or none, if fewer got worse."""
    rows = [row for row in given.change.cases.head(most).to_dicts() if row["change"] < -1e-9]
    return [
        WorstCase(
            row,
            _source(given.first, row),
            _last(given.first, row["editor_first"], row["case_first"], row["rounds"]),
            _last(given.second, row["editor_second"], row["case_second"], row["rounds"]),
        )
        for row in rows
    ]


def _source(run: ComparedRun, row: Row) -> WorstPicture | None:
    file = run.picture(row["editor_first"], row["case_first"], 0)
    return WorstPicture(0, file) if file else None


def _last(run: ComparedRun, editor: str, case: str, rounds: int) -> WorstPicture | None:
    found = run.last_picture(editor, case, rounds)
    return WorstPicture(*found) if found else None
