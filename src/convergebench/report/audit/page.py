"""What every part of the audit's page uses: metrics in order, their titles, colours of editors, the unit."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import polars as pl

from convergebench.report.audit.input import AuditReportInput
from convergebench.report.audit.pictures import PictureLookup, look_up_pictures
from convergebench.report.environment import Renderer
from convergebench.report.input import Row, rows
from convergebench.report.page import style_context
from convergebench.report.palette import Style, styles
from convergebench.report.titles import STUDIES
from convergebench.studies.units import ROUND, STEP, Unit

EVERY = "all"
"""The name that frames give to all editors together."""
VERDICTS = {
    **{"sound": 1, "seldom fooled": 2, "unproven": 2, "cannot be told": 3, "often fooled": 4, "rewards damage": 5},
    **{"too few to tell": 0, "not run": 0},
}
"""From best to worst, then the undecided ones; the number is the depth of blue."""
ANSWERS = {"yes": "●", "with care": "◐", "no": "○", "unknown": "–"}
"""A sign for each answer, readable without colour."""


@dataclass(frozen=True)
class AuditPage:
    """The input with its drawing choices. `out` is the folder of the page; nothing is written there."""

    given: AuditReportInput
    metrics: list[Row]
    """Every row of the frame `metrics`, in its order."""
    editors: list[str]
    style: dict[str, Style]
    out: Path

    @property
    def audited(self) -> list[Row]:
        """Metrics that have scores."""
        return [row for row in self.metrics if row["status"] == "audited"]

    @property
    def not_run(self) -> list[Row]:
        """Metrics without scores, with the reason in `why`."""
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
        """The steps that are compared with the baseline."""
        return self.given.audit.settings.gaps

    def title(self, metric: str) -> str:
        """A metric's name as its authors spell it."""
        return next((row["title"] or metric for row in self.metrics if row["metric"] == metric), metric)

    def anchor(self, metric: str) -> str:
        """The anchor of its card."""
        place = next((n for n, row in enumerate(self.metrics, 1) if row["metric"] == metric), 0)
        return f"metric-{place}-" + re.sub(r"[^A-Za-z0-9]+", "-", metric).strip("-")

    def of_all(self, frame: pl.DataFrame, **equal: object) -> list[Row]:
        """The rows over all editors; those of the only editor where nothing is pooled."""
        found = rows(frame, **equal)
        pooled = [row for row in found if row["editor"] == EVERY]
        return pooled or (found if len({row["editor"] for row in found}) == 1 else [])

    @cached_property
    def album(self) -> PictureLookup:
        """The pictures of contradictions."""
        return look_up_pictures(self.given, self.out)

    @cached_property
    def renderer(self) -> Renderer:
        """The templates, with what every part of the page shares."""
        return Renderer(_shared(self))


NOTHING = "No metric has been scored yet."


def _shared(page: AuditPage) -> dict[str, Any]:
    given = page.given
    headline = given.audit.headline
    return {
        "name": ", ".join(given.runs) or "audit",
        "title": str(given.made.get("title") or f"{STUDIES['audit']} of {', '.join(given.runs) or 'no run'}"),
        "finding": headline[0] if headline else NOTHING,
        "more": list(headline[1:]),
        "notes": list(given.audit.notes),
        "simulated": [name for name in page.editors if name in given.simulated],
        "unit": page.unit,
        "settings": given.audit.settings,
        "page": page,
        "depth": depth,
        **style_context(page.style, {name: [("simulated", "simulated")] for name in sorted(given.simulated)}),
    }


def depth(verdict: str) -> int:
    """The depth of blue of a verdict: 1, sound, to 5, rewards damage; 0 for none."""
    return VERDICTS.get(verdict, 0)


def open_page(given: AuditReportInput, out: Path | None = None) -> AuditPage:
    """The page of an audit; editors get colours in the order of the chains."""
    audit = given.audit
    named = [frame["editor"].to_list() for frame in (given.given.chains, audit.cells, audit.failures, audit.traces)]
    editors = [name for name in dict.fromkeys(name for part in named for name in part) if name != EVERY]
    return AuditPage(given, rows(audit.metrics), editors, styles(editors), out or Path("audit"))


WEIGHTS = re.compile(r"weights (?P<names>.+): cbench weights fetch (?P<typed>.+)")


def not_run_reasons(page: AuditPage, most: int = 100) -> list[tuple[str, list[str]]]:
    """(reason, titles of the metrics), each reason once, the most frequent first.

    Metrics that lack weights share one line with the command that fetches them; it names at most `most` weights.
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
    reasons = []
    for (rest, _), (titles, weights) in found.items():
        named = " ".join(list(weights)[:most]) + (" …" if len(weights) > most else "")
        reasons.append(
            ("; ".join(part for part in (rest, named and f"weights: cbench weights fetch {named}") if part), titles)
        )
    return sorted(reasons, key=lambda one: -len(one[1]))
