"""One chain with everything that is known of each of its steps."""

from __future__ import annotations

import json
import sqlite3
from collections import defaultdict
from collections.abc import Mapping
from contextlib import closing
from typing import Any

import polars as pl

from convergebench.analysis.failures import verdicts
from convergebench.analysis.series import named_series
from convergebench.errors import StudyError
from convergebench.reasoning import sections
from convergebench.redaction import redact
from convergebench.report.viewer import used_settings
from convergebench.serve.guard import Refusal
from convergebench.serve.view.facts import metric
from convergebench.serve.view.tables import RunTables
from convergebench.store.images import identity_of
from convergebench.store.queries.viewing import ViewingReader

LONGEST = 20_000
"""Most characters of one reply."""
_STEP = ["index", "round", "leg", "instruction", "status", "seconds", "dollars", "attempts", "width", "height", "model"]
_ASKED = ("question", "text", "prompt", "instruction", "words")
_REASONS = ("reasoning", "reason", "explanation", "why")


def chain_facts(tables: RunTables, key: str) -> dict[str, Any]:
    """The chain of this key; `Refusal` if the run has none."""
    if key not in tables.names:
        raise Refusal(404, "There is no such chain in this run.")
    chain = tables.names[key]
    row = tables.chains.row(by_predicate=pl.col("chain") == key, named=True)
    try:
        with closing(ViewingReader(tables.root)) as reader:
            steps = reader.frames.steps(chain)
            measured = named_series(reader.frames.measurements(tables.align, chain))
            answers = reader.frames.answers(chain)
            labels = reader.frames.labels(chain)
    except sqlite3.Error as error:
        raise StudyError(f"{tables.root.name} cannot be read: {error}") from error
    values: dict[int, dict[str, float | None]] = defaultdict(dict)
    missing: dict[int, dict[str, str]] = defaultdict(dict)
    for one in measured.iter_rows(named=True):
        values[one["step"]].setdefault(one["metric"], one["value"])
        if one["value"] is None:
            missing[one["step"]][one["metric"]] = one["status"]
    failures, replies = _failures(labels), _replies(answers)
    named = {name for step in values.values() for name in step}
    found = [
        {
            **{field: one.get(field) for field in _STEP},
            "image": _digest(one["image"]),
            "detail": redact(one.get("detail") or ""),
            "used": used_settings(one.get("used")),
            "thoughts": [[part.title, part.text] for part in sections(redact(one.get("reasoning") or ""))],
            "replies": replies.get(one["index"], []),
            "values": values.get(one["index"], {}),
            "missing": missing.get(one["index"], {}),
            "failures": [
                {"name": name, "level": level, "detail": detail}
                for name, level, detail, first, last in failures
                if first <= one["index"] and (last is None or one["index"] <= last) and one["index"] > 0
            ],
        }
        for one in steps.sort("index").iter_rows(named=True)
    ]
    others = tables.chains.filter((pl.col("case") == row["case"]) & (pl.col("chain") != key))
    pair = tables.manifest.pairs.get(str(row["pair"]), {})
    return {
        **{name: row[name] for name in tables.chains.columns if name != "spark"},
        **_bounds(tables, chain),
        "forward": pair.get("forward", ""),
        "backward": pair.get("backward", ""),
        "main": tables.main,
        "metrics": [metric(tables, name) for name in _order(tables, named)],
        "steps": found,
        "siblings": others.select("chain", "editor").to_dicts(),
    }


def _order(tables: RunTables, named: set[str]) -> list[str]:
    """As in the tables, then those that have no value anywhere."""
    return [*(name for name in tables.series if name in named), *sorted(named - set(tables.series))]


def _bounds(tables: RunTables, chain: tuple[str, str]) -> dict[str, float | None]:
    editor, case = chain
    found = tables.analysed.contraction.filter((pl.col("editor") == editor) & (pl.col("case") == case))
    names = ("q", "drift", "prior_bound", "posterior_bound")
    return {name: found[name][0] if found.height else None for name in names}


def _digest(file: str | None) -> str | None:
    """The key of an image in addresses."""
    identity = identity_of(file) if file else None
    return identity.removeprefix("i1:") if identity else None


def _failures(labels: pl.DataFrame) -> list[tuple[str, str, str, int, int | None]]:
    """Name, level, detail, first and last step of every failure that the chain has."""
    found = []
    for one in verdicts(labels) if labels.height else []:
        if one.present and one.step is not None:
            row = one.rows[-1]
            found.append((one.mode.replace("-", " "), one.level, str(row["detail"] or ""), one.step, row["last"]))
    return found


def _replies(answers: pl.DataFrame) -> dict[int, list[dict[str, str]]]:
    """What roles answered, by the step after which they were asked."""
    found: dict[int, list[dict[str, str]]] = defaultdict(list)
    for one in answers.iter_rows(named=True):
        payload, value = _json(one["payload"]), _json(one["value"])
        reasons = _first(value, _REASONS)
        found[one["position"] or 0].append(
            {
                "role": one["role"],
                "question": redact((_first(payload, _ASKED) or _text(payload))[:LONGEST]),
                "answer": redact((_text(value) if value is not None else one["raw"] or "")[:LONGEST]),
                "reasoning": redact(reasons[:LONGEST]),
            }
        )
    return found


def _json(text: str | None) -> Any:
    try:
        return json.loads(text) if text else None
    except (ValueError, RecursionError):
        return text


def _first(value: Any, names: tuple[str, ...]) -> str:
    if not isinstance(value, Mapping):
        return ""
    return next((value[name] for name in names if isinstance(value.get(name), str)), "")


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
