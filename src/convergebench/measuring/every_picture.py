"""Comparison rows for pictures that the study compares with nothing, so that no-reference metrics can rate them.

Inside a round or a cycle, or in an orientation that no operation undoes, a picture is not compared with the source and
so not rated. An audit of no-reference metrics needs a score of every picture: only then are these rows added.
"""

from __future__ import annotations

from convergebench.ids import comparison_id
from convergebench.store.queries.measuring import unrated_images
from convergebench.store.run import Run
from convergebench.store.tables import ComparisonRow

RATED = ("source", "return", "around", "alone")
"""Roles of comparisons whose subject no-reference metrics rate, including those of an earlier audit."""


def rate_every_picture(run: Run) -> int:
    """Add a comparison of the role `alone` for every unrated picture; returns how many."""
    rows = []
    for editor, case, step, image, number in unrated_images(run.journal, RATED):
        # the step is part of the key: an editor may return the same picture twice in a chain
        identity = comparison_id(
            editor=editor, case=case, subject=f"{image}:{step}", reference=None, role="alone", lag=0
        )
        rows.append(ComparisonRow(identity, editor, case, "alone", number, step, lag=0, subject=image))
    run.journal.commit_now(rows)
    return len(rows)
