"""One small run for all tests of this room, and its report."""

from __future__ import annotations

from pathlib import Path

import pytest

from convergebench.report.input import ReportInput
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
