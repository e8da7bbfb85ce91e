"""Adding people's ratings to a factory run: from CSV files, all of them or none, each answer once."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from convergebench.analysis.factory.rater_consistency import RaterConsistency, own_consistency
from convergebench.conductor.examining import record_command
from convergebench.conductor.factory_rating import factory_manifest, run_mark
from convergebench.conductor.factory_ratings_sheet import GivenRating, RatingKey, read_ratings
from convergebench.conductor.factory_sample import judged_edits
from convergebench.documents import check_document
from convergebench.ids import content_hash
from convergebench.store.frames import RunFrames
from convergebench.store.run import Run
from convergebench.store.tables import RatingRow
from convergebench.studies.factory_table import CRITERIA, FactoryTable, Weights

OVERALL = "score"
DERIVED = "weighted mean of the four criteria"


@dataclass(frozen=True)
class RatingsAdded:
    """What files of ratings added."""

    added: int
    """Answers, the overall scores that follow from them not counted."""
    known: int
    changed: int
    """Answers that differ from what the same person said of the same showing before; the first counts."""
    people: tuple[str, ...]
    consistency: tuple[RaterConsistency, ...]
    """Of everybody who ever rated this run and saw an edit twice."""


def add_ratings(root: Path, files: Sequence[Path]) -> RatingsAdded:
    """Add the ratings of these files; one that is there already is not added again, and none is ever changed."""
    with Run.existing(root) as run:
        manifest = factory_manifest(root)
        frames = RunFrames(root)
        try:
            edits, before = judged_edits(frames), frames.ratings()
        finally:
            frames.close()
        given = [rating for file in files for rating in read_ratings(file, run_mark(manifest), edits)]
        people = before.filter(pl.col("source") == "person")
        stored: dict[RatingKey, float | None] = {
            RatingKey(row["editor"], row["case"], row["step"], row["question"], row["rater"], row["made"]): row["value"]
            for row in people.iter_rows(named=True)
        }
        new: dict[RatingKey, GivenRating] = {}
        changed = 0
        for rating in given:
            if rating.key in stored:
                changed += stored[rating.key] != rating.value
            else:
                new[rating.key] = rating
                stored[rating.key] = rating.value
        weights = check_document(dict(manifest.spec.get("factory", {})), FactoryTable, where="[factory]").weights
        rows = [_row(rating) for rating in [*new.values(), *_overall(new.values(), stored, weights)]]
        if rows:
            run.journal.commit_now(rows)
            record_command(run)
    return RatingsAdded(
        len(new),
        len(given) - len(new) - changed,
        changed,
        tuple(sorted({rating.key.rater for rating in given})),
        own_consistency(_ratings(root)),
    )


def _overall(
    new: Iterable[GivenRating], stored: Mapping[RatingKey, float | None], weights: Weights
) -> Iterable[GivenRating]:
    """The score of each showing whose four criteria all have a value, weighted as the judge's are."""
    showings: dict[RatingKey, GivenRating] = {one.key._replace(question=OVERALL): one for one in new}
    for key, one in showings.items():
        values = {name: stored.get(key._replace(question=name)) for name in CRITERIA}
        known = {name: value for name, value in values.items() if value is not None}
        if len(known) == len(CRITERIA):
            yield GivenRating(key, one.image, weights.score(known))


def _row(rating: GivenRating) -> RatingRow:
    key = rating.key
    return RatingRow(
        "r1:" + content_hash(list(key)).removeprefix("d1:"),
        key.editor,
        key.case,
        key.step,
        rating.image,
        key.question,
        rating.value,
        key.rater,
        "person",
        DERIVED if key.question == OVERALL else "",
        key.made,
    )


def _ratings(root: Path) -> pl.DataFrame:
    frames = RunFrames(root)
    try:
        return frames.ratings()
    finally:
        frames.close()
