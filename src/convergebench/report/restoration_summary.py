"""Methods of a restoration run in a few numbers each, for the terminal."""

from __future__ import annotations

from typing import NamedTuple

from convergebench.analysis.restoration.result import INPUT, RestorationAnalysis
from convergebench.report.input import ReportInput, rows
from convergebench.report.wording import better, interval, number, percent

PREFERRED = ("lpips", "dists", "ssim")
"""The second metric with a reference: the first of these that was measured, else any."""


class MethodLine(NamedTuple):
    """One method and the texts of its cells."""

    editor: str
    cells: tuple[str, ...]


class RestorationSummary(NamedTuple):
    """A table of methods and the notes under it."""

    heads: tuple[str, ...]
    lines: tuple[MethodLine, ...]
    notes: tuple[str, ...]


def restoration_summary(given: ReportInput) -> RestorationSummary | None:
    """The input and every method: the first metric with its gain, two more metrics, the share delivered.

    None for another study and for a run without a result.
    """
    found = given.result(RestorationAnalysis)
    if found is None or not found.method_results.height or not found.metrics:
        return None
    first, *more = _columns(given, found)
    cells = {(row["editor"], row["metric"]): row for row in rows(found.method_results)}
    way = -1 if better(first, given.facts) == "↓" else 1
    editors = list(dict.fromkeys(editor for editor, _ in cells))

    def place(editor: str) -> tuple[bool, bool, float]:
        mean = cells.get((editor, first), {}).get("mean")
        return editor != INPUT, mean is None, 0.0 if mean is None else -way * mean

    lines = []
    for editor in sorted(editors, key=place):
        row = cells.get((editor, first), {})
        gain = row.get("gain")
        said = "" if editor == INPUT or gain is None else ("+" if gain > 0 else "") + number(gain, 2)
        ends = interval(row.get("gain_low"), row.get("gain_high"), 2)
        others = (number(cells.get((editor, name), {}).get("mean")) for name in more)
        delivered = percent(row.get("coverage")) if row.get("coverage") is not None else ""
        lines.append(MethodLine(editor, (number(row.get("mean"), 2), said, ends, *others, delivered)))
    heads = ("method", first, "gain", "interval", *more, "delivered")
    return RestorationSummary(heads, tuple(lines), tuple(_notes(found, given, [first, *more])))


def _columns(given: ReportInput, found: RestorationAnalysis) -> list[str]:
    """The first metric, another with a reference, and the first without one."""
    full = [name for name in found.metrics if _kind(given, name) == "full-reference"]
    alone = [name for name in found.metrics if _kind(given, name) == "no-reference"]
    first = found.metrics[0]
    second = next((name for name in (*PREFERRED, *full) if name in full and name != first), None)
    third = next((name for name in alone if name != first), None)
    return [name for name in (first, second, third) if name is not None]


def _kind(given: ReportInput, name: str) -> str:
    facts = given.facts.get(name)
    return facts.kind if facts else ""


def _notes(found: RestorationAnalysis, given: ReportInput, shown: list[str]) -> list[str]:
    first = shown[0]
    own = rows(found.method_results, metric=first)
    pictures = max((row["n_cases"] or 0 for row in own), default=0)
    notes = [
        f"{first} over {pictures} pictures that every method restored, prompt {found.unified}; gain over the input, "
        "+ is better."
    ]
    lower = [name for name in shown if better(name, given.facts) == "↓"]
    notes += [f"{' and '.join(lower)}: less is better."] if lower else []
    editors = {row["editor"] for row in own}
    if editors & given.simulated:
        notes.append("* simulated: a programmed baseline, not a model.")
    if editors & given.uninstructed:
        notes.append("+ ignores words: same result whatever the prompt says.")
    return notes
