"""How a run was made: the study as text, and command, versions, hashes, seed and date."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import polars as pl

from convergebench.analysis.counts import moved_pictures
from convergebench.report.wording import count, grouped, percent


def toml_text(spec: Mapping[str, Any], path: str = "") -> str:
    """The nested mapping as TOML for readers, plain keys before tables; null becomes a comment."""
    return "\n".join(_lines(spec, path)).strip() + "\n"


def _is_table(value: object) -> bool:
    return isinstance(value, Mapping) and bool(value)


def _is_tables(value: object) -> bool:
    listed = isinstance(value, Sequence) and not isinstance(value, str) and len(value) > 0
    return listed and all(isinstance(item, Mapping) for item in value)  # type: ignore[attr-defined]


def _lines(spec: Mapping[str, Any], path: str) -> Iterator[str]:
    for key, value in spec.items():
        if not _is_table(value) and not _is_tables(value):
            yield f"# {_key(key)} is not set" if value is None else f"{_key(key)} = {_value(value)}"
    for key, value in spec.items():
        name = f"{path}.{_key(key)}" if path else _key(key)
        if _is_table(value):
            yield from ("", f"[{name}]", *_lines(value, name))
        elif _is_tables(value):
            for item in value:
                yield from ("", f"[[{name}]]", *_lines(item, name))


def _key(key: object) -> str:
    name = str(key)
    return name if name and all(c.isascii() and (c.isalnum() or c in "-_") for c in name) else json.dumps(name)


def _value(value: object) -> str:
    if isinstance(value, Mapping):
        return "{ " + ", ".join(f"{_key(k)} = {_value(v)}" for k, v in value.items()) + " }" if value else "{}"
    if isinstance(value, Sequence) and not isinstance(value, str):
        return "[" + ", ".join(_value(item) for item in value) + "]"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return repr(value)
    return json.dumps(str(value), ensure_ascii=False)


def find_key(spec: object, *names: str) -> Any:
    """The first value under any of these keys, at any depth; None if there is none."""
    if isinstance(spec, Mapping):
        for name in names:
            if spec.get(name) is not None:
                return spec[name]
        for value in spec.values():
            found = find_key(value, *names)
            if found is not None:
                return found
    return None


def provenance(manifest: Mapping[str, Any], *, analysis_version: int) -> list[tuple[str, str]]:
    """(name, value) rows of how the run was made; `not recorded` where the manifest lacks a value."""
    versions = manifest.get("versions") or {}
    rows = [
        ("command", manifest.get("command")),
        ("run", manifest.get("name")),
        ("study", manifest.get("study")),
        ("created", manifest.get("created")),
        ("sessions", len(manifest.get("sessions") or [])),
        ("seed", find_key(manifest.get("spec"), "seed")),
        ("alignment", alignment(manifest)),
        *([("sizes", manifest["realigned"])] if manifest.get("realigned") else []),
        *(("left out", reason) for reason in _left_out(manifest)),
        ("analysis version", analysis_version),
        *((f"version of {name}", value) for name, value in versions.items()),
        *((key, value) for key, value in manifest.items() if _is_hash(value)),
        *((f"editor {e['name']}", e.get("fingerprint")) for e in manifest.get("editors") or []),
        *((f"metric {m['name']}", m.get("fingerprint")) for m in _named(manifest.get("metrics"))),
    ]
    return [(name, "not recorded" if value is None else str(value)) for name, value in rows]


def _left_out(manifest: Mapping[str, Any]) -> list[str]:
    """Reasons for chains that were left out, from the sessions of the manifest."""
    sessions = manifest.get("sessions") or []
    return list(dict.fromkeys(reason for one in sessions for reason in one.get("left_out", ())))


def made_line(manifest: Mapping[str, Any], *, analysis_version: int) -> str:
    """How a page was made, in one line; the report has the details."""
    known = dict(provenance(manifest, analysis_version=analysis_version))
    kept = ("command", "created", "seed", "alignment", "version of convergebench", "suite_hash", "pairs_hash")
    return "; ".join(f"{name.replace('_', ' ')}: {known[name]}" for name in kept if name in known) + "."


def _named(entries: object) -> list[Mapping[str, Any]]:
    listed = entries if isinstance(entries, Sequence) and not isinstance(entries, str) else []
    return [entry if isinstance(entry, Mapping) else {"name": entry} for entry in listed]


def _is_hash(value: object) -> bool:
    return isinstance(value, str) and value.startswith(("d1:", "sha256:"))


def alignment(manifest: Mapping[str, Any]) -> str | None:
    """The alignment mode: `auto`, `strict`, `fit`, `crop-aware`; None if the spec has none."""
    found = find_key(manifest.get("spec"), "align", "alignment")
    return str(found) if found is not None else None


def realigned(measurements: pl.DataFrame) -> str:
    """`12 of 240 pictures moved: 10 aligned with the source, 2 stretched to its size`; empty if none was."""
    found = moved_pictures(measurements)
    moved = found.registered + found.resampled
    if not moved:
        return ""
    ways = ((found.registered, "aligned with the source"), (found.resampled, "stretched to its size"))
    listed = ", ".join(f"{grouped(amount)} {words}" for amount, words in ways if amount)
    view = (
        f"; at least {percent(found.least_in_view)} of the source is in view" if found.least_in_view is not None else ""
    )
    return f"{grouped(moved)} of {count(found.pictures, 'picture')} moved: {listed}{view}"
