"""An export that was interrupted goes on: the same bytes in the end, and nothing that was finished is made again."""

from __future__ import annotations

import os
import shutil
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from convergebench.datasets.export import ExportOptions, ExportProgress, export
from convergebench.datasets.patches import PatchPlan
from convergebench.datasets.source import RunSource
from convergebench.datasets.splits import read_splits
from convergebench.errors import StudyError
from convergebench.store.tables import ImageRow
from tests.datasets.small_run import PICTURES

FORMS = ("banana100", "imagefolder", "parquet", "webdataset", "hf")
SMALL = 12_000
"""Bytes of a shard: a handful of pictures."""


class Stop(BaseException):
    """As Ctrl-C is."""


def until(number: int, error: type[BaseException] = Stop) -> Callable[[ExportProgress], None]:
    def observe(done: ExportProgress) -> None:
        if done.pictures == number:
            raise error

    return observe


def content(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.fixture
def reads(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Every picture that is read from the run, as it is read."""
    found: list[str] = []
    real = RunSource.read

    def read(self: RunSource, picture: ImageRow) -> bytes:
        found.append(picture.file)
        return real(self, picture)

    monkeypatch.setattr(RunSource, "read", read)
    return found


@pytest.mark.parametrize("form", FORMS)
def test_the_same_command_finishes_it_and_reads_only_what_is_missing(
    small_run: Path, tmp_path: Path, form: str, reads: list[str]
) -> None:
    options = ExportOptions(form, include_restricted=True, shard_bytes=SMALL)
    export(small_run, tmp_path / "set", options)
    whole = content(tmp_path / "set")
    shutil.rmtree(tmp_path / "set")
    with pytest.raises(Stop):
        export(small_run, tmp_path / "set", options, until(PICTURES - 6))
    assert not (tmp_path / "set").exists()
    reads.clear()
    export(small_run, tmp_path / "set", options)
    assert content(tmp_path / "set") == whole
    assert [path.name for path in tmp_path.iterdir()] == ["set"]
    assert 6 <= len(reads) <= 20, f"of {PICTURES} pictures, those of the last shard and those that never came"


@settings(max_examples=4, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    form=st.sampled_from(FORMS),
    stops=st.lists(st.integers(1, PICTURES), max_size=3),
    shard=st.sampled_from([1, SMALL, 10**9]),
    extra=st.booleans(),
)
def test_however_often_it_is_interrupted_the_bytes_are_the_same(
    small_run: Path, tmp_path_factory: pytest.TempPathFactory, form: str, stops: list[int], shard: int, extra: bool
) -> None:
    root = tmp_path_factory.mktemp("often")
    options = ExportOptions(form, include_restricted=True, shard_bytes=shard)
    if extra and form != "banana100":
        options = replace(options, splits=read_splits("0.4,0.3,0.3"), patches=PatchPlan(16, 2, 0))
    for stop in stops:
        with pytest.raises(Stop):
            export(small_run, root / "set", options, until(stop))
    export(small_run, root / "set", options)
    export(small_run, root / "plain", options)
    assert content(root / "set") == content(root / "plain")


KILLED = """
import os, signal, sys
from pathlib import Path
from convergebench.datasets.export import ExportOptions, export
def told(done):
    if done.pictures == 20:
        os.kill(os.getpid(), signal.SIGKILL)
options = ExportOptions(sys.argv[3], include_restricted=True, shard_bytes=12_000)
export(Path(sys.argv[1]), Path(sys.argv[2]), options, told)
"""


@pytest.mark.parametrize("form", ["imagefolder", "parquet", "webdataset"])
def test_a_killed_export_goes_on_too(small_run: Path, tmp_path: Path, form: str, reads: list[str]) -> None:
    out = tmp_path / "set"
    command = [sys.executable, "-c", KILLED, str(small_run), str(out), form]
    killed = subprocess.run(command, env=os.environ, timeout=60)
    assert killed.returncode == -signal.SIGKILL
    assert [path.name.startswith(".set.part-") for path in tmp_path.iterdir()] == [True]
    options = ExportOptions(form, include_restricted=True, shard_bytes=SMALL)
    export(small_run, out, options)
    assert list(tmp_path.iterdir()) == [out]
    assert len(reads) < PICTURES
    export(small_run, tmp_path / "plain", options)
    assert content(out) == content(tmp_path / "plain")


@pytest.mark.parametrize("form", ["imagefolder", "webdataset"])
def test_what_was_damaged_since_is_made_again(small_run: Path, tmp_path: Path, form: str) -> None:
    options = ExportOptions(form, include_restricted=True, shard_bytes=SMALL)
    with pytest.raises(Stop):
        export(small_run, tmp_path / "set", options, until(30))
    (left,) = tmp_path.iterdir()
    for path in left.rglob("*.png" if form == "imagefolder" else "*.tar"):
        path.write_bytes(b"\0" * path.stat().st_size)
    for path in left.glob("finished"):
        path.write_bytes(path.read_bytes() + b"half a line")
    export(small_run, tmp_path / "set", options)
    export(small_run, tmp_path / "plain", options)
    assert content(tmp_path / "set") == content(tmp_path / "plain")


def test_another_plan_or_another_run_starts_anew(small_run: Path, tmp_path: Path, reads: list[str]) -> None:
    run = shutil.copytree(small_run, tmp_path / "run")
    options = ExportOptions("webdataset", include_restricted=True, shard_bytes=SMALL)
    with pytest.raises(Stop):
        export(run, tmp_path / "set", options, until(40))
    reads.clear()
    with pytest.raises(Stop):
        export(run, tmp_path / "set", replace(options, shard_bytes=SMALL + 1), until(40))
    assert len(reads) >= 40, "other shards"
    with sqlite3.connect(run / "run.sqlite") as database:
        database.execute("update measurements set value = 0.25 where status = 'ok'")
    database.close()
    reads.clear()
    export(run, tmp_path / "set", replace(options, shard_bytes=SMALL + 1))
    assert len(reads) == PICTURES, "other measurements"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["run", "set"]


def test_a_key_that_was_not_known_before_starts_anew(
    small_run: Path, tmp_path: Path, reads: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Shards that are there were not searched for it."""
    options = ExportOptions("webdataset", include_restricted=True, shard_bytes=SMALL)
    with pytest.raises(Stop):
        export(small_run, tmp_path / "set", options, until(40))
    monkeypatch.setenv("SOME_API_KEY", "a-key-that-nobody-knew-0123456789")
    reads.clear()
    export(small_run, tmp_path / "set", options)
    assert len(reads) == PICTURES


def test_a_mistake_leaves_nothing_behind(small_run: Path, tmp_path: Path) -> None:
    with pytest.raises(StudyError):
        export(small_run, tmp_path / "set", ExportOptions("imagefolder"), until(20, StudyError))
    assert list(tmp_path.iterdir()) == []
