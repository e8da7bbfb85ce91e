"""Which failures were seen: the labels that count, and their shares with intervals.

Labels are grouped by chain and failure mode. Of rules and judges, and of each person, only the newest labels count.
People overrule judges and judges overrule rules. Several people decide by majority; a tie is undecided. Undecided
chains are counted but are not part of the share.

Runs of one picture are not independent, so the interval of a share takes source images as units: chains that agree
within each image count as one, others count for more. Fewer than five images have no interval.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from statistics import median, median_low
from typing import Any, Protocol

import numpy as np
import polars as pl
from scipy.special import ndtri

from convergebench.analysis.bootstrap import Bootstrap
from convergebench.analysis.decay_result import SCHEMAS
from convergebench.analysis.schemas import clean

LABEL_SOURCES = ("person", "judge", "rule")
"""In order of precedence."""
ALL = "all"
"""Stands for every variant together."""

Row = Mapping[str, Any]


class ModeFacts(Protocol):
    """What a table shows of a failure mode; the facts of a detector have it."""

    @property
    def title(self) -> str:
        """Its heading."""
        ...

    @property
    def rule(self) -> str:
        """The condition under which a chain has it."""
        ...


@dataclass(frozen=True, slots=True)
class FailureVerdict:
    """Whether one chain has one failure mode."""

    editor: str
    case: str
    pair: str
    mode: str
    level: str
    present: bool | None
    step: int | None
    """Where it is first seen; with several people, the middle one of their first steps."""
    source: str
    """rule, judge or person."""
    rows: tuple[Row, ...]
    """The labels that it rests on."""


def verdicts(labels: pl.DataFrame) -> list[FailureVerdict]:
    """One per chain and mode that has a label."""
    by_chain = labels_by_chain(labels)
    return [next(found for one in LABEL_SOURCES if (found := verdict_from(rows, one))) for rows in by_chain]


def labels_by_chain(labels: pl.DataFrame) -> Iterator[list[Row]]:
    """All labels of each chain and mode, the oldest first."""
    ordered = labels.sort("editor", "case", "mode", "made", maintain_order=True)
    for _, rows in groupby(ordered.iter_rows(named=True), key=lambda row: (row["editor"], row["case"], row["mode"])):
        yield list(rows)


def verdict_from(rows: Sequence[Row], source: str) -> FailureVerdict | None:
    """The verdict of the labels from one source (rule, judge or person), of those of one chain and mode."""
    own = [row for row in rows if row["source"] == source]
    if not own:
        return None
    if source == "person":
        present, step, basis = _majority(own)
    else:
        basis = _newest(own)
        present, step = _answer(basis)
    last = own[-1]
    return FailureVerdict(
        *(last["editor"], last["case"], last["pair"], last["mode"], last["level"], present, step, source),
        rows=tuple(basis),
    )


def _newest(rows: Sequence[Row]) -> list[Row]:
    """The labels that were made last, together."""
    made = max(row["made"] for row in rows)
    return [row for row in rows if row["made"] == made]


def _answer(rows: Sequence[Row]) -> tuple[bool | None, int | None]:
    """Whether labels made together report the failure, and the first step of it."""
    steps = [row["step"] for row in rows if row["present"] and row["step"] is not None]
    if any(row["present"] for row in rows):
        return True, min(steps, default=None)
    return (None if any(row["present"] is None for row in rows) else False), None


def labels_table(labels: pl.DataFrame, facts: Mapping[str, ModeFacts]) -> pl.DataFrame:
    """The frame `labels`: one row per label that counts."""
    columns = SCHEMAS["labels"]
    rows = [
        {
            **{name: row.get(name) for name in columns},
            "title": _title(row["mode"], facts),
            "rule": facts[row["mode"]].rule if row["mode"] in facts else "",
        }
        for verdict in verdicts(labels)
        for row in verdict.rows
    ]
    return pl.DataFrame(rows, schema=columns)


def failures_table(
    labels: pl.DataFrame,
    facts: Mapping[str, ModeFacts],
    *,
    short: Collection[tuple[str, str]] = (),
    confidence: float = 0.95,
) -> pl.DataFrame:
    """The frame `failures`: every editor, variant (and `all` of them) and examined mode.

    `short`: (editor, case) of chains that ended early. A failure not seen in these might have come later, so they are
    undecided: an editor must not look better for refusing.
    """
    cells: dict[tuple[str, str, str], list[FailureVerdict]] = {}
    for verdict in verdicts(labels):
        for pair in (verdict.pair, ALL):
            cells.setdefault((verdict.editor, pair, verdict.mode), []).append(verdict)
    rows = []
    for (editor, pair, mode), found in sorted(cells.items()):
        known = [one for one in found if one.present or (one.present is False and (one.editor, one.case) not in short)]
        seen = [one for one in known if one.present]
        decided = len(known)
        low, high = _ends(known, Bootstrap(confidence=confidence))
        rows.append(
            {
                **{"editor": editor, "pair": pair, "mode": mode, "level": found[0].level, "title": _title(mode, facts)},
                **{"chains": len(found), "seen": len(seen), "undecided": len(found) - decided},
                **{"share": len(seen) / decided if decided else None, "low": low, "high": high},
                "first_step": median(steps) if (steps := [one.step for one in seen if one.step is not None]) else None,
                "source_of": _sources(found),
            }
        )
    return clean(pl.DataFrame(rows, schema=SCHEMAS["failures"]))


def _ends(known: Sequence[FailureVerdict], bootstrap: Bootstrap) -> tuple[float, float]:
    """The interval of the share in which it is seen, with source images as units; NaN where there is none."""
    images = sorted({one.rows[0]["source_image"] for one in known})
    counts = np.zeros((len(images), 2))
    for one in known:
        counts[images.index(one.rows[0]["source_image"])] += (bool(one.present), 1)
    if not images:
        return float("nan"), float("nan")
    band = bootstrap.share(counts[:, :1], counts[:, 1:])
    return float(band.low[0]), float(band.high[0])


def wilson(seen: float, of: float, confidence: float = 0.95) -> tuple[float | None, float | None]:
    """Ends of the score interval of a share (Wilson 1927); None where nothing was counted."""
    if not of:
        return None, None
    z = float(ndtri(0.5 + confidence / 2))
    share, weight = seen / of, 1 + z**2 / of
    centre = (share + z**2 / (2 * of)) / weight
    half = z * (share * (1 - share) / of + z**2 / (4 * of**2)) ** 0.5 / weight
    # exact at the ends, where rounding would leave a trace
    return (centre - half if seen else 0.0), (centre + half if seen < of else 1.0)


def _majority(rows: Sequence[Row]) -> tuple[bool | None, int | None, list[Row]]:
    """What most people answer, the middle one of their first steps, and their labels."""
    people = dict.fromkeys(row["by"] for row in rows)
    votes = {person: _newest([row for row in rows if row["by"] == person]) for person in people}
    answers = {person: _answer(own) for person, own in votes.items()}
    yes, no = ([person for person, (given, _) in answers.items() if given is vote] for vote in (True, False))
    if len(yes) == len(no):
        last = max((row for own in votes.values() for row in own), key=lambda row: str(row["made"]))
        empty = dict.fromkeys(("present", "step", "last", "shown", "region", "evidence", "confidence"))
        tie = {"by": ", ".join(votes), "detail": f"{len(yes)} of {len(answers)} people see it"}
        return None, None, [{**last, **empty, **tie}]
    winners = max(yes, no, key=len)
    steps = [step for person in winners if (step := answers[person][1]) is not None]
    return winners is yes, median_low(steps) if steps else None, [row for person in winners for row in votes[person]]


def _title(mode: str, facts: Mapping[str, ModeFacts]) -> str:
    return facts[mode].title if mode in facts else mode


def _sources(found: Sequence[FailureVerdict]) -> str:
    """`rule 12, person 1`: how many verdicts rest on labels of each source."""
    counts = {source: sum(one.source == source for one in found) for source in reversed(LABEL_SOURCES)}
    return ", ".join(f"{source} {count}" for source, count in counts.items() if count)
