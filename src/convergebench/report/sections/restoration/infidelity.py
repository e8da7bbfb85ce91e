"""How often a result is unfaithful or overdone: what rules propose, what people confirm, by prompt."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from convergebench.analysis.restoration.infidelity import ALL, ANY
from convergebench.analysis.restoration.result import RestorationAnalysis
from convergebench.report.charts.rates import RateChart, RateRow
from convergebench.report.environment import Panels
from convergebench.report.input import Row, rows
from convergebench.report.page import Page
from convergebench.report.sections.base import TemplateSection
from convergebench.report.sections.restoration.found import found_in, methods_of

HINTS = ((False, "without a request for fidelity"), (True, "with a request for fidelity"))
MODES = {
    ANY: "any of these",
    "structure-change": "structure changed",
    "invented-edges": "edges invented",
    "colour-on-grey": "colour put on grey",
    "invented-texture": "texture invented",
    "lost-object": "a thing lost",
    "new-object": "a thing added",
}
"""Failure mode → its words."""


def infidelity_section(page: Page) -> dict[str, Any] | None:
    """A panel per editor: shares by prompt, means by hint, and every mode."""
    found = found_in(page)
    if found is None or not found.infidelity.height:
        return None
    panels = [_panel(page, found, editor) for editor in methods_of(page, found.infidelity)]
    if not panels:
        return None
    return {
        "panels": Panels("restoration-infidelity", "restoration_infidelity_panel.html", panels),
        "gallery": next((one.file for one in page.beside if one.name == "failure-gallery"), ""),
        "people": any(row["said_by"] == "person" for row in rows(found.infidelity)),
    }


def _panel(page: Page, found: RestorationAnalysis, editor: str) -> Row:
    own = rows(found.infidelity, editor=editor)
    cells = {(row["prompt"], row["fidelity"], row["mode"], row["said_by"]): row for row in own}
    prompts = list(dict.fromkeys((row["prompt"], row["fidelity"], row["group"]) for row in own if row["prompt"] != ALL))
    lines = [
        {"prompt": prompt, "group": group, "fidelity": fidelity, **_voices(cells, prompt, fidelity, ANY)}
        for prompt, fidelity, group in prompts
    ]
    hints = [
        {"name": name, **_voices(cells, ALL, fidelity, ANY)}
        for fidelity, name in HINTS
        if any((ALL, fidelity, ANY, voice) in cells for voice in ("rule", "person"))
    ]
    seen = {row["mode"] for row in own}
    modes = [mode for mode in (*MODES, *sorted(seen - set(MODES))) if mode in seen and mode != ANY]
    return {
        "name": editor,
        "chart": infidelity_chart(page, found, editor),
        "lines": lines,
        "hints": hints,
        "effects": [
            {**row, "title": MODES.get(row["mode"], row["mode"])}
            for row in rows(found.infidelity_effects, editor=editor)
        ],
        "modes": [{"title": MODES.get(mode, mode), "mode": mode, **_totals(own, mode)} for mode in modes],
    }


def _voices(cells: dict[tuple[Any, ...], Row], prompt: str, fidelity: bool | None, mode: str) -> Row:
    return {voice: cells.get((prompt, fidelity, mode, voice)) for voice in ("rule", "person")}


def _totals(own: list[Row], mode: str) -> Row:
    """Cases of a mode over all prompts, by voice; None where that voice did not look."""
    found: Row = {}
    for voice in ("rule", "person"):
        part = [row for row in own if row["mode"] == mode and row["said_by"] == voice and row["prompt"] != ALL]
        found[voice] = (
            {name: sum(row[name] or 0 for row in part) for name in ("cases", "n", "n_unknown")} if part else None
        )
    return found


def infidelity_chart(page: Page, found: RestorationAnalysis, editor: str) -> RateChart | None:
    """Share of chains per prompt: a dot for what rules propose, a ring for what people say (a dot if alone).

    None where nobody could tell.
    """
    own = rows(found.infidelity, editor=editor, mode=ANY)
    if all(row["share"] is None for row in own):
        return None
    cells = {(row["prompt"], row["fidelity"], row["said_by"]): row for row in own}
    keys = list(dict.fromkeys((row["prompt"], row["fidelity"]) for row in own))
    keys.sort(key=lambda key: (key[1] is None, bool(key[1]), key[0] != ALL))
    lines = []
    for prompt, fidelity in keys:
        rule, person = (cells.get((prompt, fidelity, voice)) for voice in ("rule", "person"))
        first = rule or person
        assert first is not None  # every key comes from a row
        name = dict(HINTS)[fidelity] if prompt == ALL and fidelity is not None else prompt
        second = person["share"] if rule and person else None
        lines.append(
            RateRow(name, first["n"], first["share"], first["low"], first["high"], second, None, prompt == ALL)
        )
    label = f"{editor}: share of chains that are unfaithful or overdone, by prompt; the table below has the numbers"
    return RateChart(lines, page.style[editor], "chains that are unfaithful or overdone", label, "people say", 7.5)


def _figures(page: Page) -> Iterator[tuple[str, Any]]:
    found = found_in(page)
    for editor in methods_of(page, found.infidelity) if found else ():
        assert found is not None
        chart = infidelity_chart(page, found, editor)
        if chart is not None:
            yield f"restoration-infidelity-{editor}", chart


INFIDELITY = TemplateSection(
    "restoration-infidelity",
    "Faithfulness",
    "restoration_infidelity.html",
    infidelity_section,
    _figures,
    key="infidelity",
)
