"""Writing what people answered into the run: scores and preferences as ratings, failures as labels.

Each answer has a row of its own, named after the plan, the rater, the showing and the question. Collecting again adds
nothing twice. If somebody has changed an answer since, the row has the latest one; the book keeps all of them.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import closing
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from convergebench.conductor.examining import record_command
from convergebench.conductor.rating_plan import KNOWN_QUESTION, RatingSettings
from convergebench.conductor.rating_setup import rater_name, read_settings
from convergebench.errors import ConvergeBenchError, StudyError
from convergebench.failures import load_detector
from convergebench.failures.people_labels import add_people
from convergebench.ids import content_hash
from convergebench.registry import names
from convergebench.sheets import as_csv
from convergebench.store.images import write_synced
from convergebench.store.labels import Label, read_labels, stamp
from convergebench.store.queries.rating import people_ratings
from convergebench.store.rating_book import GivenAnswer, RatingBook, Showing, book_names, book_path
from convergebench.store.run import Run, require_run
from convergebench.store.tables import RatingRow

LEVELS = {"structure-change": "object", "invented-edges": "sub-object", "invented-texture": "noise"}
"""Levels of failure modes that no detector of this version is named after; others: the whole image."""
SHEET = (
    *("plan", "rater", "position", "showing", "editor", "case", "step", "image", "question", "value", "seconds"),
    *("attention", "against_editor", "against_step", "against_image", "changes", "made"),
)
"""Columns of the exported file."""


@dataclass(frozen=True, slots=True)
class RatingsCollected:
    """What collecting did."""

    plans: tuple[str, ...]
    answered: int
    """Showings that somebody answered."""
    ratings: int
    """Rows that are new or have changed."""
    labels: int
    known: int
    """Rows that the run had already as they are."""


@dataclass(frozen=True, slots=True)
class RaterProgress:
    """How far one rater is."""

    plan: str
    rater: str
    answered: int
    planned: int
    cannot_say: int
    last: str | None
    """Time of the last answer."""


def collect_ratings(root: Path, plan: str | None = None) -> RatingsCollected:
    """Write every answer of one plan, or of all plans, into the run."""
    plans = _plans(root, plan)
    with Run.existing(root) as run:
        before = people_ratings(run.journal)
        rows, labels, answered = [], [], 0
        for name in plans:
            with closing(RatingBook.open(book_path(root, name), read_only=True)) as book:
                settings = read_settings(book)
                given = list(_given(book))
                answered += len(given)
                if settings.mode == "label":
                    labels += list(_labels(run, name, given))
                else:
                    rows += [row for one in given for row in _rows(book, settings, name, *one)]
        new = [row for row in rows if row.id not in before or _is_newer(row, before[row.id])]
        run.journal.commit_now(new)
        added = add_people(run, labels)
        if new or added:
            record_command(run)
    known = len(rows) - len(new) + len(labels) - len(added)
    return RatingsCollected(plans, answered, len(new), len(added), known)


def rating_progress(root: Path, plan: str | None = None) -> list[RaterProgress]:
    """How far every rater is; the server may be running."""
    found = []
    for name in _plans(root, plan):
        with closing(RatingBook.open(book_path(root, name), read_only=True)) as book:
            asked = read_settings(book).questions.keys()
            for number in book.raters():
                answers = list(book.answers(number).values())
                done = [one for one in answers if asked <= one.values.keys()]
                unsure = sum(all(value is None for value in one.values.values()) for one in done)
                last = max((one.made for one in answers), default=None)
                planned = len(book.showings(number))
                found.append(RaterProgress(name, rater_name(name, number), len(done), planned, unsure, last))
    return found


def export_ratings(root: Path, file: Path, plan: str | None = None) -> int:
    """Write the answers of one plan, or of all, as a CSV file; returns the number of its rows."""
    if file.is_dir() or file.suffix.lower() != ".csv":
        raise StudyError(f"--export {file}: name a file that ends in .csv")
    rows: list[dict[str, Any]] = []
    for name in _plans(root, plan):
        with closing(RatingBook.open(book_path(root, name), read_only=True)) as book:
            for number, showing, answer in _given(book):
                rows += [
                    _cells(name, number, showing, answer, question, value) for question, value in answer.values.items()
                ]
    try:
        write_synced(file, as_csv(SHEET, rows).encode())
    except OSError as error:
        raise StudyError(f"cannot write {file}: {error.strerror or error}") from error
    return len(rows)


def _plans(root: Path, plan: str | None) -> tuple[str, ...]:
    require_run(root)
    known = book_names(root)
    if plan is not None:
        book_path(root, plan)
    if not known or (plan is not None and plan not in known):
        there = f" (there are: {', '.join(known)})" if known else ""
        raise StudyError(f"{root} has no plan {plan or 'of ratings'}{there}; start one with: cbench rate {root}")
    return tuple(known) if plan is None else (plan,)


def _given(book: RatingBook) -> Iterator[tuple[int, Showing, GivenAnswer]]:
    for number in book.raters():
        answers = book.answers(number)
        for showing in book.showings(number):
            if showing.position in answers:
                yield number, showing, answers[showing.position]


def _rows(
    book: RatingBook, settings: RatingSettings, plan: str, number: int, showing: Showing, answer: GivenAnswer
) -> Iterator[RatingRow]:
    """One row per question; of an attention item only the question whose answer is known."""
    known = KNOWN_QUESTION[settings.mode]
    for question, value in answer.values.items():
        if showing.attention and question != known:
            continue
        key = [book.facts["identity"], number, showing.position, question]
        picture = showing.pictures[0]
        yield RatingRow(
            "r1:" + content_hash(key).removeprefix("d1:"),
            *(picture.editor, picture.case, picture.step, picture.image),
            question=question,
            value=value,
            rater=rater_name(plan, number),
            source="person",
            detail=json.dumps(_detail(plan, showing, answer), sort_keys=True),
            made=answer.made,
        )


def _detail(plan: str, showing: Showing, answer: GivenAnswer) -> dict[str, object]:
    against = [asdict(one) for one in showing.pictures[1:]]
    return {
        "plan": plan,
        "showing": showing.time,
        "seconds": round(answer.seconds, 3),
        "position": showing.position,
        **({"attention": dict(showing.attention)} if showing.attention else {}),
        **({"against": against[0]} if against else {}),
    }


def _is_newer(row: RatingRow, before: RatingRow) -> bool:
    return row.made > before.made and row != before


def _labels(run: Run, plan: str, given: list[tuple[int, Showing, GivenAnswer]]) -> Iterator[Label]:
    """What people see counts over what rules propose."""
    levels = {label.mode: label.level for label in read_labels(run.journal)}
    made = stamp(run.journal)
    for number, showing, answer in given:
        picture = showing.pictures[0]
        for mode, value in answer.values.items():
            if mode not in levels:
                levels[mode] = _level(mode)
            step = picture.step if value else None
            yield Label(
                *(picture.editor, picture.case, mode, levels[mode]),
                present=None if value is None else bool(value),
                step=step,
                last=None,
                shown=step,
                region=None,
                evidence=None,
                confidence=None,
                source="person",
                by=rater_name(plan, number),
                detail="cannot say" if value is None else "",
                made=made,
            )


def _level(mode: str) -> str:
    try:
        return load_detector(mode).facts.level if mode in names("failures") else LEVELS.get(mode, "image")
    except ConvergeBenchError:  # a plug-in that does not load here
        return LEVELS.get(mode, "image")


def _cells(
    plan: str, number: int, showing: Showing, answer: GivenAnswer, question: str, value: float | None
) -> dict[str, Any]:
    picture, against = showing.pictures[0], showing.pictures[1:]
    return {
        **{"plan": plan, "rater": rater_name(plan, number), "position": showing.position, "showing": showing.time},
        **asdict(picture),
        **{"question": question, "value": value, "seconds": round(answer.seconds, 3), "made": answer.made},
        "attention": " ".join(f"{name} {limit:g}" for name, limit in showing.attention.items()),
        **({f"against_{key}": cell for key, cell in asdict(against[0]).items() if key != "case"} if against else {}),
        "changes": answer.changes,
    }
