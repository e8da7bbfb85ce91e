"""A run as a data set is made from it: chain by chain out of its journal, never all at once.

All reads see one moment, so that a run which is still being written gives a whole data set too.
"""

from __future__ import annotations

import hashlib
import sqlite3
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, NamedTuple

from convergebench.errors import StudyError
from convergebench.ids import image_id
from convergebench.store.journal import connect
from convergebench.store.manifest import Manifest, read_manifest
from convergebench.store.run import require_run


class Picture(NamedTuple):
    """A stored image file."""

    id: str
    file: str
    mime: str
    width: int
    height: int
    bytes: int

    @property
    def sha256(self) -> str:
        """Of the bytes as received."""
        return self.id.removeprefix("i1:")


class ChainFacts(NamedTuple):
    """One editor's way through one case."""

    editor: str
    case: str
    status: str
    source: str
    kind: str
    variant: str
    family: str
    run: int
    picture: Picture
    """The untouched source."""

    @property
    def id(self) -> str:
        """What all records of the chain have in common."""
        return f"{self.editor}/{self.case}"


class StepFacts(NamedTuple):
    """One answered step."""

    position: int
    key: str
    parent: str
    instruction: str
    settings: str
    seed: int | None
    status: str
    detail: str
    reasoning: str | None
    used: str | None
    started: str | None
    seconds: float | None
    dollars: float | None
    attempts: int
    model: str | None
    round: int | None
    operation: str | None
    picture: Picture | None


class Value(NamedTuple):
    """One measurement of one step."""

    step: int
    metric: str
    role: str
    lag: int
    align: str
    value: float | None
    status: str
    detail: str
    fingerprint: str


class Label(NamedTuple):
    """One failure label of a chain."""

    mode: str
    level: str
    present: int | None
    step: int | None
    last: int | None
    shown: int | None
    region: str | None
    confidence: float | None
    source: str
    by: str
    detail: str
    made: str


_PICTURE = "i.id, i.file, i.mime, i.width, i.height, i.bytes"


class RunSource:
    """A run to export; use as a context manager."""

    def __init__(self, root: Path) -> None:
        self.root = require_run(root)
        written = (root / "manifest.json").read_bytes()
        self.manifest: Manifest = read_manifest(root / "manifest.json")
        self.manifest_sha256 = hashlib.sha256(written).hexdigest()
        self.align = self.manifest.align
        self._connection = connect(root / "run.sqlite", read_only=True)
        self._connection.execute("begin")
        self._tables = {name for (name,) in self._rows("select name from sqlite_master where type = 'table'")}
        columns = {row[1] for row in self._rows("pragma table_info(steps)")}
        self._used = "s.used" if "used" in columns else "null"

    def _rows(self, query: str, *parameters: Any) -> sqlite3.Cursor:
        return self._connection.execute(query, parameters)

    def content_sha256(self) -> str:
        """Of everything that the journal holds at this moment."""
        found = hashlib.sha256()
        for table in sorted(self._tables):
            found.update(table.encode())
            for row in self._rows(f'select * from "{table}"'):
                found.update(repr(row).encode())
        return found.hexdigest()

    def chains(self) -> Iterator[ChainFacts]:
        """Every chain, by editor, source image, variant and run."""
        query = f"""select h.editor, h."case", h.status, c.source, c.kind, c.pair, c.category, c.replicate, {_PICTURE}
            from chains h join cases c on c.id = h."case" join images i on i.id = c.image
            order by h.editor, c.source, c.pair, c.replicate, h."case" """
        for row in self._rows(query):
            yield ChainFacts._make((*row[:8], Picture(*row[8:])))

    def steps(self, chain: ChainFacts) -> list[StepFacts]:
        """What the chain was answered, in order."""
        query = f"""select p.position, s.id, s.parent, s.instruction, s.settings, s.seed, s.status, s.detail,
              s.reasoning, {self._used}, t.started, t.seconds, t.dollars, coalesce(t.attempts, 0), t.model,
              k.round, k.operation, {_PICTURE}
            from chain_steps p join steps s on s.id = p.step left join images i on i.id = s.image
            left join comparisons k on k.editor = p.editor and k."case" = p."case" and k.step = p.position
              and k.role = 'step'
            left join (select a.step, min(a.started) started, sum(a.seconds) seconds, sum(a.dollars) dollars,
                         count(*) attempts, max(a.model) model from attempts a
                       where a.step in (select step from chain_steps where editor = ?1 and "case" = ?2)
                       group by a.step) t on t.step = s.id
            where p.editor = ?1 and p."case" = ?2 order by p.position"""
        rows = self._rows(query, chain.editor, chain.case)
        return [StepFacts._make((*row[:17], Picture(*row[17:]) if row[17] is not None else None)) for row in rows]

    def picture_counts(self) -> dict[tuple[str, str], int]:
        """(editor, case) → pictures that came back."""
        query = """select p.editor, p."case", count(s.image) from chain_steps p join steps s on s.id = p.step
            group by p.editor, p."case" """
        return {(editor, case): count for editor, case, count in self._rows(query)}

    def smallest_picture(self, chains: Sequence[ChainFacts]) -> tuple[int, int, str]:
        """(width, height, chain) of the picture with the shortest side."""
        query = """select p.editor, p."case", min(min(i.width, i.height)), i.width, i.height from chain_steps p
            join steps s on s.id = p.step join images i on i.id = s.image group by p.editor, p."case" """
        found = {(editor, case): (width, height) for editor, case, _, width, height in self._rows(query)}
        sizes = [(chain.picture.width, chain.picture.height, chain.id) for chain in chains]
        sizes += [(*found[chain[:2]], chain.id) for chain in chains if chain[:2] in found]
        return min(sizes, key=lambda size: min(size[:2]))

    def measured(self) -> list[tuple[str, str, int]]:
        """(metric, role, lag) of everything that was measured under the run's alignment."""
        query = """select distinct m.metric, k.role, k.lag from measurements m join comparisons k on k.id = m.comparison
            where m.align in (?, 'none') order by 1, 2, 3"""
        return [(metric, role, lag) for metric, role, lag in self._rows(query, self.align)]

    def values(self, chain: ChainFacts) -> list[Value]:
        """Every measurement of a chain, under whatever alignment."""
        query = """select k.step, m.metric, k.role, k.lag, m.align, m.value, m.status, m.detail, m.fingerprint
            from comparisons k join measurements m on m.comparison = k.id
            where k.editor = ? and k."case" = ? order by k.step, m.metric, k.role, k.lag, m.align, m.fingerprint"""
        return [Value(*row) for row in self._rows(query, chain.editor, chain.case)]

    def labels(self, chain: ChainFacts) -> list[Label]:
        """Every failure label of a chain, by whomever."""
        if "labels" not in self._tables:  # a run of an older schema
            return []
        query = """select mode, level, present, step, last, shown, region, confidence, source, "by", detail, made
            from labels where editor = ? and "case" = ? order by mode, source, "by", made, step, id"""
        return [Label(*row) for row in self._rows(query, chain.editor, chain.case)]

    def read(self, picture: Picture) -> bytes:
        """The bytes as received; a file that is not what the journal says is refused."""
        try:
            data = (self.root / picture.file).read_bytes()
        except FileNotFoundError as error:
            raise StudyError(f"{picture.file} is missing from {self.root}; see: cbench verify {self.root}") from error
        if image_id(data) != picture.id:
            raise StudyError(f"{picture.file} is not the image it was; see: cbench verify {self.root}")
        return data

    def __enter__(self) -> RunSource:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._connection.close()
