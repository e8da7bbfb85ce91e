"""How many cases get through each stage, and where the others are lost."""

from __future__ import annotations

from typing import NamedTuple

import polars as pl

from convergebench.analysis.factory.result import frame

EDITS = "edits"
SESSIONS = "sessions"


def funnel_table(edits: pl.DataFrame, sessions: pl.DataFrame, most_attempts: int) -> pl.DataFrame:
    """The frame `funnel`, for each editor: first turns, then sessions."""
    rows = []
    for editor in edits["editor"].unique().sort():
        first = edits.filter(pl.col("editor") == editor, pl.col("turn") == 1)
        later = edits.filter(pl.col("editor") == editor, pl.col("turn") > 1)
        rows += _rows(editor, EDITS, _edit_stages(first, most_attempts))
        own = sessions.filter(pl.col("editor") == editor)
        if own.height:
            rows += _rows(editor, SESSIONS, _session_stages(own, later))
    return frame("funnel", rows)


class StageCount(NamedTuple):
    """One row of a funnel."""

    name: str
    n: int
    aside: bool
    """Whether it is no stage but a remark or a way out."""
    what: str
    whole: int | None = None
    """What its share is of, if not of the first stage."""


def _edit_stages(first: pl.DataFrame, most_attempts: int) -> list[StageCount]:
    written = first.filter(pl.col("long").is_not_null())
    outcome = pl.col("outcome")
    accepted = first.filter(outcome == "accepted")
    at = [accepted.filter(pl.col("accepted_at") == number).height for number in range(1, most_attempts + 1)]
    return [
        StageCount("cases", first.height, False, "one source image with one edit type"),
        StageCount(
            "another type",
            first.filter(pl.col("assigned") != pl.col("edit_type")).height,
            True,
            "the picture does not show what the type dealt to it needs",
        ),
        StageCount("instruction written", written.height, False, ""),
        StageCount(
            "edit delivered", first.filter(pl.col("delivered") > 0).height, False, "at least one attempt gave a picture"
        ),
        StageCount("judged", first.filter(pl.col("judged") > 0).height, False, "at least one attempt has a score"),
        StageCount("accepted", accepted.height, False, "a score above the threshold within the attempts allowed"),
        *(
            StageCount(f"at attempt {number}", count, True, "of the accepted", accepted.height)
            for number, count in enumerate(at, start=1)
        ),
        StageCount("discarded", first.filter(outcome == "discarded").height, True, "no attempt was accepted"),
        StageCount("unwritten", first.filter(outcome == "unwritten").height, True, "the writer gave no instruction"),
        StageCount(
            "no type fits",
            first.filter(outcome == "unfit").height,
            True,
            "the picture shows what none of the types needs",
        ),
        StageCount("unfinished", first.filter(outcome == "open").height, True, "the chain has not ended"),
    ]


def _session_stages(sessions: pl.DataFrame, later: pl.DataFrame) -> list[StageCount]:
    reached = [
        _reached(sessions, turn)
        for turn in range(1, int(sessions["planned"].max() or 1) + 1)  # type: ignore[arg-type]
    ]
    damaged = sessions.filter(pl.col("ended") == "damaged").height
    failed = sessions.filter(pl.col("ended").is_in(["discarded", "unwritten"])).height
    return [
        StageCount("planned", sessions.height, False, "cases drawn for several turns"),
        *reached[:2],
        StageCount("whole", sessions.filter("whole").height, False, "every planned turn accepted and sound"),
        *reached[2:],
        StageCount("stopped by the inspector", damaged, True, "the picture had lost too much quality"),
        StageCount("stopped by a failed edit", failed, True, "no attempt of a turn was accepted"),
        StageCount(
            "later turns accepted",
            later.filter(pl.col("outcome") == "accepted").height,
            True,
            f"of {later.height} begun",
            later.height,
        ),
    ]


def _reached(sessions: pl.DataFrame, turn: int) -> StageCount:
    """Every session has two turns; later ones are planned for some only, and are no stage of the others."""
    planned = sessions.filter(pl.col("planned") >= turn).height
    done = sessions.filter(pl.col("done") >= turn).height
    return StageCount(f"turn {turn} accepted", done, turn > 2, f"of {planned} planned to have it", planned)


def _rows(editor: str, track: str, stages: list[StageCount]) -> list[dict[str, object]]:
    rows: list[dict[str, object]] = []
    for one in stages:
        whole = stages[0].n if one.whole is None else one.whole
        rows.append(
            {
                **{"editor": editor, "track": track, "stage": one.name, "n": one.n, "aside": one.aside},
                **{"what": one.what, "share": one.n / whole if whole else None},
            }
        )
    return rows
