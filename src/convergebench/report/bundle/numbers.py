r"""The numbers of a run by stable names: `\cbvalue{demo.sim-jpeg.score}` in the text of a paper."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from convergebench.analysis.counts import ranking_counts
from convergebench.analysis.restoration.result import RestorationAnalysis
from convergebench.report.booktabs import escape
from convergebench.report.input import ReportInput, rows
from convergebench.report.wording import MISSING, number, p_value, percent

LONGEST = 60
"""Most characters of a part of a name."""
NUMBER = r"""% Numbers by name: \cbvalue{run.editor.score}. A name that is not defined prints ?? and warns.
\providecommand{\cbvalue}[1]{\ifcsname cb@#1\endcsname\csname cb@#1\endcsname\else
  \PackageWarning{convergebench}{no number is called '#1'}\textbf{??}\fi}
"""


def slug(name: str, taken: Mapping[str, str] | None = None) -> str:
    """A name of lower-case letters, digits and hyphens; numbered if another name has it already."""
    plain = re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")[:LONGEST].strip("-") or "x"
    others = {value for key, value in (taken or {}).items() if key != name}
    found, count = plain, 1
    while found in others:
        count += 1
        found = f"{plain}-{count}"
    return found


def slugs(names: list[str]) -> dict[str, str]:
    """A slug of its own for each name, in the given order."""
    found: dict[str, str] = {}
    for name in dict.fromkeys(names):
        found[name] = slug(name, found)
    return found


def named_numbers(given: ReportInput) -> Iterator[tuple[str, str]]:
    """(name without the run, text) of every number; what is unknown is a dash."""
    names = slugs([*given.editors, *(row["editor"] for row in given.ranked)])
    counts = ranking_counts(given.analysis.ranking)
    yield "images", str(given.chains["source"].n_unique() if given.chains.height else 0)
    yield "chains", str(given.chains.height)
    yield "cases", str(counts.cases)
    yield "missing", str(counts.missing)
    for row in given.ranked:
        name = names[row["editor"]]
        yield f"{name}.rank", str(row["rank"] or MISSING)
        for key in ("score", "low", "high", "closeness"):
            yield f"{name}.{key}", number(row[key], 1)
        for key in ("quality", "semantic"):
            yield f"{name}.{key}", number(row[key])
        for key in ("done", "undone", "coverage"):
            yield f"{name}.{key}", percent(row[key])
        yield f"{name}.half-life", row["half_life"] or MISSING
        yield f"{name}.verdict", row["verdict"] or "unknown"
    yield from _lives(given, names)
    yield from _differences(given, names)
    yield from _restored(given, names)


def _lives(given: ReportInput, names: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    for row in rows(given.analysis.half_life, group="all"):
        parts = [names.get(row["editor"], slug(row["editor"])), "half-life", slug(row["metric"])]
        yield ".".join([*parts, *([slug(row["level"])] if row["level"] else [])]), row["text"] or MISSING
    ends = {}
    for row in rows(given.analysis.curves, group="all"):
        ends[row["editor"], row["metric"]] = row  # the last round of each
    for (editor, metric), row in ends.items():
        if editor in names:
            yield f"{names[editor]}.{slug(metric)}.last", number(row["mean"])


def _differences(given: ReportInput, names: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    for row in rows(given.analysis.pairwise):
        pair = f"{names.get(row['better'], slug(row['better']))}.over.{names.get(row['worse'], slug(row['worse']))}"
        for key in ("difference", "low", "high"):
            yield f"{pair}.{key}", number(row[key], 1)
        yield f"{pair}.p", p_value(row["p"])
        yield f"{pair}.p-holm", p_value(row["p_holm"])


def _restored(given: ReportInput, names: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    found = given.result(RestorationAnalysis)
    if found is None:
        return
    for row in rows(found.method_results):
        yield f"{names.get(row['editor'], slug(row['editor']))}.{slug(row['metric'])}.mean", number(row["mean"])


def macros(run: str, numbers: Mapping[str, str]) -> str:
    """The definitions of a run's numbers."""
    lines = [rf"\expandafter\def\csname cb@{run}.{name}\endcsname{{{escape(text)}}}" for name, text in numbers.items()]
    return "\n".join([*lines, ""])
