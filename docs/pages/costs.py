"""The table of docs/costs.md: what each study costs with each priced model, by the forecast of `--dry-run`."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from convergebench.conductor.running import plan
from convergebench.conductor.study import with_changes
from convergebench.editors.find import LOCAL, make_editor
from convergebench.editors.models.table import LAST_CHECKED, ModelEntry, models
from convergebench.engine.plan import Chain, forecast
from convergebench.studies.spec import read_spec
from convergebench.types import Settings
from docs.pages.markdown import code, table

ROOT = Path(__file__).resolve().parent.parent.parent
PAGE = ROOT / "docs" / "costs.md"
COLUMNS = {
    "a first look": ("roundtrip", {"suite": "quick", "rounds": 3}),
    "round trips": ("roundtrip", {}),
    "replicate": ("replicate", {}),
    "restoration": ("restoration", {}),
    "prompts": ("restoration-prompts", {}),
}
"""Heading of a column, its study file, and what the command line changes."""
_SNAPSHOT = re.compile(r"-20\d\d-\d\d-\d\d$")
"""A model pinned to a day; it costs what the model itself costs."""
PLANNED_WITH = "gemini-3-pro-image"
"""It takes every setting of these studies; the cases are the same for every model."""


def block() -> str:
    """One row per model that has a price, cheapest first; the numbers of calls come first."""
    chains = {title: tuple(_chains(study, changes)) for title, (study, changes) in COLUMNS.items()}
    calls = [f"{sum(chain.study.calls(chain.case) for chain in group):,}" for group in chains.values()]
    rows = [["*calls*", "", *calls]]
    priced = []
    for model in models().values():
        if model.provider != LOCAL and not model.ended(LAST_CHECKED) and model.price and not _SNAPSHOT.search(model.id):
            found = list(_dollars(model, chains))
            if None not in found:
                priced.append((model, found))
    for model, dollars in sorted(priced, key=lambda one: (one[1][0] or 0, one[0].id)):
        calls_of_first = sum(chain.study.calls(chain.case) for chain in next(iter(chains.values())))
        each = f"{(dollars[0] or 0) / calls_of_first:.3f}"
        rows.append([code(model.id), each, *(_rounded(one or 0) for one in dollars)])
    return table(["model", "one edit", *COLUMNS], rows)


def _chains(study: str, changes: dict[str, object]) -> Iterator[Chain]:
    spec = with_changes(read_spec(ROOT / "studies" / f"{study}.toml"), editors=(PLANNED_WITH,), **changes)  # type: ignore[arg-type]
    with tempfile.TemporaryDirectory() as folder:
        yield from plan(spec, Path(folder) / "run").prepared.chains


def _dollars(model: ModelEntry, chains: dict[str, tuple[Chain, ...]]) -> Iterator[float | None]:
    editor = make_editor(model.id)
    for group in chains.values():
        own = [replace(chain, editor=model.id, settings=_taken(chain, model)) for chain in group]
        yield forecast(own, {model.id: editor}, {})[0].dollars


def _taken(chain: Chain, model: ModelEntry) -> Settings:
    """The study's settings, without a resolution that the model does not have."""
    wanted = chain.settings.resolution
    return chain.settings if wanted in (None, *model.resolutions) else replace(chain.settings, resolution=None)


def _rounded(dollars: float) -> str:
    return f"{dollars:,.0f}" if dollars >= 10 else f"{dollars:,.2f}"
