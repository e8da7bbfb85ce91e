"""Badges for model cards."""

from __future__ import annotations

from importlib.metadata import version
from pathlib import Path
from typing import NamedTuple

import polars as pl

from convergebench.conductor.analyse import analyse_run
from convergebench.errors import StudyError
from convergebench.leaderboard.badge import badge_markdown, badge_svg, make_badge
from convergebench.registry import suggest
from convergebench.report.output import write_whole
from convergebench.store.run import require_run

KINDS = ("score", "half-life")


class WrittenBadge(NamedTuple):
    """A badge that was written."""

    path: Path
    title: str
    markdown: str


def badge(run: Path, *, editor: str | None = None, of: str = "score", into: Path | None = None) -> WrittenBadge:
    """Write the badge of one editor of a run."""
    if of not in KINDS:
        raise StudyError(f"--of {of}: use score or half-life")
    analysed = analyse_run(require_run(run))
    analysis, unit = analysed.comparison, analysed.context.unit
    names = analysis.ranking["editor"].to_list()
    if not names:
        raise StudyError(f"{run} ranks no editor yet, so there is nothing to put on a badge; measure it first")
    if editor is None and len(names) > 1:
        raise StudyError(f"{run} has {len(names)} editors; choose one with --editor (it has: {', '.join(names)})")
    if editor is not None and editor not in names:
        raise StudyError(f"{run} has no editor '{editor}'{suggest(editor, names)} (it has: {', '.join(names)})")
    row = analysis.ranking.filter(pl.col("editor") == (editor or names[0])).row(0, named=True)
    if row["score" if of == "score" else "half_life"] is None:
        raise StudyError(f"{row['editor']} has no {of} in {run}; measure it first: cbench measure {run}")
    open_chains = int(analysed.context.chains["status"].is_in(["open", "stopped"]).sum())
    if open_chains:
        raise StudyError(f"{open_chains} chains of {run} are not finished; run its study to the end first")
    made = make_badge(
        row,
        of=of,
        study=analysed.manifest.study,
        version=version("convergebench"),
        unit=unit.heads,
        confidence=analysis.settings.confidence,
    )
    target = into or Path("badge.svg")
    if target.is_dir() or target.suffix.lower() != ".svg":
        raise StudyError(f"--into {target}: a badge is an SVG file; name it e.g. badge.svg")
    target.parent.mkdir(parents=True, exist_ok=True)
    write_whole(target, badge_svg(made))
    return WrittenBadge(target, made.title, badge_markdown(made, target.name))
