"""A short summary of a run of copies, per editor: onset, noticing, and the most frequent failures."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass

from convergebench.report.hero import PLAIN
from convergebench.report.input import ReportInput, Row, rows
from convergebench.report.sections.noticing import median_text
from convergebench.report.variant import POOLED, first_variant
from convergebench.report.wording import percent


@dataclass(frozen=True, slots=True)
class EditorDecay:
    """One editor: when its copies break, when it notices, how they fail most often."""

    editor: str
    onset: str
    noticed: str
    delay: str
    failures: str


@dataclass(frozen=True, slots=True)
class DecaySummary:
    """The lines for a terminal; `asked`: a reader judged the editors' summaries, so there are notices."""

    lines: list[EditorDecay]
    asked: bool
    note: str


def decay_summary(given: ReportInput) -> DecaySummary | None:
    """Onsets of the plain copy (or the first variant), and failures over all variants; None without decay results."""
    found = given.decay
    if found is None:
        return None
    metric = given.onset_metric
    pair = first_variant(found.onset_summary, PLAIN) or first_variant(found.noticing_summary, PLAIN)
    broken = {row["editor"]: row for row in rows(found.onset_summary, metric=metric, pair=pair)}
    notices = {row["editor"]: row for row in rows(found.noticing_summary, pair=pair, source=POOLED)}
    pooled = first_variant(found.failures, POOLED, PLAIN)
    worst: dict[str, list[Row]] = defaultdict(list)
    for row in rows(found.failures, pair=pooled):
        if row["seen"]:
            worst[row["editor"]].append(row)
    lines = [
        EditorDecay(
            editor,
            _short(median_text(broken.get(editor), "")),
            _short(median_text(notices.get(editor), "")),
            _short(median_text(notices.get(editor), "delay_")),
            _commonest(worst[editor]) if pooled else "not examined",
        )
        for editor in given.editors
        if editor in broken or editor in notices or editor in worst
    ]
    over = "over all variants" if pooled == POOLED else f"under {pooled}" if pooled else "not examined"
    note = f"Onset by {metric} under {pair}, Kaplan–Meier median (interval). Failures: share of chains, {over}."
    return DecaySummary(lines, bool(notices), note if pair else f"Failures: share of chains, {over}.")


def _short(median: tuple[str, str]) -> str:
    """`7 (5–9)`, `> 20`."""
    text, ends = median
    return f"{text} ({ends})" if ends and not text.startswith(">") else text


def _commonest(found: list[Row]) -> str:
    """`Colour cast 80 %, Static noise 40 %`: the three most frequent."""
    order = sorted(found, key=lambda row: (-(row["share"] or 0.0), row["mode"]))[:3]
    return ", ".join(f"{row['title'] or row['mode']} {percent(row['share'])}" for row in order) or "none seen"
