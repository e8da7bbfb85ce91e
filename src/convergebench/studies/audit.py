"""Copies that degrade and additions that do not: which no-reference metric detects the damage and nothing else?"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated, ClassVar

from pydantic import Field

from convergebench.studies.replicate import GridRow, Replicate, ReplicateTable

GRID = (GridRow(variants=("replicate",)), GridRow(variants=("add-100-fruits",), runs=1, independent=True))
"""Repeated copies of every image; objects added one after another, and each to the untouched picture."""


class AuditStudyTable(ReplicateTable):
    """Which chains the metrics are audited on."""

    steps: Annotated[int, Field(ge=1, le=1000)] = 20
    """Steps per chain. Flag: `--steps`."""
    grid: Annotated[tuple[GridRow, ...], Field(min_length=1)] = GRID
    """`[[audit.grid]]` tables. Unset: plain replication of every image, and fruits added to objects and scenes, both
    step by step and always from the untouched image."""
    metrics: Annotated[tuple[str, ...], Field(min_length=1)] = ("audit",)
    """No-reference metrics or metric sets to audit when editing is done; those that cannot run are listed with the
    reason."""


@dataclass(frozen=True)
class Audit(Replicate):
    """Edits and compares as `replicate`; afterwards no-reference metrics are audited."""

    Parameters: ClassVar[type[AuditStudyTable]] = AuditStudyTable
    stages: ClassVar[tuple[str, ...]] = ("measure", "examine", "audit")

    table: AuditStudyTable = field(default_factory=AuditStudyTable)
    name: str = "audit"
