"""Answering a step out of another run: its image is copied, its price is not paid again."""

from __future__ import annotations

from collections.abc import Sequence

from convergebench.engine.attempt import now
from convergebench.store.images import ImageStore
from convergebench.store.journal import Records, Row, StepRow

Lender = tuple[Records, ImageStore]
"""A run that may be asked."""


async def borrow(
    key: str, lenders: Sequence[Lender], *, images: ImageStore, editor: str, number: int
) -> tuple[StepRow, list[Row]] | None:
    """The step as another run has it, with the rows that make it this run's own; None if nobody has it.

    `number` is free among this run's attempts at the step: a call of its own that was killed stays on record.
    """
    for records, theirs in lenders:
        found = records.step(key)
        if found is None:
            continue
        (step,) = records.rows("select * from steps where id = ?", (key,))
        rows: list[Row] = []
        if found.image is not None:
            file, mime, width, height = records.image(found.image)
            data = await theirs.in_thread(theirs.read, file)
            await images.in_thread(images.put, data, mime)
            own = images.file_of(found.image, mime)
            rows.append(("images", (found.image, own, mime, width, height, len(data))))
        later: tuple[object, ...] = (None, 0)  # what was used and which draw it is: an older run does not say
        rows.append(("steps", (*step[:2], editor, *step[3:], *later[len(step) - 11 :])))
        model, raw = records.reply(key)
        origin = f"reused from {records.path.parent.name}"
        rows.append(("attempts", (key, number, editor, now(), 0.0, 0.0, "reused", origin, model, raw, 1, "")))
        return found, rows
    return None
