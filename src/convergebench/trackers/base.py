"""What a tracker is told, and the trackers by name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from convergebench.errors import Prerequisite, StudyError
from convergebench.registry import suggest

BESIDE = "-tracking"
"""Trackers that write files keep them in a folder beside the run, with this at the end of its name."""


@dataclass(frozen=True)
class TrackedStart:
    """A run as it begins; without keys."""

    name: str
    folder: Path
    """For files of the tracker."""
    config: Mapping[str, Any]
    """The study, and the fingerprints of editors and metrics."""


@dataclass(frozen=True)
class TrackedResult:
    """What came out; without keys."""

    values: Mapping[str, float]
    """`score/EDITOR` and the like."""
    curves: Mapping[str, Sequence[tuple[int, float]]]
    """`METRIC/EDITOR` → (round, mean)."""
    texts: Mapping[str, str] = field(default_factory=dict)
    """The finding, the ranking as a table, the path of the report."""


class Tracker(Protocol):
    """One run in one tracker. It may raise whatever it likes: the run goes on without it."""

    def begin(self, start: TrackedStart) -> None:
        """Open the tracker's own run."""

    def log(self, result: TrackedResult) -> None:
        """Write the result; called at most once."""

    def end(self, status: str) -> None:
        """Close it: `finished`, or why it stopped. Called whenever `begin` was."""


class _Known(NamedTuple):
    target: str
    needs: str
    """Module that must be installed; the extra has the tracker's name."""


TABLE = {
    "tensorboard": _Known("convergebench.trackers.tensorboard:TensorBoard", "tensorboard"),
    "mlflow": _Known("convergebench.trackers.mlflow:MLflow", "mlflow"),
    "wandb": _Known("convergebench.trackers.wandb:WeightsAndBiases", "wandb"),
}


def load_tracker(name: str) -> Tracker:
    """The tracker of this name; one line if there is none, or if its package is not installed."""
    if name not in TABLE:
        raise StudyError(f"unknown tracker '{name}'{suggest(name, TABLE)} (there are: {', '.join(TABLE)})")
    known = TABLE[name]
    try:
        import_module(known.needs)
    except ImportError as error:
        raise Prerequisite(f'tracking with {name} needs {known.needs}: pip install "convergebench[{name}]"') from error
    module, _, attribute = known.target.partition(":")
    found: Tracker = getattr(import_module(module), attribute)()
    return found


def flat(config: Mapping[str, Any], before: str = "") -> dict[str, str]:
    """A nested table as `images.suite` → text, for trackers that take plain parameters."""
    found: dict[str, str] = {}
    for key, value in config.items():
        name = f"{before}.{key}" if before else str(key)
        if isinstance(value, Mapping):
            found |= flat(value, name)
        else:
            found[name] = str(value)
    return found
