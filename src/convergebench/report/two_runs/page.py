"""The page of a comparison: one file that holds its pictures, with the finding first."""

from __future__ import annotations

import json
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path
from typing import Any

from convergebench.analysis.result import ANALYSIS_VERSION
from convergebench.errors import ConvergeBenchError
from convergebench.images.decode import decode
from convergebench.report.chains import plain
from convergebench.report.chart_library import library_file
from convergebench.report.charts.changes import CaseDot, ChangeChart, ChangeRow
from convergebench.report.environment import Renderer
from convergebench.report.output import RenderedFile
from convergebench.report.page import style_context
from convergebench.report.palette import styles
from convergebench.report.sheet import small_address
from convergebench.report.two_runs.input import ComparedRun, TwoRunsInput, pair_name
from convergebench.report.two_runs.wording import finding, is_sure, notes, ordered, signed
from convergebench.report.two_runs.worst import WorstCase, WorstPicture, worst_cases
from convergebench.report.wording import better, interval, middle
from convergebench.store.images import open_images

PAGE_DATA = "comparison.json"
"""The numbers behind the page, beside it."""
LONG_SIDE = 420
MOST_DOTS = 400
"""Most cases of one editor that are drawn one by one."""


def comparison_json(given: TwoRunsInput) -> dict[str, Any]:
    """Everything that the page says, as plain data."""
    return {
        "first": str(given.first.root),
        "second": str(given.second.root),
        "finding": finding(given),
        "warnings": list(given.warnings),
        "notes": notes(given),
        "analysis_version": ANALYSIS_VERSION,
        **{name: plain(frame.to_dicts()) for name, frame in given.change.tables().items()},
    }


def render_comparison(given: TwoRunsInput) -> Iterator[RenderedFile]:
    """`comparison.json`, then the page itself; nothing is written."""
    yield PAGE_DATA, json.dumps(comparison_json(given), ensure_ascii=False, indent=1, allow_nan=False) + "\n"
    yield library_file()
    yield "index.html", render_page(given)


def render_page(given: TwoRunsInput) -> str:
    """The page."""
    rows = ordered(given)
    style = styles([pair_name(row) for row in rows])
    marks = {pair_name(row): [("simulated", "simulated")] for row in rows if row["editor_first"] in given.simulated}
    shared = {"name": " and ".join(given.names), "unit": given.unit, **style_context(style, marks)}
    return Renderer(shared).render(
        "two_runs.html",
        finding=finding(given),
        notes=notes(given),
        warnings=given.warnings,
        first=given.names[0],
        second=given.names[1],
        rows=[{**row, "name": pair_name(row), "sure": is_sure(row, given)} for row in rows],
        metrics=[
            {**row, "name": pair_name(row), "arrow": _arrow(row, given)} for row in given.change.metrics.to_dicts()
        ],
        half_lives=[{**row, "name": pair_name(row)} for row in given.change.half_lives.to_dicts()],
        chart=_chart(given),
        formula=rows[0]["formula"] if rows else "",
        worst=[_card(one, given) for one in worst_cases(given)],
        got_worse=int((given.change.cases["change"] < -1e-9).sum()),
        cases=given.change.cases.height,
        confidence=f"{100 * given.settings.confidence:.3g} %",
        level=given.settings.level,
        made=_made(given),
        signed=signed,
    )


def _arrow(row: dict[str, Any], given: TwoRunsInput) -> str:
    return "↑" if row["what"] == "retention" else better(row["metric"], given.facts)


def _chart(given: TwoRunsInput) -> ChangeChart | None:
    rows = [row for row in ordered(given) if row["change"] is not None]
    if not rows:
        return None
    style = styles([pair_name(row) for row in ordered(given)])
    cases = given.change.cases.to_dicts()
    drawn = [
        ChangeRow(
            name=pair_name(row),
            style=style[pair_name(row)],
            value=row["change"],
            low=row["low"],
            high=row["high"],
            shown=signed(row["change"]),
            cases=[
                CaseDot(one["change"], f"{one['source']}, {one['pair']}: {signed(one['change'])}")
                for one in cases
                if pair_name(one) == pair_name(row)
            ][:MOST_DOTS],
        )
        for row in rows
    ]
    names = " to ".join(middle(name, 24) for name in given.names)
    said = "; ".join(f"{one.name} {one.shown} ({interval(one.low, one.high, 1) or 'no interval'})" for one in drawn)
    return ChangeChart(drawn, f"change of the score, {names}", f"Change of the score per editor: {said}")


def _card(one: WorstCase, given: TwoRunsInput) -> dict[str, Any]:
    row = one.row
    pictures = [
        ("source", given.first, one.source),
        (given.names[0], given.first, one.first),
        (given.names[1], given.second, one.second),
    ]
    return {
        **row,
        "name": pair_name(row),
        "pictures": [
            {
                "title": title,
                "round": picture.round if picture else None,
                "address": _address(run, picture),
                "path": str(run.root / picture.file) if picture else "",
                "score": score,
            }
            for (title, run, picture), score in zip(
                pictures, (None, row["score_first"], row["score_second"]), strict=True
            )
        ],
    }


def _address(run: ComparedRun, picture: WorstPicture | None) -> str | None:
    data = open_images(run.root).view(picture.file) if picture else None
    if data is None or picture is None:
        return None
    try:
        return small_address(decode(data, what=picture.file, alpha="white").pixels, LONG_SIDE)
    except ConvergeBenchError:  # a damaged picture is left out, as in a report
        return None


def _made(given: TwoRunsInput) -> list[tuple[str, str]]:
    found = [("version of convergebench", version("convergebench")), ("analysis version", str(ANALYSIS_VERSION))]
    for name, run in zip(given.names, (given.first, given.second), strict=True):
        last = run.manifest.sessions[-1] if run.manifest.sessions else {}
        found += [
            (f"{name}, folder", str(Path(run.root))),
            (f"{name}, created", run.manifest.created),
            (f"{name}, last command", str(last.get("command", "not recorded"))),
            (f"{name}, alignment", run.manifest.align),
        ]
    for row in given.change.editors.to_dicts():
        ones = given.first.fingerprint(row["editor_first"]), given.second.fingerprint(row["editor_second"])
        found.append((f"fingerprint of {pair_name(row)}", ones[0] if ones[0] == ones[1] else " → ".join(ones)))
    return found
