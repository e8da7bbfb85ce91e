"""What every test finds: weights beside the checkout, where there are any, and one thread per process."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.memory import give_back

BESIDE = Path(__file__).resolve().parents[2] / "shared" / "weights"

if BESIDE.is_dir():
    os.environ.setdefault("CONVERGEBENCH_WEIGHTS", str(BESIDE))

# names of variables that tests make up for servers of their own; without this list no key is read from them
os.environ.setdefault("CONVERGEBENCH_KEYS", "A_KEY,JUDGE_KEY,MY_KEY,MY_SERVER_KEY,WEBUI_LOGIN")

# the files of plots are most of the time of a small report; tests that are about them ask for them
os.environ.setdefault("CONVERGEBENCH_PLOTS", "none")

# every core has a test process already; threads of theirs would only wait for each other (half of the time was theirs)
os.environ.setdefault("OMP_NUM_THREADS", "1")

# where a library takes threads all the same, those that wait must not keep the core that the others need
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")

# where bytecode files are forbidden, every process that a test starts would compile the whole package again
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False

# the store waits for the disk at every commit, which was most of the wall time of many tests; memory answers at once
SHARED = "/dev/shm"
if (
    os.access(SHARED, os.W_OK)
    and shutil.disk_usage(SHARED).free > 8 << 30
    and not os.statvfs(SHARED).f_flag & os.ST_NOEXEC
):
    os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", SHARED)


@pytest.fixture(autouse=True)
def no_keys_of_other_tests(monkeypatch: pytest.MonkeyPatch) -> None:
    """A key that one test used must not be blotted out in the texts of the next."""
    monkeypatch.setattr("convergebench.redaction._remembered", set())


@pytest.fixture(autouse=True, scope="module")
def networks_do_not_pile_up() -> Iterator[None]:
    """Networks stay loaded for the next call; a process that runs hundreds of modules would keep them all."""
    yield
    give_back()
