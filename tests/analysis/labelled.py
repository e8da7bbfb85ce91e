"""Label frames for tests, as the store returns them."""

from __future__ import annotations

from typing import NamedTuple

import polars as pl

from convergebench.store.frames import LABELS


class LabelSpec(NamedTuple):
    """One label, with defaults for most fields."""

    present: bool | None
    step: int | None = None
    source: str = "rule"
    by: str = "tint@1"
    made: str = "1"
    case: str = "a/copy/0"
    mode: str = "tint"
    editor: str = "editor"
    detail: str = ""
    evidence: str | None = None


def labelled(*labels: LabelSpec) -> pl.DataFrame:
    """The frame `labels` of a run."""
    rows = [
        {
            **dict.fromkeys(LABELS),
            **one._asdict(),
            **{"id": str(place), "source_image": one.case.split("/")[0], "pair": one.case.split("/")[1]},
            **{"category": "replication", "replicate": 0, "level": "image", "shown": one.step},
        }
        for place, one in enumerate(labels)
    ]
    return pl.DataFrame(rows, schema=LABELS)
