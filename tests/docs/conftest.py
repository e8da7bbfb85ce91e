"""A reader with a folder of their own, who leaves nothing behind."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.docs.shell import Reader, forget_plugins


@pytest.fixture
def reader(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Iterator[Reader]:
    # figures for print are most of the time of a small audit; tests/report/audit looks at all their kinds
    monkeypatch.setattr("convergebench.report.audit.plots.KINDS", ("svg",))
    loaded = set(sys.modules)
    yield Reader(tmp_path, monkeypatch, capsys)
    for name in set(sys.modules) - loaded:  # modules that a page wrote
        if str(getattr(sys.modules[name], "__file__", None) or "").startswith(str(tmp_path)):
            del sys.modules[name]
    monkeypatch.undo()
    forget_plugins()
