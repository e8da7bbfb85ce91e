"""TensorBoard: event files beside the run, `tensorboard --logdir RUN-tracking`."""

from __future__ import annotations

import json
import time
from typing import Any

from convergebench.trackers.base import TrackedResult, TrackedStart


class TensorBoard:
    """Scores at step 0, curves by round, texts for finding, ranking and configuration."""

    def begin(self, start: TrackedStart) -> None:
        """Open an event file."""
        from tensorboard.summary.writer.event_file_writer import EventFileWriter

        folder = start.folder / "tensorboard"
        folder.mkdir(parents=True, exist_ok=True)
        self._writer: Any = EventFileWriter(str(folder))
        self._text("config", f"```json\n{json.dumps(start.config, indent=1, ensure_ascii=False, default=str)}\n```")

    def log(self, result: TrackedResult) -> None:
        """Write every number and text."""
        for tag, value in result.values.items():
            self._scalar(tag, value, 0)
        for tag, points in result.curves.items():
            for step, value in points:
                self._scalar(tag, value, step)
        for tag, text in result.texts.items():
            self._text(tag, text)

    def end(self, status: str) -> None:
        """Close the file."""
        self._text("status", status)
        self._writer.flush()
        self._writer.close()

    def _scalar(self, tag: str, value: float, step: int) -> None:
        from tensorboard.plugins.scalar.summary_v2 import scalar_pb

        self._add(scalar_pb(tag, value), step)

    def _text(self, tag: str, text: str) -> None:
        from tensorboard.plugins.text.summary_v2 import text_pb

        self._add(text_pb(tag, text), 0)

    def _add(self, summary: Any, step: int) -> None:
        from tensorboard.compat.proto.event_pb2 import Event

        self._writer.add_event(Event(wall_time=time.time(), step=step, summary=summary))
