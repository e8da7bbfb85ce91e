"""What `cbench run` measures in a run that is there already: everything that the user's own study can answer for."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from convergebench.engine.session import Prepared
    from convergebench.store.run import Run


def metrics_to_fill(run: Run, prepared: Prepared) -> list[str]:
    """All metrics of the run, not only the study's: one added by `cbench measure` must not end half-way.

    But nobody is asked whom the study does not name: a role that stands in the run alone waits for `cbench measure`.
    """
    from convergebench.cli.display import say_beside
    from convergebench.metrics import load_metric
    from convergebench.store.rubrics import is_file, keep, readable

    keep(run.root, prepared.metrics)
    filled: list[str] = []
    waiting: list[str] = []
    for key, identity in run.manifest.metrics.items():
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
        say_beside(
            f"note: {', '.join(waiting)} would ask somebody whom this study does not name; to fill it in: "
            f"cbench measure {run.root} --roles FILE"
        )
    return filled


def _is_readable(run: Run, key: str) -> bool:
    from convergebench.errors import StudyError
    from convergebench.store.rubrics import readable

    try:
        readable(run.root, key)
    except StudyError:
        return False
    return True


def _answers(name: str, identity: str, prepared: Prepared) -> bool:
    """Whether the study's own roles are those that the run's values of this metric come from."""
    from convergebench.engine.measure import fingerprints
    from convergebench.errors import StudyError

    try:
        found = fingerprints([name], precision=prepared.precision, roles=prepared.roles)
    except StudyError:  # the study has no such role, or it cannot answer this question
        return False
    return found[name] == identity
