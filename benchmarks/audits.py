"""The tables of an audit for the results page.

    cbench audit runs/audit-large
    python -m benchmarks.audits runs/audit-large/audit --into docs/results/audit.md

Reads the folder that `cbench audit` writes. With `--into`, findings and tables replace what stands between the page's
marks for that run. Nothing is run and nothing is measured.
"""

from __future__ import annotations

import argparse
import csv
import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks.marks import put_into

Row = Mapping[str, Any]
FILTER = 25
"""Percentile of untouched images at which the filter is set."""
HEAD = (
    *("metric", "verdict", "chains that fail", "gaps that fail", "mean gap", "damage over content", "pass a filter"),
    "rank with step",
)


def of_metric(rows: Sequence[Row], metric: str, **where: object) -> Row | None:
    """The row of this metric that has these values, the latest step first; None if there is none."""
    own = [
        row for row in rows if row["metric"] == metric and all(row[column] == value for column, value in where.items())
    ]
    return max(own, key=lambda row: row.get("at") or 0, default=None)


def number(value: float | None, places: int = 1, *, sign: bool = False) -> str:
    """With a true minus sign; a dash where there is none."""
    return "–" if value is None else f"{value:{'+' if sign else ''}.{places}f}".replace("-", "−")


def between(row: Row, *, places: int = 1, times: float = 1.0, unit: str = "") -> str:
    """The interval of a row in brackets; nothing where it has none."""
    if row["low"] is None or row["high"] is None:
        return ""
    low, high = (number(times * row[end], places) for end in ("low", "high"))
    return f" ({low}–{high}{unit})"


def failed_gaps(folder: Path) -> dict[str, str]:
    """Metric → gaps that fail, of those that are known."""
    counts: dict[str, list[int]] = {}
    with (folder / "tables" / "gaps.csv").open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            if row["failed"]:
                known = counts.setdefault(row["metric"], [0, 0])
                known[0] += row["failed"] == "true"
                known[1] += 1
    return {metric: f"{failed}/{known}" for metric, (failed, known) in counts.items()}


def summary(found: Mapping[str, Sequence[Row]], gaps: Mapping[str, str]) -> list[list[str]]:
    """One row a metric."""
    lines = [list(HEAD)]
    for row in found["metrics"]:
        if row["status"] != "audited":
            continue
        name = row["metric"]
        confound = of_metric(found["confound"], name)
        passed = of_metric(found["filter_risk"], name, percentile=FILTER, editor="all")
        rank = of_metric(found["ranks"], name, editor="all", against="step")
        lines.append(
            [
                f"`{name}`",
                row["verdict"],
                f"{row['n_failed']}/{row['n_cells']}{between(row, places=0, times=100, unit=' %')}",
                gaps.get(name, "–"),
                number(None if confound is None else confound["mean_gap"], sign=True),
                "–" if confound is None else number(confound["ratio"], 2) + between(confound),
                "–"
                if passed is None or passed["share"] is None
                else f"{100 * passed['share']:.0f} %{between(passed, places=0, times=100, unit=' %')}",
                number(None if rank is None else rank["rho"], 2, sign=True),
            ]
        )
    return lines


def by_editor(found: Mapping[str, Sequence[Row]]) -> list[list[str]]:
    """Failures of each metric under each editor."""
    metrics = [row["metric"] for row in found["metrics"] if row["status"] == "audited"]
    editors = sorted({row["editor"] for row in found["failures"]} - {"all"})
    cells = {(row["editor"], row["metric"]): f"{row['n_failed']}/{row['n_cells']}" for row in found["failures"]}
    return [
        ["editor", *(f"`{metric}`" for metric in metrics)],
        *([f"`{editor}`", *(cells.get((editor, metric), "–") for metric in metrics)] for editor in editors),
    ]


def table(lines: Sequence[Sequence[str]]) -> str:
    """Markdown."""
    head, *body = lines
    return "\n".join("| " + " | ".join(cells) + " |" for cells in [head, ["---"] * len(head), *body])


def text_of(folder: Path) -> str:
    """Findings and both tables of an audit."""
    if not (folder / "audit.json").is_file():
        raise SystemExit(f"{folder} holds no audit; type: cbench audit RUN, and give RUN/audit")
    found = json.loads((folder / "audit.json").read_text(encoding="utf-8"))
    said = found["finding"]
    findings = "\n".join(f"- {sentence}" for sentence in ([said] if isinstance(said, str) else said))
    return "\n\n".join([findings, table(summary(found, failed_gaps(folder))), table(by_editor(found))])


def main() -> None:
    """Print, or put into the page."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("audit", type=Path, help="the folder of an audit, RUN/audit")
    parser.add_argument("--into", type=Path, help="a page to put the tables into")
    parser.add_argument("--name", default="", help="which marks of the page [default: the run's own name]")
    given = parser.parse_args()
    text = text_of(given.audit)
    if given.into is None:
        sys.stdout.write(text + "\n")
    else:
        put_into(given.into, given.name or given.audit.resolve().parent.name, text)


if __name__ == "__main__":
    main()
