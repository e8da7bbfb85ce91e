"""A finished run as it might come from somebody else."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from convergebench.images.encode import encode_png
from tests.cli.received.parts import OUTSIDE, STRANGE, STUDY, typed
from tests.cli.test_own_rubric import RUBRIC


@pytest.fixture(scope="session")
def made(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A finished run, the study behind it, a module that can be imported and a rubric outside the run."""
    folder = tmp_path_factory.mktemp("received")
    pixels = np.random.default_rng(3).integers(0, 256, (6, 6, 3), np.uint8).repeat(16, 0).repeat(16, 1)
    (folder / "pictures" / "scene").mkdir(parents=True)
    (folder / "pictures" / "scene" / "a.png").write_bytes(encode_png(pixels))
    (folder / "study.toml").write_text(STUDY.format(suite=folder / "pictures"))
    (folder / OUTSIDE).mkdir()
    (folder / OUTSIDE / "mood.toml").write_text(RUBRIC)
    (folder / OUTSIDE / "private.png").write_bytes(encode_png(255 - pixels))
    (folder / f"{STRANGE}.py").write_text("thing = None\n")
    sys.path.append(str(folder))
    said = typed("run", folder / "study.toml", "--run", folder / "run", "--no-report")
    assert said.code == 0, said.err
    yield folder
    sys.path.remove(str(folder))


@pytest.fixture
def run(made: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(made / "run", tmp_path / "run"))
