"""What `run` measures in a run that is there already: everything that the user's own study can answer for."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from convergebench.conductor.observer import Observer
from convergebench.engine.prepared import Prepared
from convergebench.errors import StudyError
from convergebench.measuring.measure import fingerprints
from convergebench.metrics import load_metric
from convergebench.metrics.functions import OwnFunctionMetric, facts_file
from convergebench.store.rubrics import is_file, is_function, keep, keep_facts, readable
from convergebench.store.run import Run


def keep_own(root: Path, metrics: Sequence[str]) -> None:
    """Keep, in a run, the rubrics that the user named as metrics, and what is known of the user's own functions."""
    keep(root, metrics)
    for name in metrics:
        metric = load_metric(name) if is_function(name) else None
        if isinstance(metric, OwnFunctionMetric):
            keep_facts(root, name, facts_file(metric))


def metrics_to_fill(run: Run, prepared: Prepared, observer: Observer) -> list[str]:
    """All metrics of the run, not only the study's: one added by `cbench measure` must not end half-way.

    A role that the study does not name is not asked: its metrics wait for `cbench measure`.
    """
    keep_own(run.root, prepared.metrics)
    filled: list[str] = []
    waiting: list[str] = []
    for key, identity in run.manifest.metrics.items():
        if is_function(key):
            filled += [key] if key in prepared.metrics else []
            continue
        if is_file(key) and not _is_readable(run, key):
            waiting.append(key.replace("\\", "/").rpartition("/")[2])
            continue
        name = readable(run.root, key)
        asks = load_metric(name).facts.asks
        if asks and not _answers(name, identity, prepared):
            waiting.append(load_metric(name).facts.name)
        else:
            filled.append(name)
    if waiting:
        observer.note(
            f"note: {', '.join(waiting)} needs a role that this study does not define; to measure it: "
            f"cbench measure {run.root} --roles FILE"
        )
    return filled


def _is_readable(run: Run, key: str) -> bool:
    try:
        readable(run.root, key)
    except StudyError:
        return False
    return True


def _answers(name: str, identity: str, prepared: Prepared) -> bool:
    """Whether the study's own roles are those that the run's values of this metric come from."""
    try:
        found = fingerprints([name], precision=prepared.precision, roles=prepared.roles)
    except StudyError:  # the study has no such role, or it cannot answer this question
        return False
    return found[name] == identity
