"""Copies that wear and additions that do not: which no-reference metric notices the damage and nothing else?"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated, ClassVar

from pydantic import Field

from convergebench.studies.replicate import GridRow, Replicate, ReplicateTable
from convergebench.types import Settings

GRID = (GridRow(variants=("replicate",)), GridRow(variants=("add-100-fruits",), runs=1, independent=True))
"""Every image copied again and again; objects added where the picture has room for them, step upon step and apart."""


class AuditStudyTable(ReplicateTable):
    """Which chains the audited metrics are shown."""

    steps: Annotated[int, Field(ge=1, le=1000)] = 20
    """Steps per chain. Flag: `--steps`."""
    grid: Annotated[tuple[GridRow, ...], Field(min_length=1)] = GRID
    """`[[audit.grid]]` tables. Unset: plain replication of every image, and fruits added to objects and scenes, each
    step upon step and from the untouched picture."""
    metrics: Annotated[tuple[str, ...], Field(min_length=1)] = ("audit",)
    """No-reference metrics, or sets of them, that are audited when editing is done; those that cannot run are listed
    with the reason."""


@dataclass(frozen=True)
class Audit(Replicate):
    """Walked and compared as `replicate`; what is asked of the pictures is another question."""

    Parameters: ClassVar[type[AuditStudyTable]] = AuditStudyTable

    table: AuditStudyTable = field(default_factory=AuditStudyTable)
    name: str = "audit"

    @classmethod
    def of(cls, parameters: ReplicateTable, settings: Settings) -> Audit:
        """The study of a study file."""
        assert isinstance(parameters, AuditStudyTable)
        return cls(parameters, settings)
