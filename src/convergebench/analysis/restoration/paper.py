"""Numbers that the study of Nano Banana 2 as a restorer prints, as the claims have them."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any, NamedTuple

import polars as pl

from convergebench.claims.tables import PAPERS
from convergebench.edits.restoration_prompts import shipped_prompts

METRICS = {
    "psnr": "PSNR",
    "ssim": "SSIM",
    "lpips": "LPIPS",
    "musiq": "MUSIQ",
    "maniqa": "MANIQA",
    "clipiqa": "CLIP-IQA",
}
"""Our name of a metric → the paper's."""
CATEGORIES = {
    **{"small-face": "Small Faces", "hands-feet": "Hands/Feet", "text": "Text"},
    **{"motion-blur": "Motion Blur", "old-film": "Old Film", "surveillance": "Surveillance"},
}
"""Our kinds that its table 4 has."""


class PaperTest(NamedTuple):
    """A Friedman test as it is printed."""

    statistic: float
    p: float


def paper_prompt(row: str, metric: str) -> float | None:
    """Table 2: a prompt (`L1`) or a mean (`Avg(L)`, `Avg (L + LF)`)."""
    return _values("nb2_prompt_results", ("prompt",)).get((_plain(row),), {}).get(METRICS.get(metric, ""))


def paper_category(kind: str, editor: str, metric: str) -> float | None:
    """Table 4; only of the methods that it names."""
    key = (_plain(CATEGORIES.get(kind, "")), _plain(editor))
    return _values("nb2_categories", ("category", "method")).get(key, {}).get(METRICS.get(metric, ""))


def paper_method(editor: str, metric: str) -> float | None:
    """Table 5; only of the methods that it names."""
    return _values("nb2_overall", ("method",)).get((_plain(editor),), {}).get(METRICS.get(metric, ""))


@cache
def paper_tests() -> dict[tuple[str, str], PaperTest]:
    """Table 3: (prompt, our name of the metric) → its test of three repeats."""
    ours = {theirs: name for name, theirs in METRICS.items()}
    rows = pl.read_csv(PAPERS / "nb2_repeats.csv").iter_rows()
    return {(prompt, ours[metric]): PaperTest(statistic, p) for prompt, metric, statistic, p in rows}


def as_printed(prompts: Sequence[str], asked: Mapping[str, Mapping[str, Any]]) -> bool:
    """Whether all of these prompts were asked in the paper's words."""
    words = {one.id: one.words for one in shipped_prompts()}
    said = [list(asked.get(name, {}).get("instructions", [])) for name in prompts]
    return bool(said) and all(own[:1] == [words.get(name)] for name, own in zip(prompts, said, strict=True))


def whole_group(prompts: Sequence[str], asked: Mapping[str, Mapping[str, Any]]) -> bool:
    """Whether these are all prompts of their groups, in the paper's words."""
    groups = {one.group for one in shipped_prompts() if one.id in prompts}
    return as_printed(prompts, asked) and {one.id for one in shipped_prompts() if one.group in groups} == set(prompts)


@cache
def _values(table: str, keys: tuple[str, ...]) -> dict[tuple[str, ...], dict[str, float]]:
    rows = pl.read_csv(PAPERS / f"{table}.csv").to_dicts()
    return {
        tuple(_plain(row[key]) for key in keys): {name: row[name] for name in METRICS.values() if row[name] is not None}
        for row in rows
    }


def _plain(name: str) -> str:
    """Letters and digits only, and + between groups: `nano-banana-2` is `Nano Banana 2`."""
    return re.sub(r"[^a-z0-9+]", "", name.lower())
