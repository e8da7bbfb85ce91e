"""Pictures that no study compares with anything, made ready to be rated by themselves.

Inside a round, inside a cycle and where a picture lies so that no wish turns it back, nothing is held against the
source, and so nothing is rated either. An audit of no-reference metrics wants a score of every picture: it asks for
these rows. Without an audit there are none.
"""

from __future__ import annotations

from convergebench.ids import comparison_id
from convergebench.store.journal import Row
from convergebench.store.run import Run

RATED = ("source", "return", "around", "alone")
"""Comparisons in which a picture is rated by itself as it is, those of an earlier audit among them."""

_UNRATED = f"""
  with pictures as (
    select p.editor, p."case", p.position, s.image from chain_steps p join steps s on s.id = p.step
    where s.image is not null
    union all
    select h.editor, h."case", 0, c.image from chains h join cases c on c.id = h."case")
  select i.editor, i."case", i.position, i.image, coalesce(max(k.round), i.position)
  from pictures i left join comparisons k on k.editor = i.editor and k."case" = i."case" and k.step = i.position
  group by i.editor, i."case", i.position, i.image
  having coalesce(sum(k.role in {RATED!r}), 0) = 0"""


def rate_every_picture(run: Run) -> int:
    """Add a comparison of the role `alone` for every picture that nothing rates; how many were added."""
    rows: list[Row] = []
    for editor, case, step, image, number in run.journal.rows(_UNRATED):
        # the step is part of the key: an editor may give the same picture twice in a chain
        identity = comparison_id(
            editor=editor, case=case, subject=f"{image}:{step}", reference=None, role="alone", lag=0
        )
        rows.append(("comparisons", (identity, editor, case, "alone", number, step, 0, image, None, None, None)))
    run.journal.commit_now(rows)
    return len(rows)
