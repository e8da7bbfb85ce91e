"""MLflow: the server of MLFLOW_TRACKING_URI, else a store beside the run."""

from __future__ import annotations

import os
import re
import time
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from convergebench.trackers.base import TrackedResult, TrackedStart, flat

EXPERIMENT = "convergebench"
LONGEST_VALUE = 500
AT_ONCE = 100
"""Parameters and metrics of one request; servers refuse more."""


class MLflow:
    """Parameters, metrics and tags of one MLflow run."""

    def begin(self, start: TrackedStart) -> None:
        """Open a run in the experiment `convergebench`."""
        from mlflow import MlflowClient
        from mlflow.entities import Param

        self._client: Any = MlflowClient(tracking_uri=os.environ.get("MLFLOW_TRACKING_URI") or _local(start.folder))
        known = self._client.get_experiment_by_name(EXPERIMENT)
        experiment = known.experiment_id if known else self._client.create_experiment(EXPERIMENT)
        self._run: str = self._client.create_run(experiment, run_name=start.name).info.run_id
        params = [Param(_name(name), text[:LONGEST_VALUE]) for name, text in flat(start.config).items()]
        for at in range(0, len(params), AT_ONCE):
            self._client.log_batch(self._run, params=params[at : at + AT_ONCE])

    def log(self, result: TrackedResult) -> None:
        """Write every number; texts become tags."""
        from mlflow.entities import Metric, RunTag

        now = int(1000 * time.time())
        metrics = [Metric(_name(tag), value, now, 0) for tag, value in result.values.items()]
        metrics += [
            Metric(_name(tag), value, now, step) for tag, points in result.curves.items() for step, value in points
        ]
        for at in range(0, len(metrics), AT_ONCE):
            self._client.log_batch(self._run, metrics=metrics[at : at + AT_ONCE])
        tags = [RunTag(tag, text[:5000]) for tag, text in result.texts.items()]
        self._client.log_batch(self._run, tags=tags)

    def end(self, status: str) -> None:
        """Close the run; one that was stopped is marked as killed."""
        self._client.set_terminated(self._run, "FINISHED" if status == "finished" else "KILLED")


def _name(text: str) -> str:
    """With the characters that MLflow takes in names."""
    return re.sub(r"[^A-Za-z0-9_. :/-]", "_", text)[:250]


def _local(folder: Path) -> str:
    """A store of its own beside the run; MLflow without a database package has plain files only."""
    folder.mkdir(parents=True, exist_ok=True)
    if find_spec("sqlalchemy") is not None and find_spec("alembic") is not None:
        return f"sqlite:///{(folder / 'mlflow.db').resolve()}"
    os.environ.setdefault("MLFLOW_ALLOW_FILE_STORE", "true")
    return (folder / "mlruns").resolve().as_uri()
