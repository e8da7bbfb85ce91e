"""One small run for all tests of this room, and its report."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from convergebench.report.input import ReportInput
from tests.report.chromium import start
from tests.report.copies import make_copies
from tests.report.synthetic import make_run


@pytest.fixture(scope="session")
def given(tmp_path_factory: pytest.TempPathFactory) -> ReportInput:
    """Four simulated editors, four sources, five rounds; one chain refused, one value of each editor missing."""
    return make_run(tmp_path_factory.mktemp("run"), sources=4)


@pytest.fixture(scope="session")
def report(given: ReportInput) -> Path:
    """The folder of that run's report."""
    from convergebench.report.html import write_report

    return write_report(given, given.run / "report").parent


@pytest.fixture(scope="session")
def copies(tmp_path_factory: pytest.TempPathFactory) -> ReportInput:
    """A replicate run: two simulated editors, three images, five variants, six steps; one chain refused."""
    return make_copies(tmp_path_factory.mktemp("copies"))


@pytest.fixture(scope="session")
def copied(copies: ReportInput) -> Path:
    """The folder of that run's report."""
    from convergebench.report.html import write_report

    return write_report(copies, copies.run / "report").parent


@pytest.fixture(scope="session")
def restored(tmp_path_factory: pytest.TempPathFactory) -> ReportInput:
    """A restoration run: three editors, five degraded pictures, five prompts, three repeats, two rounds."""
    from tests.report.restored import make_restored

    return make_restored(tmp_path_factory.mktemp("restored") / "run")


@pytest.fixture(scope="session")
def restored_report(restored: ReportInput) -> Path:
    """The folder of that run's report."""
    from convergebench.report.html import write_report

    return write_report(restored, restored.run / "report").parent


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """Chromium, where it is installed."""
    yield from start()
