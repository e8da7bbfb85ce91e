"""How many cases get through each stage, and where the others are lost."""

from __future__ import annotations

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


Stage = tuple[str, int, bool, str]
"""Its name, how many, whether it is no stage but a remark or a way out, and what it means."""


def _edit_stages(first: pl.DataFrame, most_attempts: int) -> list[Stage]:
    written = first.filter(pl.col("long").is_not_null())
    outcome = pl.col("outcome")
    accepted = first.filter(outcome == "accepted")
    at = [accepted.filter(pl.col("accepted_at") == number).height for number in range(1, most_attempts + 1)]
    return [
        ("cases", first.height, False, "one source image with one edit type"),
        (
            "another type",
            first.filter(pl.col("assigned") != pl.col("edit_type")).height,
            True,
            "the picture does not show what the type dealt to it needs",
        ),
        ("instruction written", written.height, False, ""),
        ("edit delivered", first.filter(pl.col("delivered") > 0).height, False, "at least one attempt gave a picture"),
        ("judged", first.filter(pl.col("judged") > 0).height, False, "at least one attempt has a score"),
        ("accepted", accepted.height, False, "a score above the threshold within the attempts allowed"),
        *((f"at attempt {number}", count, True, "of the accepted") for number, count in enumerate(at, start=1)),
        ("discarded", first.filter(outcome == "discarded").height, True, "no attempt was accepted"),
        ("unwritten", first.filter(outcome == "unwritten").height, True, "the writer gave no instruction"),
        (
            "no type fits",
            first.filter(outcome == "unfit").height,
            True,
            "the picture shows what none of the types needs",
        ),
        ("unfinished", first.filter(outcome == "open").height, True, "the chain has not ended"),
    ]


def _session_stages(sessions: pl.DataFrame, later: pl.DataFrame) -> list[Stage]:
    reached = [
        (f"turn {turn} accepted", sessions.filter(pl.col("done") >= turn).height, turn > 2, _of(sessions, turn))
        for turn in range(1, int(sessions["planned"].max() or 1) + 1)  # type: ignore[arg-type]
    ]
    damaged = sessions.filter(pl.col("ended") == "damaged").height
    failed = sessions.filter(pl.col("ended").is_in(["discarded", "unwritten"])).height
    return [
        ("planned", sessions.height, False, "cases drawn for several turns"),
        *reached[:2],
        ("whole", sessions.filter("whole").height, False, "every planned turn accepted and sound"),
        *reached[2:],
        ("stopped by the inspector", damaged, True, "the picture had lost too much quality"),
        ("stopped by a failed edit", failed, True, "no attempt of a turn was accepted"),
        (
            "later turns accepted",
            later.filter(pl.col("outcome") == "accepted").height,
            True,
            f"of {later.height} begun",
        ),
    ]


def _of(sessions: pl.DataFrame, turn: int) -> str:
    """Every session has two turns; later ones are planned for some only, and are no stage of the others."""
    return f"of {sessions.filter(pl.col('planned') >= turn).height} planned to have it"


def _rows(editor: str, track: str, stages: list[Stage]) -> list[dict[str, object]]:
    whole = stages[0][1]
    return [
        {
            **{"editor": editor, "track": track, "stage": stage, "n": n, "aside": aside, "what": what},
            "share": n / whole if whole else None,
        }
        for stage, n, aside, what in stages
    ]
