"""Copying a step from another run, so that it is not paid for again."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

from convergebench.engine.attempt import now
from convergebench.store.images import ImageStore
from convergebench.store.records import Records
from convergebench.store.tables import AttemptRow, StepRow, TableRow

ReusableRun = tuple[Records, ImageStore]
"""A run that steps may be taken from."""


class CopiedStep(NamedTuple):
    """A step of another run as this run's own, with all rows that make it so."""

    step: StepRow
    rows: list[TableRow]


async def copy_step(
    key: str, runs: Sequence[ReusableRun], *, images: ImageStore, editor: str, number: int
) -> CopiedStep | None:
    """The step as the first of these runs has it, its image copied; None if none has it.

    `number` is unused among this run's attempts at the step: an interrupted call of its own stays on record.
    """
    for records, theirs in runs:
        found = records.step(key)
        if found is None:
            continue
        rows: list[TableRow] = []
        if found.image is not None:
            image = records.image_row(found.image)
            data = await theirs.in_thread(theirs.read, image.file)
            await images.in_thread(images.put, data, image.mime)
            rows.append(replace(image, file=images.file_of(found.image, image.mime), bytes=len(data)))
        step = replace(found, editor=editor)
        model, raw = records.reply(key)
        origin = f"reused from {records.path.parent.name}"
        attempt = AttemptRow(key, number, editor, now(), 0.0, 0.0, "reused", origin, model, raw)
        return CopiedStep(step, [*rows, step, attempt])
    return None
