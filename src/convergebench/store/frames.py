"""Tables of a run as frames, read from the journal without a lock, so that a running run can be read too."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import polars as pl

from convergebench.store.connection import open_for_reading
from convergebench.store.labels import LOOKED
from convergebench.store.run import require_run

_OF_CASE = {
    "editor": pl.String, "case": pl.String, "source": pl.String, "kind": pl.String, "pair": pl.String,
    "category": pl.String, "replicate": pl.Int64,
}  # fmt: skip
"""Columns of a chain and its case, with which most tables begin."""
MEASUREMENTS = {
    **_OF_CASE, "round": pl.Int64, "step": pl.Int64, "metric": pl.String,
    "value": pl.Float64, "status": pl.String, "detail": pl.String, "role": pl.String, "lag": pl.Int64,
    "align": pl.String, "fingerprint": pl.String,
}  # fmt: skip
CHAINS = {
    **_OF_CASE, "status": pl.String, "detail": pl.String, "rounds": pl.Int64,
    "planned": pl.Int64, "steps": pl.Int64, "dollars": pl.Float64, "seconds": pl.Float64,
}  # fmt: skip
STEPS = {
    **_OF_CASE, "index": pl.Int64, "round": pl.Int64, "leg": pl.String,
    "instruction": pl.String, "image": pl.String, "width": pl.Int64, "height": pl.Int64, "seconds": pl.Float64,
    "dollars": pl.Float64, "attempts": pl.Int64, "status": pl.String, "detail": pl.String, "seed": pl.Int64,
    "settings": pl.String, "model": pl.String, "reasoning": pl.String, "used": pl.String, "started": pl.String,
    "id": pl.String,
}  # fmt: skip
SCORES = {
    **_OF_CASE, "round": pl.Int64, "step": pl.Int64, "metric": pl.String,
    "value": pl.Float64, "status": pl.String, "detail": pl.String, "role": pl.String,
}  # fmt: skip
ATTEMPTS = {
    "editor": pl.String, "step": pl.String, "attempt": pl.Int64, "started": pl.String, "seconds": pl.Float64,
    "dollars": pl.Float64, "outcome": pl.String, "error": pl.String, "model": pl.String, "settled": pl.Int64,
    "part": pl.String,
}  # fmt: skip
ANSWERS = {
    **_OF_CASE, "position": pl.Int64, "role": pl.String, "payload": pl.String,
    "value": pl.String, "raw": pl.String, "model": pl.String, "seconds": pl.Float64, "dollars": pl.Float64,
    "id": pl.String,
}  # fmt: skip
RATINGS = {
    "editor": pl.String, "case": pl.String, "step": pl.Int64, "image": pl.String, "question": pl.String,
    "value": pl.Float64, "rater": pl.String, "source": pl.String, "detail": pl.String, "made": pl.String,
}  # fmt: skip
DECISIONS = {
    **_OF_CASE, "number": pl.Int64, "position": pl.Int64, "decision": pl.String, "facts": pl.String,
}  # fmt: skip
SPENDING = {
    "editor": pl.String, "calls": pl.Int64, "dollars": pl.Float64, "unknown_calls": pl.Int64,
    "unknown_dollars": pl.Float64,
}  # fmt: skip

LABELS = {
    "id": pl.String, "editor": pl.String, "case": pl.String, "source_image": pl.String, "pair": pl.String,
    "category": pl.String, "replicate": pl.Int64, "mode": pl.String, "level": pl.String, "present": pl.Boolean,
    "step": pl.Int64, "last": pl.Int64, "shown": pl.Int64, "region": pl.String, "evidence": pl.String,
    "confidence": pl.Float64, "source": pl.String, "by": pl.String, "detail": pl.String, "made": pl.String,
}  # fmt: skip
PROBES = {
    **_OF_CASE, "step": pl.Int64, "probe": pl.String, "by": pl.String,
    "value": pl.Float64,
}  # fmt: skip
ANCHORS = {
    "source": pl.String, "anchor": pl.String, "metric": pl.String, "fingerprint": pl.String, "value": pl.Float64,
    "status": pl.String, "detail": pl.String,
}  # fmt: skip

ChainName = tuple[str, str]
"""Editor and case."""
_CASE = "c.source, c.kind, c.pair, c.category, c.replicate"


class RunFrames:
    """The tables of one run."""

    def __init__(self, root: Path, connection: sqlite3.Connection | None = None) -> None:
        """A `connection` that is given was opened and checked by the caller."""
        self.root = require_run(root) if connection is None else root
        self._connection = connection or open_for_reading(root / "run.sqlite")

    def _frame(self, query: str, schema: dict[str, Any], parameters: tuple[Any, ...] = ()) -> pl.DataFrame:
        rows = self._connection.execute(query, parameters).fetchall()
        return pl.DataFrame(rows, schema=schema, orient="row")

    def measurements(self, align: str, chain: ChainName | None = None) -> pl.DataFrame:
        """One row per (editor, case, step, metric, role, lag) under this alignment, of one chain or of all.

        `role` says what the image was compared with; `convergebench.analysis.series` makes one name of metric, role and
        lag. Images that only an audit rates are left out (`scores` has them): inside a round they would give its curve
        a second value.
        """
        return self._frame(
            f"""select k.editor, k."case", {_CASE}, k.round, k.step, m.metric,
                  m.value, m.status, m.detail, k.role, k.lag, m.align, m.fingerprint
                from measurements m join comparisons k on k.id = m.comparison join cases c on c.id = k."case"
                where m.align in (?, 'none') and k.role <> 'alone'{_of("k", chain)} order by 1, 2, 9, 10, 14, 15""",
            MEASUREMENTS,
            (align, *(chain or ())),
        )

    def alignments(self) -> list[str]:
        """The alignments under which returned pictures were measured, by name."""
        query = """select distinct m.align from measurements m join comparisons k on k.id = m.comparison
                   where k.role = 'return' and m.align <> 'none' order by 1"""
        return [align for (align,) in self._connection.execute(query)]

    def anchors(self) -> pl.DataFrame:
        """What metrics say of noise, of grey and of another source, one row per source, anchor and metric."""
        query = """select source, anchor, metric, fingerprint, value, status, detail from anchors
                   order by source, anchor, metric, fingerprint"""
        return self._frame(query, ANCHORS)

    def scores(self, metrics: Sequence[str]) -> pl.DataFrame:
        """Every no-reference score, one row per (editor, case, step, metric), from comparisons of any role.

        The alignment is ignored: a single picture is not aligned.
        """
        names = list(metrics)
        found = self._frame(
            f"""select k.editor, k."case", {_CASE}, k.round, k.step, m.metric, m.value, m.status, m.detail, k.role
                from measurements m join comparisons k on k.id = m.comparison join cases c on c.id = k."case"
                where k.role in ('source', 'return', 'around', 'alone')
                  and m.metric in ({",".join("?" * len(names))})
                order by 1, 2, 9, 10, k.role = 'alone', m.align, m.fingerprint""",
            SCORES,
            tuple(names),
        )
        return found.unique(["editor", "case", "step", "metric"], keep="first", maintain_order=True)

    def chains(self) -> pl.DataFrame:
        """One row per (editor, case): how far it came, how it ended, what it cost."""
        return self._frame(
            f"""with cost as (select step, sum(dollars) dollars, sum(seconds) seconds from attempts group by step),
                     used as (select editor, "case", count(*) steps, sum(dollars) dollars, sum(seconds) seconds
                              from chain_steps left join cost on cost.step = chain_steps.step group by editor, "case")
                select h.editor, h."case", {_CASE}, h.status, h.detail, h.rounds, h.planned,
                  coalesce(used.steps, 0), coalesce(used.dollars, 0), coalesce(used.seconds, 0)
                from chains h join cases c on c.id = h."case"
                left join used on used.editor = h.editor and used."case" = h."case" order by 1, 2""",
            CHAINS,
        )

    def steps(self, chain: ChainName | None = None) -> pl.DataFrame:
        """One row per image of every chain, or of one, the source included as index 0."""
        made = f"""select p.editor, p."case", {_CASE}, p.position, coalesce(k.round, (p.position + 1) / 2),
                coalesce(l.role, 'step'),
                s.instruction, i.file, i.width, i.height, t.seconds, t.dollars, t.attempts, s.status, s.detail, s.seed,
                s.settings, t.model, s.reasoning, s.used, t.started, s.id
              from chain_steps p join steps s on s.id = p.step join cases c on c.id = p."case"
              left join images i on i.id = s.image
              left join comparisons k on k.editor = p.editor and k."case" = p."case" and k.step = p.position
                and k.role = 'step'
              left join comparisons l on l.editor = p.editor and l."case" = p."case" and l.step = p.position
                and l.role in ('forward', 'backward')
              left join (select step, sum(seconds) seconds, sum(dollars) dollars, sum(part = '') attempts,
                         max(model) filter (where part = '') model, min(started) started
                         from attempts group by step) t on t.step = s.id where true{_of("p", chain)}"""
        source = f"""select h.editor, h."case", {_CASE}, 0, 0, 'source', '', i.file, i.width, i.height, 0, 0, 0, 'ok',
                '', null, null, null, null, null, null, c.image
              from chains h join cases c on c.id = h."case" join images i on i.id = c.image
              where true{_of("h", chain)}"""
        return self._frame(f"{made} union all {source} order by 1, 2, 8", STEPS, (chain or ()) * 2)

    def attempts(self) -> pl.DataFrame:
        """Every call that was made, in order of time."""
        return self._frame(
            """select editor, step, attempt, started, seconds, dollars, outcome, error, model, settled, part
                from attempts order by started, step, attempt""",
            ATTEMPTS,
        )

    def answers(self, chain: ChainName | None = None) -> pl.DataFrame:
        """Every answer of a role, with the chain and position where it was asked first (null: in no chain).

        `payload` and `value` are JSON; `value` is null where the reply was refused or could not be parsed.
        """
        return self._frame(
            f"""select a.editor, a."case", {_CASE}, a.position, a.role, a.payload, a.value, a.raw, a.model, a.seconds,
                  a.dollars, a.id
                from answers a left join cases c on c.id = a."case" where true{_of("a", chain)}
                order by 1, 2, 8, 9, a.id""",
            ANSWERS,
            chain or (),
        )

    def decisions(self) -> pl.DataFrame:
        """Every decision of the study, chain by chain in order; `decision` is its kind, `facts` is JSON."""
        return self._frame(
            f"""select d.editor, d."case", {_CASE}, d.number, d.position, d.kind, d.facts
                from decisions d join cases c on c.id = d."case" order by 1, 2, 8""",
            DECISIONS,
        )

    def ratings(self) -> pl.DataFrame:
        """Every rating of a picture by a person (`source` = person) or a model (role), the oldest first."""
        return self._frame(
            """select editor, "case", step, image, question, value, rater, source, detail, made from ratings
               order by made, editor, "case", step, question, rater, id""",
            RATINGS,
        )

    def spending(self) -> pl.DataFrame:
        """Per editor, and per role as `role:NAME`: calls and dollars, those of failed steps and unknown outcome too."""
        # an editor made of others spends through its parts, whose rows are calls of their own
        made = "part = '' and step in (select step from attempts where part <> '')"
        return self._frame(
            f"""select editor, sum(outcome <> 'reused' and not ({made})), sum(dollars), sum(not settled),
                  coalesce(sum(dollars) filter (where not settled), 0.0)
                from attempts group by editor order by editor""",
            SPENDING,
        )

    def labels(self, chain: ChainName | None = None) -> pl.DataFrame:
        """Every failure label ever given, the oldest first; the analysis decides which of them count."""
        rows = self._connection.execute(
            f"""select l.id, l.editor, l."case", c.source, c.pair, c.category, c.replicate, l.mode, l.level, l.present,
                 l.step, l.last, l.shown, l.region, l.evidence, l.confidence, l.source, l."by", l.detail, l.made
               from labels l join cases c on c.id = l."case" where true{_of("l", chain)}
               order by l.made, l.editor, l."case", l.mode, l.step, l.id""",
            chain or (),
        ).fetchall()
        frame = pl.DataFrame(rows, schema={**LABELS, "present": pl.Int64}, orient="row")
        return frame.with_columns(pl.col("present").cast(pl.Boolean))

    def probes(self) -> pl.DataFrame:
        """The numbers that detectors looked at, one row per chain, step, probe and detector."""
        return self._frame(
            f"""select p.editor, p."case", {_CASE}, p.step, p.probe, p."by", p.value
                from probes p join cases c on c.id = p."case" where p.probe <> ? order by 1, 2, 9, 10, 8""",
            PROBES,
            (LOOKED,),
        )

    def steps_done(self) -> dict[tuple[str, str], int]:
        """(editor, case) → steps answered so far."""
        query = 'select editor, "case", count(*) from chain_steps group by editor, "case"'
        return {(editor, case): count for editor, case, count in self._connection.execute(query)}

    def close(self) -> None:
        """Close the database."""
        self._connection.close()


def _of(table: str, chain: ChainName | None) -> str:
    """The condition for one chain, of a table under this name in the query."""
    return "" if chain is None else f' and {table}.editor = ? and {table}."case" = ?'
