"""Every reader of outside bytes, over its seeds, its past faults and some mutations: a result or one line."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator

import pytest

from convergebench.editors.providers import download
from convergebench.errors import StudyError
from convergebench.wire import poll
from tests.fuzz import target as limits
from tests.fuzz.found import FOUND
from tests.fuzz.mutations import mutations
from tests.fuzz.table import all_names, find, targets
from tests.fuzz.target import FuzzTarget, ReaderFault, check

NAMES = list(all_names())
NUMBER, SHARE = 120, 0.08
"""Most mutations of a target, and processor seconds after which no more are tried."""

pytestmark = pytest.mark.filterwarnings("ignore")  # of Pillow about damaged files; the command hides them


@pytest.fixture(autouse=True, scope="module")
def _as_before() -> Iterator[None]:
    """Targets of providers set keys and shorten pauses."""
    environment, pauses, first = dict(os.environ), download.PAUSES, poll.FIRST
    yield
    os.environ.clear()
    os.environ.update(environment)
    download.PAUSES, poll.FIRST = pauses, first


@pytest.mark.parametrize(("module", "name"), NAMES, ids=[name for _, name in NAMES])
def test_whatever_comes_in_is_read_or_told_in_one_line(module: str, name: str) -> None:
    target = targets(module)[name]
    seeds = list(target.seeds())
    assert check(target, seeds[0]) == "accepted", "the target does not reach its reader"
    for data in (*seeds[1:], *(make(seeds[0]) for make in FOUND.get(name, ()))):
        check(target, data)
    end = time.process_time() + SHARE
    for data in mutations(seeds, NUMBER):
        check(target, data)
        if time.process_time() > end:
            break


def test_past_faults_are_of_targets_that_there_are() -> None:
    for name in FOUND:
        find(name)


@pytest.mark.parametrize(
    ("read", "told"),
    [
        (lambda data: {}[data], "KeyError"),
        (lambda data: (_ for _ in ()).throw(StudyError("two\nlines")), "not one line"),
        (lambda data: len(b"x" * (300 << 20)), "MiB"),
        (lambda data: sum(i * i for i in range(2 * 10**6)), "s for"),
        (lambda data: (_ for _ in ()).throw(SystemExit(1)), "SystemExit"),
    ],
)
def test_a_fault_of_a_reader_is_seen(read: object, told: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "SECONDS", 0.02 if told == "s for" else 60)
    monkeypatch.setattr(limits, "BYTES", 40 << 20)
    with pytest.raises(ReaderFault, match=told):
        check(FuzzTarget(read, lambda: [b""]), b"")  # type: ignore[arg-type]


def test_mutations_are_the_same_every_time_and_differ_from_their_seeds() -> None:
    first, again = (list(mutations([b"abc" * 20, b"{}"], 200)) for _ in range(2))
    assert first == again
    assert len(set(first)) > 150
