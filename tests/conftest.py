"""What every test finds: weights beside the checkout, where there are any, and one thread per process."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

BESIDE = Path(__file__).resolve().parents[2] / "shared" / "weights"

if BESIDE.is_dir():
    os.environ.setdefault("CONVERGEBENCH_WEIGHTS", str(BESIDE))

# names of variables that tests make up for servers of their own; without this list no key is read from them
os.environ.setdefault("CONVERGEBENCH_KEYS", "A_KEY,JUDGE_KEY,MY_KEY,MY_SERVER_KEY,WEBUI_LOGIN")

# the files of plots are most of the time of a small report; tests that are about them ask for them
os.environ.setdefault("CONVERGEBENCH_PLOTS", "none")

# every core has a test process already; threads of theirs would only wait for each other (half of the time was theirs)
os.environ.setdefault("OMP_NUM_THREADS", "1")


@pytest.fixture(autouse=True)
def no_keys_of_other_tests(monkeypatch: pytest.MonkeyPatch) -> None:
    """A key that one test used must not be blotted out in the texts of the next."""
    monkeypatch.setattr("convergebench.redaction._remembered", set())
