"""Writes results to files: JSON and CSV with all evidence, Markdown for reading."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from convergebench import sheets
from convergebench.claims.check import ClaimResult, ClaimResults, counts_of
from convergebench.claims.operand import Scalar
from convergebench.claims.outcome import ClaimEvidence, ClaimVerdict, joined
from convergebench.errors import StudyError

PIECES = 3
"""Most pieces of evidence in one line."""


def summary(counts: Mapping[ClaimVerdict, int]) -> str:
    """`15 hold, 5 do not, 0 cannot be told`."""
    holds, fails, unknown = counts["holds"], counts["does not hold"], counts["cannot be told"]
    verbs = "holds" if holds == 1 else "hold", "does" if fails == 1 else "do"
    return f"{holds} {verbs[0]}, {fails} {verbs[1]} not, {unknown} cannot be told"


def tables_of(result: ClaimResult) -> str:
    """The run that was checked, or `paper`."""
    return str(result.run) if result.run is not None else "paper"


def evidence_of(result: ClaimResult, pieces: int = PIECES) -> str:
    """The deciding evidence, in one line."""
    return joined(result.outcome.evidence, pieces, result.verdict)


def as_data(checked: ClaimResults) -> dict[str, Any]:
    """All results as JSON values."""
    return {
        "summary": _numbers(checked.results),
        "summary_by_tables": {tables: _numbers(results) for tables, results in by_tables(checked.results).items()},
        "claims": [
            {**_row(result), "evidence": [_evidence(one) for one in result.outcome.evidence]}
            for result in checked.results
        ],
        "waiting": [
            {"id": claim.id, "file": file, "where": claim.where, "sentence": claim.sentence, "reading": claim.reading}
            for file, claim in checked.waiting
        ],
        "runs_without_these_tables": [str(run) for run in checked.unused_runs],
    }


def _numbers(results: Iterable[ClaimResult]) -> dict[str, int]:
    return {verdict.replace(" ", "_"): number for verdict, number in counts_of(results).items()}


def as_json(checked: ClaimResults) -> str:
    """All results as JSON text."""
    return json.dumps(as_data(checked), ensure_ascii=False, indent=1, allow_nan=False) + "\n"


def as_csv(checked: ClaimResults) -> str:
    """All results as CSV, one row each."""
    columns = ["id", "paper", "file", "where", "sentence", "reading", "tables", "verdict", "evidence"]
    every = ("; ".join(one.text for one in result.outcome.evidence) for result in checked.results)
    rows = ({**_row(result), "evidence": text} for result, text in zip(checked.results, every, strict=True))
    return sheets.as_csv(columns, rows)


def as_markdown(checked: ClaimResults) -> str:
    """All results as Markdown: a table for the papers and one for each run."""
    parts = ["# Claims", ""]
    for tables, results in by_tables(checked.results).items():
        title = "On the tables of the papers" if tables == "paper" else f"On {tables}"
        parts += [f"## {title}", "", f"{summary(counts_of(results))}.", ""]
        parts += ["| claim | verdict | sentence | evidence |", "| --- | --- | --- | --- |"]
        for result in results:
            claim = result.claim
            read = f" *Tested: {claim.reading}.*" if claim.reading else ""
            cells = (claim.id, result.verdict, f"{claim.sentence}{read}", evidence_of(result))
            parts.append(f"| {' | '.join(_cell(cell) for cell in cells)} |")
        parts.append("")
    if checked.waiting:
        parts += ["## Waiting for a run", ""]
        parts += [f"- {claim.id} ({file}): {_cell(claim.sentence)}" for file, claim in checked.waiting]
        parts.append("")
    return "\n".join(parts).rstrip() + "\n"


FORMS: dict[str, Callable[[ClaimResults], str]] = {".json": as_json, ".csv": as_csv, ".md": as_markdown}
"""Writer by file suffix."""


def check_output_path(path: Path) -> None:
    """`StudyError` if the results could not be written there; called before the checks."""
    if path.suffix not in FORMS:
        raise StudyError(f"{path}: give --out a name that ends in {', '.join(FORMS)}")
    if path.is_dir():
        raise StudyError(f"--out {path} is a folder; name a file")
    if not path.parent.is_dir():
        raise StudyError(f"there is no folder {path.parent} for --out {path}")


def write(checked: ClaimResults, path: Path) -> None:
    """Write the results atomically: readers never see a partial file."""
    scratch = path.with_name(f".{path.name}.part")
    try:
        scratch.write_text(FORMS[path.suffix](checked), encoding="utf-8")
        scratch.replace(path)
    finally:
        scratch.unlink(missing_ok=True)


def by_tables(results: Sequence[ClaimResult]) -> dict[str, list[ClaimResult]]:
    """Results on the papers' own tables first, then those on each run."""
    found: dict[str, list[ClaimResult]] = {}
    for result in sorted(results, key=lambda one: one.run is not None):
        found.setdefault(tables_of(result), []).append(result)
    return found


def _row(result: ClaimResult) -> dict[str, str]:
    claim = result.claim
    return {
        **{"id": claim.id, "paper": result.paper, "file": result.file, "where": claim.where},
        **{"sentence": claim.sentence, "reading": claim.reading, "tables": tables_of(result)},
        "verdict": result.verdict,
    }


def _evidence(one: ClaimEvidence) -> dict[str, Any]:
    values = [{"of": label, "value": _finite(value)} for label, value in one.values]
    record = {"what": one.what, "holds": one.holds, "values": values, "text": one.text}
    return {**record, **({"claimed": one.claimed} if one.claimed else {})}


def _finite(value: Scalar) -> Scalar:
    """JSON has no infinity."""
    return str(value) if isinstance(value, float) and not math.isfinite(value) else value


def _cell(text: str) -> str:
    """One line for a table cell, without control characters."""
    line = " ".join(text.split()).replace("|", "\\|")
    return "".join(letter for letter in line if letter.isprintable())
