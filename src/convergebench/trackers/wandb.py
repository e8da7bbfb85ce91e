"""Weights & Biases: to its server, or with WANDB_MODE=offline into files beside the run."""

from __future__ import annotations

import json
from typing import Any

from convergebench.trackers.base import TrackedResult, TrackedStart

PROJECT = "convergebench"


class WeightsAndBiases:
    """Configuration, curves by round and a summary in one W&B run."""

    def begin(self, start: TrackedStart) -> None:
        """Open a run in the project `convergebench`, or in that of WANDB_PROJECT."""
        import os

        import wandb

        start.folder.mkdir(parents=True, exist_ok=True)
        self._run: Any = wandb.init(
            project=os.environ.get("WANDB_PROJECT") or PROJECT,
            name=start.name,
            dir=str(start.folder),
            config=json.loads(json.dumps(start.config, default=str)),
            settings=wandb.Settings(silent=True, console="off", disable_git=True, save_code=False, x_disable_meta=True),
        )

    def log(self, result: TrackedResult) -> None:
        """Curves against the round, everything else as the summary."""
        self._run.define_metric("round")
        by_round: dict[int, dict[str, float]] = {}
        for tag, points in result.curves.items():
            self._run.define_metric(tag, step_metric="round")
            for step, value in points:
                by_round.setdefault(step, {})[tag] = value
        for step in sorted(by_round):
            self._run.log({"round": step, **by_round[step]})
        self._run.summary.update({**result.values, **result.texts})

    def end(self, status: str) -> None:
        """Close the run."""
        self._run.summary.update({"status": status})
        self._run.finish(exit_code=0 if status == "finished" else 1)
