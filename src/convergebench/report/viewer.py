"""The viewer of chains: its page, and per chain the data as small scripts that it loads."""

from __future__ import annotations

import base64
import json
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any
from urllib.parse import quote

from convergebench.analysis.series import facts_of_series
from convergebench.reasoning import sections
from convergebench.report.chains import chain_key, script
from convergebench.report.input import ReportInput, Row, by_chain, metric_order
from convergebench.report.output import RenderedFile
from convergebench.report.page import VIEWER, Page
from convergebench.report.palette import INFERNO
from convergebench.report.wording import better

LISTED = (
    "key editor case kind pair category replicate verdict status rounds planned auc last half_life first final source"
)
"""Columns of the chain list, in order; `first` and `final` are thumbnails."""


def render_viewer(page: Page) -> Iterator[RenderedFile]:
    """`viewer.html`, `chains/KEY.js` and `chains/KEY-maps.js` for every chain, and `chains/list.js`."""
    given, thumbs = page.given, page.thumbs
    steps, measured = by_chain(given.steps), by_chain(given.measurements)
    extras = {key: rows[0] for key, rows in by_chain(given.analysis.worst).items()}
    reading = {key: rows[0] for key, rows in by_chain(given.analysis.contraction).items()}
    base = page.relative(given.run) + "/"
    listed = []
    for chain in given.chains.iter_rows(named=True):
        key = (chain["editor"], chain["case"])
        name = chain_key(*key)
        chain_steps = sorted(steps.get(key, []), key=lambda row: int(row["index"]))
        settled = reading.get(key, {})
        data = {
            **{field: chain.get(field) for field in ("editor", "case", "source", "kind", "pair", "category")},
            **{field: chain.get(field) for field in ("replicate", "status", "detail", "rounds", "planned")},
            **{field: settled.get(field) for field in ("verdict", "q", "drift", "prior_bound", "posterior_bound")},
            "base": base,
            "steps": [_step(row, thumbs) for row in chain_steps],
            "metrics": _metrics(given, measured.get(key, [])),
        }
        yield f"chains/{name}.js", script("chain", name, data)
        maps = [_data_uri(page, row["image"]) for row in chain_steps]
        yield f"chains/{name}-maps.js", script("maps", name, maps)
        listed.append(_listed(name, chain, {**settled, **extras.get(key, {})}, chain_steps, thumbs))
    yield "chains/list.js", script("list", LISTED.split(), listed)
    yield VIEWER[0], page.render(VIEWER[0], inferno=_channels())


def _step(row: Row, thumbs: Mapping[str, str]) -> Row:
    kept = ("index", "round", "leg", "instruction", "width", "height", "seconds", "dollars", "attempts", "status")
    image = row["image"]
    where = {"image": quote(image) if image else None, "thumb": thumbs.get(image or "")}
    more = {"model": row.get("model"), "used": used_settings(row.get("used"))}
    thoughts = [[part.title, part.text] for part in sections(row.get("reasoning"))]
    more |= {"thoughts": thoughts} if thoughts else {}
    known = {name: value for name, value in more.items() if value}
    return {**{field: row.get(field) for field in kept}, "detail": row.get("detail") or "", **where, **known}


def used_settings(text: str | None) -> str:
    """The settings that were sent with the instruction, as text."""
    try:
        used = json.loads(text or "{}")
    except ValueError:
        return ""
    if not isinstance(used, dict):
        return ""
    shown = {
        name: value if isinstance(value, str) else json.dumps(value, ensure_ascii=False) for name, value in used.items()
    }
    return ", ".join(f"{name} {value}" for name, value in shown.items())


def _metrics(given: ReportInput, measured: Sequence[Row]) -> list[Row]:
    """Per metric: values by step, and the status where a value is missing."""
    values: dict[str, dict[int, Any]] = defaultdict(dict)
    missing: dict[str, dict[int, str]] = defaultdict(dict)
    for row in measured:
        values[row["metric"]][row["step"]] = row["value"]
        if row["value"] is None:
            missing[row["metric"]][row["step"]] = row["status"]
    return [
        {
            "name": name,
            "better": better(name, given.facts),
            "unit": known.unit if known else "",
            "summary": known.summary if known else "",
            "kind": known.kind if known else "",
            "self": _untouched(given, name),
            "values": values[name],
            "missing": missing[name],
        }
        for name in metric_order(given, list(values))
        for known in [facts_of_series(name, given.facts)]
    ]


def _untouched(given: ReportInput, name: str) -> float | None:
    """The value of the source by definition; None for metrics of steps, since no step led to the source."""
    facts = given.facts.get(name)
    return facts.self_value if facts and facts.kind in ("full-reference", "semantic") else None


def _data_uri(page: Page, image: str | None) -> str | None:
    """The thumbnail as a data URI: a page opened from disk cannot read the pixels of image files."""
    data = page.thumbnails.read(image) if image and image in page.thumbs else None
    return None if data is None else "data:image/webp;base64," + base64.b64encode(data).decode()


def _channels() -> list[str]:
    """The colour map's red, green and blue as SVG table values."""
    return [" ".join(f"{int(colour[1 + 2 * c : 3 + 2 * c], 16) / 255:.3f}" for colour in INFERNO) for c in range(3)]


def _listed(name: str, chain: Row, known: Row, chain_steps: Sequence[Row], thumbs: Mapping[str, str]) -> list[Any]:
    shown = [thumbs[row["image"]] for row in chain_steps if row["image"] in thumbs]
    facts = {**known, **chain, "key": name, "first": shown[0] if shown else None, "final": shown[-1] if shown else None}
    return [facts.get(column) for column in LISTED.split()]
