"""The gauntlet in short: some seeds, those that once failed, and proof that it notices what it is there for.

All of it: make gauntlet
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.gauntlet.mutations import MUTATIONS, Mutation
from tests.gauntlet.plan import DISK_FAULTS, NETWORK_FAULTS, plan_of
from tests.gauntlet.seeds import attempted
from tests.gauntlet.world import run_seed

SHORT = range(10_000, 10_020)
ONCE_FAILED = {
    9: "a full disk while the tables are made was a traceback",
    392: "a power cut took a new folder with the images in it",
    613: "a clock that jumps ends calls that were not sent",
    693: "the display left out a part's call that a time limit ended",
}


@pytest.mark.parametrize("seed", SHORT)
def test_whatever_happens_nothing_is_lost_doubled_or_uncounted(seed: int) -> None:
    run_seed(seed)


@pytest.mark.parametrize("seed", ONCE_FAILED)
def test_what_was_found_once_stays_mended(seed: int) -> None:
    run_seed(seed)


def test_a_seed_has_one_history_in_every_process() -> None:
    """Even where hashes of strings, and with them the order of sets, are others."""
    command = "from tests.gauntlet.world import run_seed; print(run_seed(10003).history)"
    root = Path(__file__).parents[2]
    histories = {
        subprocess.run(
            [sys.executable, "-c", command], env={**os.environ, "PYTHONHASHSEED": hashes}, cwd=root,
            capture_output=True, text=True, check=True,
        ).stdout
        for hashes in ("1", "2")
    }  # fmt: skip
    assert histories == {f"{run_seed(10003).history}\n"}


def test_every_fault_is_planned_somewhere() -> None:
    plans = [session for seed in range(400) for session in plan_of(seed).sessions]
    assert {fault for plan in plans for fault in plan.network.values()} == set(NETWORK_FAULTS)
    assert {fault for plan in plans for fault in plan.disk.values()} == set(DISK_FAULTS)


@pytest.mark.parametrize("mutation", MUTATIONS, ids=lambda one: one.__name__)
def test_a_fault_put_in_by_hand_is_noticed(mutation: Mutation) -> None:
    for seed in range(40):
        with mutation():
            _, _, wrong = attempted(seed)
        if wrong:
            return
    pytest.fail(f"{mutation.__name__}: nobody noticed")
