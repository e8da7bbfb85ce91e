"""What every part of the audit's page needs: metrics in order, their titles, colours of editors, words for steps."""

from __future__ import annotations

import re
from dataclasses import dataclass

import polars as pl

from convergebench.analysis.units import ROUND, STEP, Unit
from convergebench.report.audit.input import AuditReportInput
from convergebench.report.input import Row, rows
from convergebench.report.palette import Style, styles

EVERY = "all"
"""The name that frames give to all editors together."""
VERDICTS = {
    **{"sound": 1, "seldom fooled": 2, "unproven": 2, "cannot be told": 3, "often fooled": 4, "rewards damage": 5},
    **{"too few to tell": 0, "not run": 0},
}
"""From best to worst, then those that say nothing; the number is the depth of its blue."""
ANSWERS = {"yes": "●", "with care": "◐", "no": "○", "unknown": "–"}
"""A sign beside each answer, so that a column can be read at a glance and without colour."""
MOST_DRAWN = 12
"""Lines in one chart; beyond that they cannot be told apart. Tables always list all."""


@dataclass(frozen=True, slots=True)
class AuditPage:
    """The input with its drawing choices."""

    given: AuditReportInput
    metrics: list[Row]
    """Every row of the frame `metrics`, in its order."""
    editors: list[str]
    style: dict[str, Style]

    @property
    def audited(self) -> list[Row]:
        """Metrics that have scores."""
        return [row for row in self.metrics if row["status"] == "audited"]

    @property
    def not_run(self) -> list[Row]:
        """Metrics that have none, with the reason in `why`."""
        return [row for row in self.metrics if row["status"] != "audited"]

    @property
    def names(self) -> list[str]:
        """The audited metrics by name."""
        return [row["metric"] for row in self.audited]

    @property
    def unit(self) -> Unit:
        """What `at` counts."""
        return STEP if self.given.audit.settings.by == "step" else ROUND

    @property
    def gaps(self) -> tuple[int, ...]:
        """The steps that are held against the baseline."""
        return self.given.audit.settings.gaps

    def title(self, metric: str) -> str:
        """A metric's name as its authors spell it."""
        return next((row["title"] or metric for row in self.metrics if row["metric"] == metric), metric)

    def anchor(self, metric: str) -> str:
        """Where its card stands."""
        place = next((n for n, row in enumerate(self.metrics, 1) if row["metric"] == metric), 0)
        return f"metric-{place}-" + re.sub(r"[^A-Za-z0-9]+", "-", metric).strip("-")

    def of_all(self, frame: pl.DataFrame, **equal: object) -> list[Row]:
        """The rows over all editors; those of the only editor where nothing is pooled."""
        found = rows(frame, **equal)
        pooled = [row for row in found if row["editor"] == EVERY]
        return pooled or (found if len({row["editor"] for row in found}) == 1 else [])


def open_page(given: AuditReportInput) -> AuditPage:
    """Colours go by the order in which chains name editors."""
    audit = given.audit
    named = [frame["editor"].to_list() for frame in (given.given.chains, audit.cells, audit.failures, audit.traces)]
    editors = [name for name in dict.fromkeys(name for part in named for name in part) if name != EVERY]
    return AuditPage(given, rows(audit.metrics), editors, styles(editors))


WEIGHTS = re.compile(r"weights (?P<names>.+): cbench weights fetch (?P<typed>.+)")


def not_run_reasons(page: AuditPage, most: int = 100) -> list[tuple[str, list[str]]]:
    """(why, titles of the metrics), each reason once, the commonest first.

    Metrics that lack weights each lack their own; they share a line that fetches all of them. `most` weights are named.
    """
    found: dict[tuple[str, bool], tuple[list[str], dict[str, None]]] = {}
    for row in page.not_run:
        why = (row["why"] or "no reason was recorded").strip().rstrip(".")
        why = why.removeprefix(f"{row['metric']} ").removeprefix(f"{row['metric']}: ")
        parts = why.split("; ")
        lacks = [match for part in parts if (match := WEIGHTS.fullmatch(part))]
        rest = "; ".join(part for part in parts if not WEIGHTS.fullmatch(part))
        titles, weights = found.setdefault((rest, bool(lacks)), ([], {}))
        titles.append(row["title"] or row["metric"])
        weights.update(dict.fromkeys(name for match in lacks for name in match["typed"].split()))
    told = []
    for (rest, _), (titles, weights) in found.items():
        named = " ".join(list(weights)[:most]) + (" …" if len(weights) > most else "")
        told.append(
            ("; ".join(part for part in (rest, named and f"weights: cbench weights fetch {named}") if part), titles)
        )
    return sorted(told, key=lambda one: -len(one[1]))
