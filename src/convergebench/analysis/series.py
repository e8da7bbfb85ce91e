"""A series, the values of one curve: a metric, and what the image is compared with.

Tables, study files and pages write a series as one name: `ssim` (against the source, or the image alone),
`ssim-first` (against step 1), `rmse-lag2` (against two rounds before), `rmse-replicate` (against replicate 0),
`lpips-clean` (a role of a study's own). Only this module builds and parses such names.
"""

from __future__ import annotations

import re
from collections.abc import Container, Mapping
from typing import NamedTuple, TypeVar

import polars as pl

F = TypeVar("F")

UNNAMED_ROLES = ("source", "return", "around", "step", "forward", "backward")
"""Roles whose series has the metric's name: a step has at most one of these per metric."""
_ENDING = re.compile(r"(?P<metric>.+)-(?:(?P<role>first|replicate)|lag(?P<lag>\d+))")


class Series(NamedTuple):
    """A metric and what it compares with; `role` is empty for `UNNAMED_ROLES`."""

    metric: str
    role: str = ""
    lag: int = 0

    @property
    def name(self) -> str:
        """As written in tables and study files."""
        if self.role == "lag":
            return f"{self.metric}-lag{self.lag}"
        return f"{self.metric}-{self.role}" if self.role else self.metric

    @property
    def is_against_first(self) -> bool:
        """Whether step 1 is the reference, not the source."""
        return self.role == "first"


def parse_series(name: str, metrics: Container[str] = ()) -> Series:
    """Parse a name. Names in `metrics` are metrics even if they end like a series."""
    if name in metrics:
        return Series(name)
    found = _ENDING.fullmatch(name)
    if found is not None:
        role = found["role"] or "lag"
        return Series(found["metric"], role, int(found["lag"] or 0))
    metric, _, role = name.rpartition("-")
    return Series(metric, role) if metric in metrics else Series(name)


def against_first(metric: str) -> str:
    """The name of a metric's values against step 1."""
    return Series(metric, "first").name


def without_first(name: str) -> str:
    """`ssim` for `ssim-first`; other names unchanged."""
    series = parse_series(name)
    return series.metric if series.is_against_first else name


def facts_of_series(name: str, facts: Mapping[str, F]) -> F | None:
    """The facts of the metric of a series."""
    return facts.get(name) or facts.get(parse_series(name, facts).metric)


def named_series(measurements: pl.DataFrame) -> pl.DataFrame:
    """Measurements with series names in place of `metric` and `lag`, sorted by them."""
    role, lag = pl.col("role"), pl.col("lag")
    ending = (
        pl.when(role == "lag").then(pl.format("-lag{}", lag))
        .when(role.is_in(UNNAMED_ROLES)).then(pl.lit(""))
        .otherwise(pl.format("-{}", role))
    )  # fmt: skip
    named = measurements.with_columns(metric=pl.col("metric") + ending).drop("lag")
    return named.sort("editor", "case", "step", "metric", "role", maintain_order=True)
