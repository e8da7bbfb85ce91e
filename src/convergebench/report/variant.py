"""Variants of the replicate study on the pages: texts of their families, their order, the first one."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import polars as pl

from convergebench.report.hero import PLAIN
from convergebench.report.wording import count

POOLED = "all"
"""The `pair` of rows that pool every variant, and the `source` of rows that pool every source."""
INDEPENDENT = "-independent"
"""Suffix of the label of a variant whose steps all start from the source."""

FAMILIES: dict[str, tuple[str, str]] = {
    "independent": (
        "Every step from the source",
        "The same wish, but each step starts from the untouched image again. What is left of the loss is how hard one "
        "step is; the rest is what piles up.",
    ),
    "session-mode": ("One session", "All earlier turns stay in sight, instead of a fresh session for every step."),
    "hyperparameter": ("Settings", "The same words with another seed, temperature or resolution."),
    "phrasing": ("Other words", "The same wish, phrased differently."),
    "denoise": ("Asked to denoise", "The copy, with an explicit wish to remove noise."),
    "multi-step": ("Mirrored and turned", "Held against the source, turned and mirrored as it should be by then."),
    "reconstruction": ("Taken apart and rebuilt", "Compared at the end of each cycle only."),
    "addition": ("Something added at every step", "Only what lies around the addition is compared."),
    "session": ("A person's wishes", "One wish after the other, as in an ordinary session."),
    "replication": ("Copies", "Nothing but a copy is asked for."),
}
"""Family → (heading, what it is), in the order of the page."""


def family_of(pair: str, category: str) -> str:
    """The family of a variant; independent variants form their own."""
    return "independent" if pair.endswith(INDEPENDENT) else category


def family_words(family: str) -> tuple[str, str]:
    """(heading, description); a family of a plug-in has its name as heading."""
    return FAMILIES.get(family, (family, ""))


def family_place(family: str) -> tuple[int, str]:
    """Sort key of a family on the page."""
    order = list(FAMILIES)
    return (order.index(family) if family in order else len(order), family)


def ordered(labels: Iterable[str]) -> list[str]:
    """Each label once: the plain copy first, then in the given order."""
    return sorted(dict.fromkeys(labels), key=lambda label: label != PLAIN)


def first_variant(frame: pl.DataFrame, *preferred: str) -> str | None:
    """The first of these variants that the frame has, else its own first; None if it has no row."""
    known = frame["pair"].unique(maintain_order=True).to_list() if frame.height else []
    return next((name for name in (*preferred, *known) if name in known), None)


def instruction_text(pairs: Mapping[str, Any], label: str) -> str:
    """The first instruction of a variant, and the number of the others."""
    entry = pairs.get(label)
    words = [str(one) for one in (entry.get("instructions") or [])] if isinstance(entry, Mapping) else []
    rest = f" (and {count(len(words) - 1, 'other wish', 'other wishes')})" if len(words) > 1 else ""
    return f"“{words[0]}”{rest}" if words else ""
