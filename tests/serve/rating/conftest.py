"""One small run of three methods for all tests of this room; each test gets a copy of its own."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from convergebench.conductor.options import RunOptions
from convergebench.conductor.running import plan
from convergebench.conductor.running import run as run_study
from convergebench.studies.spec import parse_spec
from tests.report.chromium import start
from tests.restoration_run import InstantRestorer, sources

METHODS = {"instant": 0.5, "gentle": 0.2, "harsh": 3.0}


@pytest.fixture(scope="session")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Six spoilt pictures, four of them with a clean one, and what three methods made of them with two prompts."""
    root = tmp_path_factory.mktemp("restored") / "run"
    editors = {name: InstantRestorer(name, amount=amount) for name, amount in METHODS.items()}
    spec = parse_spec(
        {
            "study": "restoration",
            "editors": [{"name": name, "use": "sim-identity"} for name in editors],
            "restoration": {"degradations": ["motion-blur"], "per_degradation": 2, "prompts": ["LF3", "S1"]},
            "measure": {"metrics": []},
            "examine": {"detectors": []},
        }
    )
    done = run_study(plan(spec, root, editors=editors, sources=sources(4)), RunOptions(report=False, workers=1))
    assert done.statuses == {"finished": 36}
    return root


@pytest.fixture
def run(made: Path, tmp_path: Path) -> Path:
    shutil.copytree(made, tmp_path / "run")
    return tmp_path / "run"


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """Chromium, where it is installed."""
    yield from start()


@pytest.fixture(scope="module")
def second_browser() -> Iterator[Any]:
    """Another person's."""
    yield from start()
