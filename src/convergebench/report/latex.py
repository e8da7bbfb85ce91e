r"""Tables for a paper: booktabs, nothing else. Columns have fixed decimals, so right alignment aligns the points.

Put `\usepackage{booktabs}` in the preamble and `\input{ranking.tex}` where the table goes.
"""

from __future__ import annotations

from pathlib import Path

from convergebench.analysis.counts import ranking_counts
from convergebench.analysis.sequential.result import UntilAnalysis
from convergebench.analysis.sequential.wording import METHODS
from convergebench.report.booktabs import escape as escape
from convergebench.report.booktabs import table
from convergebench.report.input import ReportInput, rows
from convergebench.report.output import write_whole
from convergebench.report.restoration_latex import restoration_latex
from convergebench.report.wording import group_name, interval, number, p_value, percent, rounds_interval


def write_latex(given: ReportInput, out_dir: Path) -> list[Path]:
    """Write ranking.tex, half_life.tex, pairwise.tex and breakdown.tex, also without rows; and those of restoration."""
    out_dir.mkdir(parents=True, exist_ok=True)
    made = {
        "ranking": ranking_latex(given),
        "half_life": half_life_latex(given),
        "pairwise": pairwise_latex(given),
        "breakdown": breakdown_latex(given),
        **restoration_latex(given),
    }
    for name, content in made.items():
        write_whole(out_dir / f"{name}.tex", content)
    return [out_dir / f"{name}.tex" for name in made]


def ranking_latex(given: ReportInput) -> str:
    """Score with interval, its parts, half-life and verdict."""
    ranked = given.ranked
    body = [
        [
            str(row["rank"] or "–"),
            given.marked(row["editor"]),
            number(row["score"], 1),
            interval(row["low"], row["high"], 1),
            *(percent(row[name]) for name in ("done", "undone", "usable_share")),
            *(number(row[name]) for name in ("quality", "semantic")),
            row["half_life"] or "–",
            row["verdict"] or "unknown",
        ]
        for row in ranked
    ]
    counts = ranking_counts(given.analysis.ranking)
    caption = (
        f"Ranking by convergence score ({given.analysis.formula}). Half-life of {given.headline_metric} at "
        f"{given.analysis.settings.level}, in {given.unit.many}. n = {counts.cases} cases; "
        f"{counts.left_out} chains left out, {counts.missing} values missing, {counts.lost} lost. Intervals are over "
        "images, for these edits; – marks references without a rank."
    )
    band = f"{given.analysis.settings.confidence:.0%}"
    head = ["#", "editor", "C ↑", band, "done ↑", "undone ↑", "usable ↑", "Q ↑", "S ↑", "half-life ↑", "verdict"]
    return table("ranking", "rlrlrrrrrrl", head, body, caption)


def half_life_latex(given: ReportInput) -> str:
    """Half-lives of every metric and level over all cases."""
    found = rows(given.analysis.half_life, group="all")
    body = [
        [
            row["editor"],
            row["metric"],
            row["level"] or "–",
            row["text"] or "–",
            rounds_interval(row["low"], row["high"]),
            number(row["restricted_mean"], 1),
            str(row["n_events"]),
            str(row["n_censored"]),
        ]
        for row in found
    ]
    cases = max((row["n_cases"] for row in found), default=0)
    missing = max((row.get("n_missing") or 0 for row in found), default=0)
    caption = (
        f"Half-lives in {given.unit.many}: Kaplan–Meier medians with intervals, > N where not reached, and restricted "
        f"means. n = {cases} cases at most, {missing} missing."
    )
    head = ["editor", "metric", "level", "median ↑", "interval", "mean ↑", "passed", "censored"]
    return table("half_life", "lllrlrrr", head, body, caption)


def pairwise_latex(given: ReportInput) -> str:
    """Differences in score with Holm's correction."""
    found = rows(given.analysis.pairwise)
    body = [
        [
            row["better"],
            row["worse"],
            number(row["difference"], 1),
            interval(row["low"], row["high"], 1),
            p_value(row["p"]),
            p_value(row["p_holm"]),
            "yes" if row["significant"] else "no",
        ]
        for row in found
    ]
    cases, sources = (max((row[key] or 0 for row in found), default=0) for key in ("n_cases", "n_sources"))
    until = given.result(UntilAnalysis)
    how = "sign-flip permutation over source images, Holm over all pairs"
    if until is not None:
        how = f"run until decided; intervals and p hold at any time ({METHODS[until.decision.question.method]})"
    caption = (
        f"Paired differences in convergence score; {how}. "
        f"n = {cases} cases of {sources} sources, 0 missing: only common cases are compared."
    )
    head = ["better", "worse", "difference", "interval", "p", "p (Holm)", "significant"]
    return table("pairwise", "llrlrrl", head, body, caption)


def breakdown_latex(given: ReportInput) -> str:
    """AUC of the headline metric by category and kind."""
    found = rows(given.analysis.auc, metric=given.headline_metric)
    groups = [group for group in dict.fromkeys(row["group"] for row in found) if group_name(group)[0] != "pair"]
    cells = {(row["editor"], row["group"]): row["auc"] for row in found}
    editors = dict.fromkeys(row["editor"] for row in found)
    body = [[editor, *(number(cells.get((editor, group))) for group in groups)] for editor in editors]
    every = [row for row in found if row["group"] == "all"]
    cases, missing = max((row["n_cases"] for row in every), default=0), sum(row["n_missing"] or 0 for row in every)
    caption = (
        f"Area under the {given.headline_metric} curve by edit category and kind of image (1 is a perfect editor). "
        f"n = {cases} cases per editor, {missing} missing."
    )
    head = ["editor", *(group_name(group)[1] for group in groups)]
    return table("breakdown", "l" + "r" * max(1, len(groups)), head if groups else ["editor", "AUC"], body, caption)
