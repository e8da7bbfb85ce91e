"""Half-lives and verdicts of a run as two tables: python -m benchmarks.lives RUN [--into PAGE]

The marks are those of the run's folder, with `-lives` after its name. Levels are the metrics' own (`noticeable`).
"""

from __future__ import annotations

import argparse
from pathlib import Path

from benchmarks.marks import put_into
from convergebench.conductor.analyse import report_input
from convergebench.report.input import ReportInput, rows
from convergebench.report.wording import percents, rounds_interval

METRICS = ("ssim", "lpips")


def text_of(given: ReportInput) -> str:
    """Half-lives at the noticeable level, then the shares of verdicts."""
    lines = ["| editor | metric | level | half-life | passed | chains |", f"|{' --- |' * 6}"]
    for row in rows(given.analysis.half_life, group="all", level="noticeable"):
        if row["metric"] in METRICS:
            band = rounds_interval(row["low"], row["high"])
            life = row["text"] + (f" ({band})" if band else "")
            cells = (row["editor"], row["metric"], f"{row['threshold']:g}", life, row["n_events"], row["n_cases"])
            lines.append(f"| {' | '.join(map(str, cells))} |")
    lines += ["", "| editor | verdict | chains | share |", f"|{' --- |' * 4}"]
    for row in rows(given.analysis.verdicts):
        total = sum(other["chains"] for other in rows(given.analysis.verdicts, editor=row["editor"]))
        share = f"{100 * row['share']:.0f} %" + (f" ({band})" if (band := percents(row["low"], row["high"])) else "")
        lines.append(f"| {row['editor']} | {row['verdict']} | {row['chains']}/{total} | {share} |")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("run", type=Path)
    parser.add_argument("--into", type=Path, help="the page whose tables are replaced")
    asked = parser.parse_args()
    found = text_of(report_input(asked.run))
    if asked.into:
        put_into(asked.into, f"{asked.run.name}-lives", found)
    print(found)


if __name__ == "__main__":
    main()
