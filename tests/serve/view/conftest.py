"""One small run for all tests of the viewer: two editors, two drawings, three rounds, measured and analysed."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from convergebench.conductor.options import RunOptions
from convergebench.conductor.reporting import analysed
from convergebench.conductor.running import plan
from convergebench.conductor.running import run as run_study
from convergebench.report.tables import write_tables
from convergebench.studies.spec import parse_spec
from tests.browser import chromium
from tests.restoration_run import sources
from tests.serve.view.drawn_runs import drawn_run
from tests.serve.view.site import ServedView

ROUNDS = 3
STUDY: dict[str, Any] = {
    "title": "Two editors",
    "study": "roundtrip",
    "editors": ["sim-jpeg", "sim-tint"],
    "edits": {"pairs": ["flip-horizontal"]},
    "roundtrip": {"rounds": ROUNDS},
    "measure": {"metrics": ["psnr", "ssim"]},
    "examine": {"detectors": []},
}


@pytest.fixture(scope="session")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("viewed") / "small"
    done = run_study(
        plan(parse_spec(STUDY), root, sources=[replace(one, kind="scene") for one in sources(2)]),
        RunOptions(report=False, workers=1),
    )
    assert done.statuses == {"finished": 4}
    write_tables(analysed(root), root / "tables")
    return root


@pytest.fixture
def runs(made: Path, tmp_path: Path) -> Path:
    """A folder with a copy of the run."""
    folder = tmp_path / "runs"
    shutil.copytree(made, folder / "small")
    return folder


@pytest.fixture(scope="session")
def served(made: Path) -> Iterator[ServedView]:
    """A server for tests that change nothing."""
    with ServedView(made.parent) as found:
        yield found


@pytest.fixture(scope="session")
def drawn(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """`drawn`: three editors, two pictures, three rounds, a report; `large`: one picture of 2100 pixels, one round."""
    found = tmp_path_factory.mktemp("runs")
    assert drawn_run(found / "drawn").statuses == {"finished": 4, "refused": 2}
    drawn_run(found / "large", count=1, rounds=1, side=2100, editors={"darker": 30}, metrics=[], report=False)
    return found


@pytest.fixture(scope="module")
def viewer(drawn: Path) -> Iterator[ServedView]:
    """The pages of these runs; nothing unexpected may happen while they are looked at."""
    with ServedView(drawn) as found:
        yield found
    assert found.told == []


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """One Chromium for the pages of a file; each page has a profile of its own."""
    with chromium() as found:
        yield found
