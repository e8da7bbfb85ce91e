"""Small tables and claim files, and the papers' tables with one cell changed."""

from __future__ import annotations

import csv
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from convergebench.claims.check import ClaimResults, check
from convergebench.claims.claim import Claim
from convergebench.claims.kinds import check_test
from convergebench.claims.outcome import TestOutcome
from convergebench.claims.read import SHIPPED, ClaimFile, find, read_claims
from convergebench.claims.tables import PAPERS, ClaimTables
from convergebench.documents import check_document

SCORES = """editor,score,low,high,lpips,round,ok
one,10,9,11,0.3,1,true
two,12,11.5,12.5,0.2,2,true
three,11,10,11.8,,3,false
"""


def table(folder: Path, name: str, text: str) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{name}.csv"
    path.write_text(text, encoding="utf-8")
    return path


def outcome(folder: Path, test: Mapping[str, Any], text: str = SCORES) -> TestOutcome:
    """One test on a folder of a run with one table, `scores`."""
    table(folder, "scores", text)
    claim = check_document({"id": "X", "where": "", "sentence": "s", "test": test}, Claim, where="here")
    return check_test(claim.test, ClaimTables(run=folder))


def verdict(folder: Path, test: Mapping[str, Any], text: str = SCORES) -> str:
    return outcome(folder, {"table": "run:scores", **test}, text).verdict


@cache
def shipped_files() -> tuple[ClaimFile, ...]:
    return tuple(read_claims(find(name)) for name in SHIPPED)


def changed(folder: Path, name: str, row: Mapping[str, str], column: str, value: str, papers: Path = PAPERS) -> Path:
    """The papers' tables in `folder`, with one cell changed."""
    folder.mkdir()
    for path in papers.glob("*.csv"):
        (folder / path.name).write_bytes(path.read_bytes())
    with (folder / f"{name}.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    (found,) = [one for one in rows if all(one[key] == wanted for key, wanted in row.items())]
    assert found[column] != value
    found[column] = value
    with (folder / f"{name}.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    return folder


def on(papers: Path, identity: str) -> str:
    """What becomes of one shipped claim on other tables."""
    (test,) = [claim.test for file in shipped_files() for claim in file.claims if claim.id == identity]
    return check_test(test, ClaimTables(papers=papers)).verdict


def own_file(folder: Path, text: str, name: str = "mine.toml") -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def checked(path: Path, *runs: Path) -> ClaimResults:
    return check([read_claims(path)], runs)
