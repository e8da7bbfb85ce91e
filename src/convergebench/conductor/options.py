"""Circumstances of a command: they change how the work is done, never what its numbers mean."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from math import isfinite
from pathlib import Path
from typing import Any

from convergebench.backends.find import check_backend
from convergebench.errors import StudyError

PLOTS = ("png", "svg", "pdf")
"""Files of every plot."""
MOST_WORKERS = 1024
"""Processes for measuring; more than this is a slip of the keyboard."""


def _check(workers: object, max_cost: object) -> None:
    """Before anything is begun: a limit that is no number would never be exceeded."""
    whole = isinstance(workers, int) and not isinstance(workers, bool)
    if workers is not None and not (whole and 1 <= workers <= MOST_WORKERS):  # type: ignore[operator]
        raise StudyError(f"workers = {workers!r}: give a number from 1 to {MOST_WORKERS}, or None for all cores")
    amount = isinstance(max_cost, int | float) and not isinstance(max_cost, bool)
    if max_cost is not None and not (amount and isfinite(max_cost) and max_cost >= 0):  # type: ignore[arg-type,operator]
        raise StudyError(f"max_cost = {max_cost!r}: give a number of dollars, such as 5, or None for no limit")


def check_plots(kinds: Collection[str]) -> None:
    """Refuse kinds of files that plots are not written as."""
    for kind in kinds:
        if kind not in PLOTS:
            raise StudyError(f"plots: there is no format '{kind}'; give some of {', '.join(PLOTS)}")


@dataclass(frozen=True)
class MeasureOptions:
    """How measuring is done."""

    workers: int | None = None
    """Processes; None: as many as there are cores."""
    device: str = "auto"
    """Where networks run: auto, cpu, cuda, cuda:1."""
    precision: str | None = None
    """Of networks; None: as the study says."""
    max_cost: float | None = None
    roles: Mapping[str, Any] | None = None
    """Tables of roles that the user gives; they become part of the run."""
    trust_roles: bool = False
    """Whether served roles that are found in the run may be asked."""
    own_roles: Mapping[str, Any] = field(default_factory=dict)
    """Roles of the user's own study, where there is one."""

    def __post_init__(self) -> None:
        """Refuse what no command line would take."""
        _check(self.workers, self.max_cost)

    @property
    def given_roles(self) -> dict[str, Any]:
        """Roles that come from the user: those of the study, under those that were given with the command."""
        return {**self.own_roles, **(self.roles or {})}


@dataclass(frozen=True)
class RunOptions:
    """How a study is run."""

    max_cost: float | None = None
    """Dollars: stop before the call that would exceed it."""
    reuse: tuple[Path, ...] = ()
    """Other runs whose answers are taken where they fit."""
    workers: int | None = None
    device: str = "auto"
    report: bool = True
    """Whether pages are written when everything is measured."""
    plots: tuple[str, ...] = PLOTS
    track: str = ""
    """Tracker that is told too: tensorboard, mlflow, wandb; empty: that of the study, if it names one."""
    backend: str = "local"
    """Where editors and metrics are carried out: local or ray."""
    address: str = ""
    """Of the cluster; empty: that of this machine, or a new one of this machine alone."""
    store: str = ""
    """URL at which images and a backup of the journal are kept too; empty: where the run has them already."""
    cache_mb: int | None = None
    """With a store: most megabytes of images in the folder; None: as before."""

    def __post_init__(self) -> None:
        """Refuse what no command line would take."""
        _check(self.workers, self.max_cost)
        check_backend(self.backend, self.address)
        check_plots(self.plots)


@dataclass(frozen=True)
class AuditOptions:
    """What an audit does beside its constants."""

    metrics: tuple[str, ...] = ()
    """Empty: those of the runs' studies, else the whole set."""
    measure: bool = True
    """False: only what is measured already."""
    repeat: int | None = None
    """Pictures that are scored again; None: two, or none without measuring."""
    opinions: Path | None = None
    """CSV file of pictures that people rated."""
    out: Path | None = None
    title: str = ""
    constants: Mapping[str, Any] = field(default_factory=dict)
    """Constants in place of the study's; None: not given."""
