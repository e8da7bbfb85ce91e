"""Per-chain data for the viewer, as small scripts: a page opened from disk may load scripts, but not fetch files."""

from __future__ import annotations

import base64
import json
import math
import os
from collections import defaultdict
from collections.abc import Mapping, Sequence
from hashlib import blake2b
from pathlib import Path
from typing import Any
from urllib.parse import quote

import polars as pl

from convergebench.reasoning import sections
from convergebench.report.files import write_whole
from convergebench.report.input import ReportInput, Row
from convergebench.report.wording import better, facts_of

LISTED = (
    "key editor case kind pair category replicate verdict status rounds planned auc last half_life first final source"
)
"""Columns of the chain list, in order; `first` and `final` are thumbnails."""

Key = tuple[str, str]


def chain_key(editor: str, case: str) -> str:
    """The short name of a chain in links and file names."""
    return blake2b(f"{editor}\x1f{case}".encode(), digest_size=6).hexdigest()


def viewer_link(editor: str, case: str, step: int | None = None) -> str:
    """Where the viewer shows a chain, at a step if one is given."""
    return f"viewer.html#c={chain_key(editor, case)}" + (f"&s={step}" if step is not None else "")


def script(function: str, *values: object) -> str:
    """A call of one of the page's functions with plain data; safe inside a page too."""
    texts = [json.dumps(plain(value), ensure_ascii=True, allow_nan=False, separators=(",", ":")) for value in values]
    return f"CB.{function}({','.join(texts)});\n".replace("<", "\\u003c")


def plain(value: object) -> Any:
    """The value as JSON knows it: infinities as the words `Infinity` and `-Infinity`, NaN as null."""
    if isinstance(value, float) and not math.isfinite(value):
        return None if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [plain(item) for item in value]
    if value is None or isinstance(value, str | int | float | bool):
        return value
    return str(value)


def by_chain(frame: pl.DataFrame) -> dict[Key, list[Row]]:
    """The rows of each (editor, case)."""
    found: dict[Key, list[Row]] = defaultdict(list)
    for row in frame.iter_rows(named=True):
        found[row["editor"], row["case"]].append(row)
    return found


def write_chains(given: ReportInput, out: Path, thumbs: Mapping[str, str]) -> int:
    """Write `chains/KEY.js` and `chains/KEY-maps.js` for every chain and `chains/list.js`; gives how many."""
    folder = out / "chains"
    folder.mkdir(parents=True, exist_ok=True)
    steps, measured = by_chain(given.steps), by_chain(given.measurements)
    extras = {key: rows[0] for key, rows in by_chain(given.analysis.worst).items()}
    reading = {key: rows[0] for key, rows in by_chain(given.analysis.contraction).items()}
    base = quote(Path(os.path.relpath(given.run, out)).as_posix()) + "/"
    listed = []
    for chain in given.chains.iter_rows(named=True):
        key = (chain["editor"], chain["case"])
        name = chain_key(*key)
        walked = sorted(steps.get(key, []), key=lambda row: int(row["index"]))
        settled = reading.get(key, {})
        data = {
            **{field: chain.get(field) for field in ("editor", "case", "source", "kind", "pair", "category")},
            **{field: chain.get(field) for field in ("replicate", "status", "detail", "rounds", "planned")},
            **{field: settled.get(field) for field in ("verdict", "q", "drift", "prior_bound", "posterior_bound")},
            "base": base,
            "steps": [_step(row, thumbs) for row in walked],
            "metrics": _metrics(given, measured.get(key, [])),
        }
        write_whole(folder / f"{name}.js", script("chain", name, data))
        maps = [_data_uri(out, thumbs.get(row["image"] or "")) for row in walked]
        write_whole(folder / f"{name}-maps.js", script("maps", name, maps))
        listed.append(_listed(name, chain, {**settled, **extras.get(key, {})}, walked, thumbs))
    write_whole(folder / "list.js", script("list", LISTED.split(), listed))
    return len(listed)


def _step(row: Row, thumbs: Mapping[str, str]) -> Row:
    kept = ("index", "round", "leg", "instruction", "width", "height", "seconds", "dollars", "attempts", "status")
    image = row["image"]
    where = {"image": quote(image) if image else None, "thumb": thumbs.get(image or "")}
    more = {"model": row.get("model"), "used": _used(row.get("used"))}
    thoughts = [[part.title, part.text] for part in sections(row.get("reasoning"))]
    more |= {"thoughts": thoughts} if thoughts else {}
    told = {name: value for name, value in more.items() if value}
    return {**{field: row.get(field) for field in kept}, "detail": row.get("detail") or "", **where, **told}


def _used(text: str | None) -> str:
    """What was sent beside the words, for a reader."""
    try:
        used = json.loads(text or "{}")
    except ValueError:
        return ""
    if not isinstance(used, dict):
        return ""
    said = {
        name: value if isinstance(value, str) else json.dumps(value, ensure_ascii=False) for name, value in used.items()
    }
    return ", ".join(f"{name} {value}" for name, value in said.items())


def metric_order(given: ReportInput, names: Sequence[str]) -> list[str]:
    """The headline metric first, then quality, then semantic, then as declared, lags last."""
    settings = given.analysis.settings
    first = [settings.headline, *settings.quality, *([settings.semantic] if settings.semantic else []), *given.facts]
    place = {name: number for number, name in reversed(list(enumerate(first)))}
    return sorted(dict.fromkeys(names), key=lambda name: (place.get(name, len(first)), name))


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
        for known in [facts_of(name, given.facts)]
    ]


def _untouched(given: ReportInput, name: str) -> float | None:
    """What the source has by definition; nothing for a metric of steps, since no step led to the source."""
    facts = given.facts.get(name)
    return facts.self_value if facts and facts.kind in ("full-reference", "semantic") else None


def _data_uri(out: Path, thumb: str | None) -> str | None:
    """The thumbnail itself, since a page from disk may read the pixels of no other image."""
    if thumb is None:
        return None
    return "data:image/webp;base64," + base64.b64encode((out / thumb).read_bytes()).decode()


def _listed(name: str, chain: Row, known: Row, walked: Sequence[Row], thumbs: Mapping[str, str]) -> list[Any]:
    shown = [thumbs[row["image"]] for row in walked if row["image"] in thumbs]
    facts = {**known, **chain, "key": name, "first": shown[0] if shown else None, "final": shown[-1] if shown else None}
    return [facts.get(column) for column in LISTED.split()]
