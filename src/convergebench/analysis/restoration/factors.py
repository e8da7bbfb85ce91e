"""Does the prompt matter: length, the request for fidelity, and their interaction, within pictures.

Every picture is its own control: an effect is a difference of means of cells (short or long, with or without the
request) on the same picture, averaged over pictures. Test and interval are over photographs and belong to these
prompts: with three wordings to a cell, an effect of "length" may be that of one wording. `p_wordings` therefore takes
prompts as a sample too, by their spread within cells: it is small only if other wordings on other photographs should
show the effect.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
import polars as pl
from scipy.special import fdtrc

from convergebench.analysis.permutation import holm
from convergebench.analysis.restoration.pictures import PictureValues, finite, paired_mean, picture_values
from convergebench.analysis.restoration.result import frame
from convergebench.analysis.restoration.scope import RestorationScope

Cell = tuple[str, bool]
"""Length, and whether fidelity is asked for."""
SIDES = {"length": ("long", "short"), "fidelity": ("with", "without"), "interaction": ("", "")}
"""Effect → the side of a positive and of a negative difference."""


class PromptEffect(NamedTuple):
    """An effect as a weighted sum of the means of cells."""

    name: str
    weights: Mapping[Cell, float]
    note: str


def factor_table(scope: RestorationScope) -> pl.DataFrame:
    """The frame `factor_effects`, Holm over all metrics and effects of an editor."""
    rows: list[dict[str, object]] = []
    for editor in scope.editors:
        if editor not in scope.uninstructed:
            rows += _corrected(_rows(editor, scope), scope)
    return frame("factor_effects", rows)


def design_cells(prompts: list[str], scope: RestorationScope) -> dict[Cell, list[str]]:
    """The prompts of each cell; those that are not part of a design are left out."""
    cells: dict[Cell, list[str]] = {}
    for name in prompts:
        length, fidelity = (scope.prompts.get(name, {}).get(key) for key in ("length", "fidelity"))
        if length in ("short", "long") and isinstance(fidelity, bool):
            cells.setdefault((str(length), fidelity), []).append(name)
    return cells


def _rows(editor: str, scope: RestorationScope) -> list[dict[str, object]]:
    cells = design_cells(scope.prompts_of(editor), scope)
    effects = effects_of(cells)
    own = scope.restored.filter(pl.col("round") == 1, pl.col("editor") == editor)
    rows = []
    for metric in scope.metrics if effects else ():
        names = [name for members in cells.values() for name in members]
        values = picture_values(own, scope, metric=metric, by="prompt", names=names)
        if not values.pictures:
            continue
        for effect in effects:
            row = _effect_row(values, effect, cells, scope)
            rows.append({"editor": editor, "metric": metric, "effect": effect.name, **row})
    return rows


def _effect_row(
    values: PictureValues, effect: PromptEffect, cells: Mapping[Cell, list[str]], scope: RestorationScope
) -> dict[str, object]:
    used = {cell: names for cell, names in cells.items() if cell in effect.weights}
    means = {cell: np.mean([values.row(name) for name in names], axis=0) for cell, names in used.items()}
    differences = np.sum([effect.weights[cell] * means[cell] for cell in used], axis=0)
    found = paired_mean(differences, values.photographs, scope)
    error = found.spread**2 / found.n_sources if found.n_sources > 1 else 0.0
    known = ~np.isnan(differences)
    prompts = (
        {cell: [float(values.row(name)[known].mean()) for name in used[cell]] for cell in used} if known.any() else {}
    )
    return {
        **{"estimate": finite(found.difference), "low": finite(found.low), "high": finite(found.high)},
        "p": found.p if known.any() else None,
        "p_wordings": wordings_p(prompts, effect.weights, error=error, units=found.n_sources),
        **{"n_sources": found.n_sources, "n_cases": int(known.sum()), "n_missing": int((~known).sum())},
        "note": effect.note,
    }


def wordings_p(
    prompts: Mapping[Cell, list[float]], weights: Mapping[Cell, float], *, error: float = 0.0, units: int = 0
) -> float | None:
    """The p of an effect if prompts, too, are a sample; None with one prompt in every cell.

    `error` is the squared standard error over that many photographs; without it, only prompts are a sample. Both add
    up as in Clark's min F′ (1973), with Satterthwaite's degrees of freedom.
    """
    free = sum(len(values) - 1 for values in prompts.values())
    if free < 1:
        return None
    within = sum(float(((np.array(values) - np.mean(values)) ** 2).sum()) for values in prompts.values()) / free
    effect = sum(weights[cell] * float(np.mean(values)) for cell, values in prompts.items())
    wordings = within * sum(weights[cell] ** 2 / len(values) for cell, values in prompts.items())
    if wordings + error <= 0:
        return 1.0 if effect == 0 else 0.0
    degrees = (wordings + error) ** 2 / (wordings**2 / free + error**2 / max(units - 1, 1))
    return float(fdtrc(1, degrees, effect**2 / (wordings + error)))


def effects_of(cells: Mapping[Cell, list[str]]) -> list[PromptEffect]:
    """The effects that the cells allow; where some are missing, those of the level that has both sides."""
    found = []
    for name, pairs in (
        ("length", {asked: (("long", asked), ("short", asked)) for asked in (False, True)}),
        ("fidelity", {length: ((length, True), (length, False)) for length in ("short", "long")}),
    ):
        there = {level: pair for level, pair in pairs.items() if all(cell in cells for cell in pair)}
        if there:
            weights = {
                cell: side / len(there) for pair in there.values() for cell, side in zip(pair, (1, -1), strict=True)
            }
            found.append(PromptEffect(name, weights, "; ".join(_notes(there, weights, cells))))
    if len(cells) == 4:
        weights = {(length, asked): (1.0 if (length == "long") == asked else -1.0) for length, asked in cells}
        found.append(PromptEffect("interaction", weights, "; ".join(_notes({}, weights, cells))))
    return found


def _notes(
    levels: Mapping[bool | str, object], weights: Mapping[Cell, float], cells: Mapping[Cell, list[str]]
) -> list[str]:
    words = {False: "without a request for fidelity", True: "with a request for fidelity"}
    only = [f"{words.get(level, level) if isinstance(level, bool) else f'{level} prompts'} only" for level in levels]
    sizes = sorted({len(cells[cell]) for cell in weights})
    many = f"{sizes[0]} to {sizes[-1]}" if len(sizes) > 1 else f"{sizes[0]}"
    return [*(only if len(levels) == 1 else []), f"{many} prompt{'s' if sizes[-1] > 1 else ''} a cell"]


def _corrected(rows: list[dict[str, object]], scope: RestorationScope) -> list[dict[str, object]]:
    tested = [row for row in rows if isinstance(row["p"], float)]
    for row, p in zip(tested, holm([float(str(row["p"])) for row in tested]), strict=True):
        row.update({"p_holm": p, "significant": p < scope.level})
    for row in rows:
        row["better"] = _side(row, scope.sign(str(row["metric"]))) if row.get("significant") else ""
    return rows


def _side(row: Mapping[str, object], sign: int) -> str:
    higher, lower = SIDES[str(row["effect"])]
    return higher if sign * float(str(row["estimate"])) > 0 else lower
