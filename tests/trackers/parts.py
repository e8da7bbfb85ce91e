"""Trackers for tests: one that remembers, and some that fail."""

from __future__ import annotations

from typing import ClassVar

from convergebench.trackers.base import TrackedResult, TrackedStart


class Remembering:
    """Keeps what it was told."""

    told: ClassVar[list[object]] = []

    def begin(self, start: TrackedStart) -> None:
        self.told.append(start)

    def log(self, result: TrackedResult) -> None:
        self.told.append(result)

    def end(self, status: str) -> None:
        self.told.append(status)


class FailsAtBegin(Remembering):
    def begin(self, start: TrackedStart) -> None:
        raise SystemExit(1)


class FailsAtLog(Remembering):
    def log(self, result: TrackedResult) -> None:
        raise RuntimeError("no network; the key was correct-horse-battery\nsecond line")


class FailsAtEnd(Remembering):
    def end(self, status: str) -> None:
        raise ConnectionError("gone")
