"""A judge's counts as labels: one more was asked for, was there one more?"""

from __future__ import annotations

import shutil
import sqlite3
from pathlib import Path
from typing import Any

import pytest

from convergebench.failures.examine import examine
from convergebench.failures.judge_labels import judge_labels
from convergebench.store.labels import read_labels, row_of, stamp
from convergebench.store.run import Run
from tests.measuring.brightening import brightened

CASE = "first/plus/0"


@pytest.fixture(scope="module")
def walked(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return brightened(tmp_path_factory.mktemp("walked") / "run")


@pytest.fixture
def root(walked: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(walked, tmp_path / "run"))


def counted(
    root: Path, *values: float | None, same: bool = True, operation: str = "add", by: str = "judge-count@1:served"
) -> None:
    """Counts of a judge at the steps of one chain, whose words are the `same` at every step or never."""
    connection = sqlite3.connect(root / "run.sqlite")
    connection.execute("update comparisons set operation = ? where role = 'step' and \"case\" = ?", (operation, CASE))
    for position in range(1, 7):
        connection.execute(
            "update steps set instruction = ? where id in "
            '(select step from chain_steps where "case" = ? and position = ?)',
            ("Add an apple" if same else f"Add fruit {position}", CASE, position),
        )
    for step, value in enumerate(values, start=1):
        connection.execute(
            "insert or ignore into measurements select id, 'judge-count', 'none', ?, ?, ?, '' from comparisons "
            "where role = 'step' and \"case\" = ? and step = ?",
            (by, value, "ok" if value is not None else "unparsable", CASE, step),
        )
    connection.commit()
    connection.close()


def judged(root: Path) -> list[tuple[Any, ...]]:
    with Run.create(root) as run:
        run.journal.commit_now([row_of(*labelled) for labelled in judge_labels(run, stamp(run.journal))])
        return [(one.present, one.step, one.detail) for one in read_labels(run.journal, "judge")]


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ((3, 4, 5, 6, 7, 8), (False, None, "")),
        ((3, 4, 4, 5, 6, 7), (True, 3, "one more was asked for; the count went from 4 to 4")),
        ((3, 4, 6, 7, 8, 9), (True, 3, "one more was asked for; the count went from 4 to 6")),
        ((0, 1, 2, 3, 4, 5), (True, 1, "one was asked for at step 1 and none is seen")),
        ((3, 4.33, 5, 6, 7, 8), (False, None, "")),
        ((3, None, 5, 6, 7, 8), (None, None, "no count at step 2")),
        ((3, 4, 5), (None, None, "no count at step 4, 5, 6")),
        ((3, None, 5, 5), (True, 4, "one more was asked for; the count went from 5 to 5")),
    ],
)
def test_a_judges_counts_must_grow_by_one(
    root: Path, values: tuple[float | None, ...], expected: tuple[bool | None, int | None, str]
) -> None:
    counted(root, *values)
    assert judged(root) == [expected]
    assert judged(root) == [expected], "and are not written twice"


def test_whoever_examines_counting_hears_the_judge_beside_the_rule(root: Path) -> None:
    counted(root, 3, 4, 4)
    with Run.create(root) as run:
        assert examine(run, ["tests.failures.looking:never"], workers=1).labels == 4
        done = examine(run, ["tests.failures.looking:counting"], workers=1)
        assert (done.labels, done.seen) == (5, 1)
        (label,) = read_labels(run.journal, "judge")
    assert (label.mode, label.level, label.by, label.confidence) == ("counting", "object", "judge-count@1:served", None)


def test_without_counts_no_judge_speaks(root: Path) -> None:
    assert judged(root) == []


def test_later_counts_are_a_later_word(root: Path) -> None:
    counted(root, 3, 4, 5)
    assert judged(root) == [(None, None, "no count at step 4, 5, 6")]
    counted(root, 3, 4, 5, 6, 7, 8)
    assert judged(root)[1:] == [(False, None, "")]


def test_words_that_change_ask_only_for_one_of_the_new_kind(root: Path) -> None:
    counted(root, 1, 1, 1, 1, 1, 1, same=False)
    assert judged(root) == [(False, None, "")]
    counted(root, 1, 1, 0, 1, 1, 1, same=False, by="judge-count@1:another")
    assert judged(root)[1:] == [(True, 3, "one was asked for at step 3 and none is seen")]


def test_a_run_that_asks_for_nothing_has_nothing_to_count(root: Path) -> None:
    counted(root, 3, 3, 3, operation="change")
    assert judged(root) == []
