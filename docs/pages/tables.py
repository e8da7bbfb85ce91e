"""`docs/reference/tables.md`: every table of a run, an audit and the Python API, column by column."""

from __future__ import annotations

import inspect
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from convergebench.analysis.audit.result import INPUTS as AUDIT_INPUTS
from convergebench.analysis.audit.result import SCHEMAS as AUDIT
from convergebench.analysis.decay_result import SCHEMAS as DECAY
from convergebench.analysis.ratings.result import SCHEMAS as RATINGS
from convergebench.analysis.restoration.result import SCHEMAS as RESTORATION
from convergebench.analysis.schemas import INPUTS, OUTPUTS
from convergebench.analysis.sequential.result import SCHEMAS as UNTIL
from convergebench.analysis.two_runs import COLUMNS
from convergebench.api.scoring import SCHEMA
from convergebench.store import frames
from docs.pages.markdown import code, table

MEANINGS: Mapping[str, Mapping[str, str]] = tomllib.loads(
    Path(__file__).with_name("columns.toml").read_text(encoding="utf-8")
)
HEAD = """# Tables and their columns

`cbench report` writes them as CSV and Parquet into `RUN/tables`; from Python they are polars frames:
`convergebench.load("runs/x").table("ranking")`. An empty cell is a missing value, never 0.
"""
_MEASUREMENTS = {name: kind for name, kind in frames.MEASUREMENTS.items() if name != "lag"}
"""In the tables the lag is a part of the series' name."""
TABLES: Mapping[str, tuple[str, Mapping[str, Mapping[str, Any]]]] = {
    "A run": (
        "What was done and measured: `.steps`, `.measurements`, or `.table(NAME)`.",
        {
            "measurements": {**_MEASUREMENTS, "in_view": INPUTS["measurements"]["in_view"]},
            "chains": frames.CHAINS,
            "steps": frames.STEPS,
            "labels": frames.LABELS,
            "spending": frames.SPENDING,
        },
    ),
    "The comparison of editors": ("Analysis part `comparison`; `.scores` is `auc` for the group `all`.", OUTPUTS),
    "Run until decided": ("What `cbench run --until decided` has decided; only of runs made with it.", UNTIL),
    "Decay": (
        "Analysis part `decay`; its `labels` are those that count, and replace the run's.",
        DECAY,
    ),
    "Restoration": (
        "Analysis part `restoration`. Values compare results with the clean image or rate them alone; `input` is "
        "the degraded image itself.",
        RESTORATION,
    ),
    "Ratings": ("Analysis part `ratings`: ratings by people (`cbench rate`).", RATINGS),
    "An audit": (
        "`convergebench.audit(run).tables`; written into `RUN/audit/tables`. `.verdicts` is `metrics`.",
        {**AUDIT, **{name: AUDIT_INPUTS[name] for name in ("scores", "damage", "chains")}},
    ),
    "Calls": (
        "What `convergebench.compare` and `convergebench.score` give.",
        {"compare": COLUMNS, "score": SCHEMA},
    ),
}


def page() -> str:
    """A table of columns per table."""
    parts = [HEAD]
    for title, (about, tables) in TABLES.items():
        parts += [f"## {title}\n", f"{about}\n"]
        for name, columns in tables.items():
            rows = [[code(column), _kind(kind), meaning(name, column)] for column, kind in columns.items()]
            parts += [f"### {title}: {name}\n", table(["column", "type", "meaning"], rows)]
    return "\n".join(parts)


def meaning(name: str, column: str) -> str:
    """What a column of a table means; empty if nobody wrote it down."""
    return MEANINGS.get(name, {}).get(column) or MEANINGS["all"].get(column, "")


def _kind(kind: Any) -> str:
    name = kind.__name__ if inspect.isclass(kind) else str(kind)
    return {"String": "text", "Float64": "number", "Int64": "whole number", "Boolean": "yes or no"}.get(name, name)
