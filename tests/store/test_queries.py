"""What other rooms ask of a journal, on rows whose answer can be read off."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from convergebench.store.journal import Journal
from convergebench.store.queries import examining, exporting, measuring
from convergebench.store.tables import (
    AttemptRow,
    CaseRow,
    ChainStatusRow,
    ChainStepRow,
    ComparisonRow,
    ImageRow,
    MeasurementRow,
    StepRow,
    TableRow,
)

EDITOR = "e"
SIZES = {"source": (8, 8), "one": (8, 6), "two": (4, 9)}


def chain(case: str, replicate: int, *answers: str | None, status: str = "finished") -> Iterator[TableRow]:
    """A case with one step per answer: the image it gave, or None for a refusal."""
    yield CaseRow(case, "cup", "source", "object", "turn", "geometric", replicate)
    yield ChainStatusRow(EDITOR, case, "plan", status, "", len(answers), len(answers))
    for number, image in enumerate(answers, start=1):
        key = f"s1:{case}{number}"
        yield StepRow(key, "source", EDITOR, f"words {number}", "{}", 7, replicate, "ok" if image else "refused", image)
        yield ChainStepRow(EDITOR, case, number, key)


def compared(key: str, case: str, role: str, step: int, subject: str, **more: str) -> ComparisonRow:
    return ComparisonRow(key, EDITOR, case, role, step, step, lag=0, subject=subject, **more)


@pytest.fixture
def journal(tmp_path: Path) -> Iterator[Journal]:
    opened = Journal(tmp_path / "run.sqlite")
    opened.commit_now(ImageRow(name, f"images/{name}", "image/png", *size, 1) for name, size in SIZES.items())
    opened.commit_now([*chain("a", 0, "one", "two"), *chain("b", 1, "two", None)])
    yield opened
    opened.close()


def test_only_steps_with_an_image_are_examined(journal: Journal) -> None:
    found = [(row.case, row.position, row.image, row.instruction) for row in examining.chain_steps(journal)]
    assert found == [("a", 1, "one", "words 1"), ("a", 2, "two", "words 2"), ("b", 1, "two", "words 1")]


def test_images_are_counted_and_the_shortest_side_is_found(journal: Journal) -> None:
    assert exporting.image_counts(journal) == {(EDITOR, "a"): 2, (EDITOR, "b"): 1}
    assert exporting.smallest_sizes(journal) == {(EDITOR, "a"): (4, 9), (EDITOR, "b"): (4, 9)}


def test_steps_of_a_chain_have_their_images_and_what_they_cost(journal: Journal) -> None:
    journal.commit_now(
        AttemptRow("s1:b1", number, EDITOR, "now", seconds=1.0, dollars=0.5, outcome="ok") for number in (1, 2)
    )
    one, two = exporting.steps(journal, EDITOR, "b")
    assert (one.position, one.picture, one.dollars, one.attempts) == (1, journal.image_row("two"), 1.0, 2)
    assert (two.position, two.picture, two.dollars, two.attempts) == (2, None, None, 0)


def test_rounds_of_later_replicates_stand_beside_those_of_the_first(journal: Journal) -> None:
    rows = [compared(f"m1:{case}", case, "return", 1, image) for case, image in (("a", "one"), ("b", "two"))]
    journal.commit_now([*rows, compared("m1:late", "b", "return", 2, "one")])
    assert measuring.replicate_rounds(journal) == [measuring.ReplicateRound(EDITOR, "b", 1, 1, "two", "one")]


def test_images_of_another_size_are_counted_once_each_and_only_where_they_return(journal: Journal) -> None:
    roles = {"m1:r": ("return", 1), "m1:s": ("around", 2), "m1:t": ("step", 2)}
    journal.commit_now(compared(key, "a", role, step, "two") for key, (role, step) in roles.items())
    journal.commit_now(
        MeasurementRow(key, metric, align, "x", None, "size")
        for key in roles for metric in ("ssim", "rmse") for align in ("strict", "fit")
    )  # fmt: skip
    assert measuring.images_of_other_size(journal) == 2
    assert measuring.measured_metrics(journal) == {"ssim", "rmse"}
    assert measuring.measured_comparisons(journal, "ssim", "strict", "x") == set(roles)
    assert measuring.measured_comparisons(journal, "ssim", "strict", "another") == set()


def test_a_backward_edit_is_asked_about_once_with_the_words_that_it_undoes(journal: Journal) -> None:
    """Two forward edits of a round may have given the same image."""
    journal.commit_now(
        [
            ComparisonRow("m1:f", EDITOR, "a", "forward", 1, 1, lag=0, subject="one", reference="source"),
            ComparisonRow("m1:g", EDITOR, "a", "forward", 1, 2, lag=0, subject="one", reference="source"),
            ComparisonRow("m1:b", EDITOR, "a", "backward", 1, 2, lag=0, subject="two", reference="source", via="one"),
        ]
    )
    found = {row.id: (row.instruction, row.forward) for row in measuring.comparisons_with_words(journal)}
    assert found == {"m1:f": ("words 1", None), "m1:g": ("words 2", None), "m1:b": ("words 2", "words 1")}


def test_every_image_that_nobody_rates_is_found(journal: Journal) -> None:
    journal.commit_now([compared("m1:r", "a", "return", 2, "two"), compared("m1:s", "a", "step", 1, "one")])
    found = [(row.case, row.position, row.image) for row in measuring.unrated_images(journal, ("source", "return"))]
    assert sorted(found) == [("a", 0, "source"), ("a", 1, "one"), ("b", 0, "source"), ("b", 1, "two")]


def test_the_last_image_and_the_source_are_known(journal: Journal) -> None:
    assert [(row.case, row.position, file) for row, file in measuring.last_images(journal)] == [
        ("a", 2, "images/two"),
        ("b", 1, "images/two"),
    ]
    assert measuring.source_images(journal) == {"cup": journal.image_row("source")}


def test_what_answered_a_step_is_its_last_good_call_and_no_part_of_an_editor(journal: Journal) -> None:
    def called(number: int, outcome: str, raw: str, part: str = "") -> AttemptRow:
        row = AttemptRow("s1:a1", number, EDITOR, "now", seconds=1.0, dollars=0.5, outcome=outcome)
        return replace(row, model=f"m{number}", raw=raw, part=part)

    journal.commit_now([called(1, "transient", "no"), called(2, "ok", "first"), called(3, "ok", "second")])
    journal.commit_now([called(4, "ok", "a part", part="planner"), called(5, "refused", "never")])
    assert journal.reply("s1:a1") == ("m3", "second")
    assert journal.reply("s1:a2") == (None, None)
    assert (journal.attempts("s1:a1"), journal.last_attempt("s1:a1")) == (4, 5)
    assert (journal.attempts("s1:a2"), journal.last_attempt("s1:a2")) == (0, 0)
    assert journal.was_refused("s1:a1")
    journal.commit_now([replace(called(1, "ok", "fine"), step="s1:a2")])
    assert not journal.was_refused("s1:a2")
