"""The tables of a run for its bundle: those of the report, those of its study, and those of its audit."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import polars as pl

from convergebench.errors import StudyError
from convergebench.report.booktabs import table
from convergebench.report.input import ReportInput, rows
from convergebench.report.latex import breakdown_latex, half_life_latex, pairwise_latex, ranking_latex
from convergebench.report.restoration_latex import restoration_latex
from convergebench.report.tables import result_frames
from convergebench.report.wording import MISSING, number

TALL = 45
"""Rows from which a table runs over several pages."""
MOST_ROWS, MOST_COLUMNS = 60, 9
"""The largest frame of a third party's analysis that becomes a table."""
LARGEST_AUDIT = 50_000_000
"""Most bytes of an audit's file."""

CHOSEN: dict[str, tuple[str, tuple[str, ...], str]] = {
    "verdicts": (
        "verdicts", ("editor", "verdict", "chains", "share", "low", "high", "median_q", "n_sources"),
        "Whether chains settle: shares of verdicts with intervals over source images.",
    ),
    "onset_summary": (
        "onsets", ("editor", "pair", "metric", "text", "low", "high", "n_cases", "n_censored", "n_sources"),
        "Onset of decay in steps: Kaplan–Meier medians with intervals over source images.",
    ),
    "failures": (
        "failures", ("editor", "pair", "title", "chains", "seen", "share", "low", "high"),
        "Chains in which a failure was reported, of those examined.",
    ),
    "variants": (
        "variants", ("editor", "pair", "baseline", "metric", "step", "difference", "low", "high", "n_sources"),
        "Variants of the request compared with their baseline, paired by source image.",
    ),
    "funnel": ("funnel", ("editor", "track", "stage", "n", "share"), "From cases to accepted edits."),
    "success_by_type": (
        "success", ("editor", "turns", "group", "unit", "share", "low", "high", "n", "n_sources"),
        "Share of edits that were accepted, with intervals over source images.",
    ),
    "composition": ("composition", ("editor", "subset", "n", "share"), "Rows of each subset of the data set."),
}  # fmt: skip
"""Frame of a built-in analysis → name of its table, its columns, its caption."""


def run_tables(given: ReportInput) -> dict[str, str]:
    """Name → LaTeX of every table that has rows."""
    analysis = given.analysis
    found = {
        "ranking": ranking_latex(given) if analysis.ranking.height else "",
        "half_life": half_life_latex(given) if rows(analysis.half_life, group="all") else "",
        "pairwise": pairwise_latex(given) if analysis.pairwise.height else "",
        "breakdown": breakdown_latex(given) if rows(analysis.auc, metric=given.headline_metric) else "",
        **restoration_latex(given),
    }
    for name, result in given.results.items():
        for key, frame in result_frames(result).items():
            if key in CHOSEN and frame.height:
                title, columns, caption = CHOSEN[key]
                found[title] = frame_latex(title, frame.select([c for c in columns if c in frame.columns]), caption)
            elif not _ours(result) and 0 < frame.height <= MOST_ROWS and frame.width <= MOST_COLUMNS:
                found[key] = frame_latex(key, frame, f"{name}: {key.replace('_', ' ')}.")
    audit = audit_latex(given.run / "audit")
    return {name: text for name, text in {**found, "audit": audit}.items() if text}


def _ours(result: object) -> bool:
    return type(result).__module__.split(".")[0] == "convergebench"


def frame_latex(name: str, frame: pl.DataFrame, caption: str) -> str:
    """A frame as a table: numbers right, shares and means with three decimals."""
    columns = "".join("r" if kind.is_numeric() else "l" for kind in frame.dtypes)
    body = [[_text(value) for value in row] for row in frame.iter_rows()]
    return table(name, columns, [column.replace("_", " ") for column in frame.columns], body, caption)


def _text(value: Any) -> str:
    if value is None:
        return MISSING
    if isinstance(value, bool):
        return "yes" if value else "no"
    return number(value) if isinstance(value, float) else str(value)


def audit_latex(folder: Path) -> str:
    """The metrics of an audit: verdict and failing chains; empty if the run was not audited."""
    file = folder / "audit.json"
    if not file.is_file() or file.is_symlink():
        return ""
    if file.stat().st_size > LARGEST_AUDIT:
        raise StudyError(f"{file} is larger than {LARGEST_AUDIT // 1_000_000} MB; make it again: cbench audit")
    try:
        listed = json.loads(file.read_text(encoding="utf-8"))["metrics"]
        body = [_audited(row) for row in listed if row["status"] == "audited"]
    except (ValueError, KeyError, TypeError) as error:
        raise StudyError(f"{file} is not the file of an audit; make it again: cbench audit {folder.parent}") from error
    caption = "Metrics audited: chains on which a metric fails to notice the damage, with intervals over source images."
    return table("audit", "llrl", ["metric", "verdict", "chains that fail", "interval"], body, caption) if body else ""


def _audited(row: dict[str, Any]) -> list[str]:
    low, high = row["low"], row["high"]
    interval = "" if low is None or high is None else f"{100 * float(low):.0f}–{100 * float(high):.0f} %"
    return [str(row["metric"]), str(row["verdict"]), f"{int(row['n_failed'])}/{int(row['n_cells'])}", interval]


def placed(text: str, run: str) -> str:
    """A table with a label of its run, no wider than the line; a tall one runs over several pages."""
    text = text.replace(r"\label{tab:", rf"\label{{tab:{run}-", 1)
    lines = text.splitlines()
    if sum(line.endswith(r"\\") for line in lines) > TALL:
        return _long(lines)
    opened = next(place for place, line in enumerate(lines) if line.startswith(r"  \begin{tabular}"))
    closed = next(place for place, line in enumerate(lines) if line == r"  \end{tabular}")
    lines[opened] = r"  \begin{adjustbox}{max width=\linewidth}" + "\n" + lines[opened]
    lines[closed] += "\n" + r"  \end{adjustbox}"
    return "\n".join([*lines, ""])


def _long(lines: Sequence[str]) -> str:
    """The same table as a `longtable`."""
    caption, label = (next(line for line in lines if line.startswith(f"  \\{word}{{")) for word in ("caption", "label"))
    opened = next(place for place, line in enumerate(lines) if line.startswith(r"  \begin{tabular}"))
    closed = lines.index(r"  \end{tabular}")
    columns = lines[opened].removeprefix(r"  \begin{tabular}")
    top, head, rule, *body = lines[opened + 1 : closed - 1]
    return "\n".join(
        [
            r"\begingroup\scriptsize\setlength{\tabcolsep}{3pt}", rf"\begin{{longtable}}{columns}",
            f"{caption}{label.strip()} \\\\", top, head, rule, r"\endfirsthead", top, head, rule, r"\endhead", *body,
            r"    \bottomrule", r"\end{longtable}", r"\endgroup", "",
        ]
    )  # fmt: skip
