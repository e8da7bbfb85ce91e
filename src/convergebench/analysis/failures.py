"""Which failures have been seen: the labels that count, and their shares with intervals.

A chain and a failure mode are one matter. What a rule or a judge last said of it stands; so does what each person last
said. People come before judges and judges before rules. Several people decide by majority, and where as many say yes as
no it is undecided. What nobody could tell (or people cannot agree on) is counted, and is no part of the share.

Runs of one picture are not independent, so the interval of a share takes source images as units: chains that agree
within each image count as one, chains that do not count for more. Fewer than five images have no interval.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from statistics import median, median_low
from typing import Any, Protocol

import numpy as np
import polars as pl
from scipy.special import ndtri

from convergebench.analysis.bootstrap import Bootstrap
from convergebench.analysis.schemas import B, F, N, T, clean

VOICES = ("person", "judge", "rule")
"""Who is heard first."""

LABELS: dict[str, type[pl.DataType]] = {
    **{"editor": T, "case": T, "source_image": T, "pair": T, "mode": T, "level": T, "title": T, "present": B},
    **{"step": N, "last": N, "shown": N, "region": T, "evidence": T, "confidence": F, "source": T, "by": T},
    **{"detail": T, "rule": T},
}
"""`present` null: undecided, `detail` says why. `region`: JSON [x, y, width, height], shares of the picture `shown`."""
FAILURES: dict[str, type[pl.DataType]] = {
    **{"editor": T, "pair": T, "mode": T, "level": T, "title": T, "chains": N, "seen": N, "undecided": N},
    **{"share": F, "low": F, "high": F, "first_step": F, "source_of": T},
}
"""`chains`: those looked at. `share`: of the decided ones. `first_step`: median over the chains in which it is seen."""

Row = Mapping[str, Any]


ALL = "all"
"""Stands for every variant together."""


class ModeFacts(Protocol):
    """What a table says of a failure mode; a detector's facts will do."""

    @property
    def title(self) -> str:
        """As a heading."""
        ...

    @property
    def rule(self) -> str:
        """When it is said to be there."""
        ...


@dataclass(frozen=True, slots=True)
class Verdict:
    """What is held of one chain and one failure mode."""

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
    """The labels that carry it."""


def verdicts(labels: pl.DataFrame) -> list[Verdict]:
    """One per chain and mode that has a label."""
    return [
        _verdict(next(own for voice in VOICES if (own := [row for row in rows if row["source"] == voice])))
        for rows in matters(labels)
    ]


def matters(labels: pl.DataFrame) -> Iterator[list[Row]]:
    """All labels of each chain and mode, the oldest first."""
    ordered = labels.sort("editor", "case", "mode", "made", maintain_order=True)
    for _, rows in groupby(ordered.iter_rows(named=True), key=lambda row: (row["editor"], row["case"], row["mode"])):
        yield list(rows)


def said_by(rows: Sequence[Row], voice: str) -> Verdict | None:
    """What one voice holds of a matter, whoever else has spoken."""
    own = [row for row in rows if row["source"] == voice]
    return _verdict(own) if own else None


def ballots(rows: Sequence[Row]) -> dict[str, list[Row]]:
    """Who → their newest labels on a matter."""
    found: dict[str, list[Row]] = {}
    for row in rows:
        if row["source"] == "person":
            found.setdefault(row["by"], []).append(row)
    return {who: newest(own) for who, own in found.items()}


def newest(rows: Sequence[Row]) -> list[Row]:
    """The labels of the last look."""
    made = max(row["made"] for row in rows)
    return [row for row in rows if row["made"] == made]


def said(rows: Iterable[Row]) -> tuple[bool | None, int | None]:
    """Whether one look saw it, and where first."""
    answers = list(rows)
    steps = [row["step"] for row in answers if row["present"] and row["step"] is not None]
    if any(row["present"] for row in answers):
        return True, min(steps, default=None)
    return (None if any(row["present"] is None for row in answers) else False), None


def labels_table(labels: pl.DataFrame, facts: Mapping[str, ModeFacts]) -> pl.DataFrame:
    """The frame `labels`: one row per label that counts, columns as in `LABELS`."""
    rows = [
        {
            **{name: row.get(name) for name in LABELS},
            "title": _title(row["mode"], facts),
            "rule": facts[row["mode"]].rule if row["mode"] in facts else "",
        }
        for verdict in verdicts(labels)
        for row in verdict.rows
    ]
    return pl.DataFrame(rows, schema=LABELS)


def failures_table(
    labels: pl.DataFrame,
    facts: Mapping[str, ModeFacts],
    *,
    short: Collection[tuple[str, str]] = (),
    confidence: float = 0.95,
) -> pl.DataFrame:
    """The frame `failures`: every editor, variant (and `all` of them) and mode looked for, columns as in `FAILURES`.

    `short`: (editor, case) of chains that ended before their time. What was not seen in these might have come later,
    so they are undecided: an editor that refuses must not look the healthier for it.
    """
    cells: dict[tuple[str, str, str], list[Verdict]] = {}
    for verdict in verdicts(labels):
        for pair in (verdict.pair, ALL):
            cells.setdefault((verdict.editor, pair, verdict.mode), []).append(verdict)
    rows = []
    for (editor, pair, mode), found in sorted(cells.items()):
        told = [one for one in found if one.present or (one.present is False and (one.editor, one.case) not in short)]
        seen = [one for one in told if one.present]
        decided = len(told)
        low, high = _ends(told, Bootstrap(confidence=confidence))
        rows.append(
            {
                **{"editor": editor, "pair": pair, "mode": mode, "level": found[0].level, "title": _title(mode, facts)},
                **{"chains": len(found), "seen": len(seen), "undecided": len(found) - decided},
                **{"share": len(seen) / decided if decided else None, "low": low, "high": high},
                "first_step": median(steps) if (steps := [one.step for one in seen if one.step is not None]) else None,
                "source_of": _spoken(found),
            }
        )
    return clean(pl.DataFrame(rows, schema=FAILURES))


def _ends(told: Sequence[Verdict], bootstrap: Bootstrap) -> tuple[float, float]:
    """The interval of the share in which it is seen, source images as units; not a number where there is none."""
    images = sorted({one.rows[0]["source_image"] for one in told})
    counts = np.zeros((len(images), 2))
    for one in told:
        counts[images.index(one.rows[0]["source_image"])] += (bool(one.present), 1)
    if not images:
        return float("nan"), float("nan")
    band = bootstrap.share(counts[:, :1], counts[:, 1:])
    return float(band.low[0]), float(band.high[0])


def wilson(seen: float, of: float, confidence: float = 0.95) -> tuple[float | None, float | None]:
    """Ends of the score interval of a share (Wilson 1927); none of nothing has none."""
    if not of:
        return None, None
    z = float(ndtri(0.5 + confidence / 2))
    share, weight = seen / of, 1 + z**2 / of
    centre = (share + z**2 / (2 * of)) / weight
    half = z * (share * (1 - share) / of + z**2 / (4 * of**2)) ** 0.5 / weight
    # exact at the ends, where rounding would leave a trace
    return (centre - half if seen else 0.0), (centre + half if seen < of else 1.0)


def _verdict(rows: Sequence[Row]) -> Verdict:
    """Of the labels of one voice on one matter."""
    voice = rows[0]["source"]
    if voice == "person":
        present, step, carriers = _majority(ballots(rows))
    else:
        carriers = newest(rows)
        present, step = said(carriers)
    last = rows[-1]
    return Verdict(
        *(last["editor"], last["case"], last["pair"], last["mode"], last["level"], present, step, voice),
        rows=tuple(carriers),
    )


def _majority(votes: Mapping[str, Sequence[Row]]) -> tuple[bool | None, int | None, list[Row]]:
    heard = {who: said(rows) for who, rows in votes.items()}
    camps = {wanted: [who for who, (answer, _) in heard.items() if answer is wanted] for wanted in (True, False)}
    yes, no = camps[True], camps[False]
    if len(yes) == len(no):
        last = max((row for rows in votes.values() for row in rows), key=lambda row: str(row["made"]))
        empty = dict.fromkeys(("present", "step", "last", "shown", "region", "evidence", "confidence"))
        told = {"by": ", ".join(votes), "detail": f"{len(yes)} of {len(heard)} people see it"}
        return None, None, [{**last, **empty, **told}]
    winner = len(yes) > len(no)
    steps = [step for who in camps[winner] if (step := heard[who][1]) is not None]
    carriers = [row for who in camps[winner] for row in votes[who]]
    return winner, median_low(steps) if steps else None, carriers


def _title(mode: str, facts: Mapping[str, ModeFacts]) -> str:
    return facts[mode].title if mode in facts else mode


def _spoken(found: Sequence[Verdict]) -> str:
    counts = {voice: sum(one.source == voice for one in found) for voice in reversed(VOICES)}
    return ", ".join(f"{voice} {count}" for voice, count in counts.items() if count)
