"""The journal of a run, read-only: single rows by key, and sums."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from convergebench.errors import StudyError
from convergebench.store.connection import open_for_reading
from convergebench.store.tables import AnswerRow, ChainStatusRow, ImageRow, PartRow, StepRow, TableRow, columns_of_row

R = TypeVar("R", bound=TableRow)


class Unsettled(NamedTuple):
    """Calls whose cost is uncertain."""

    calls: int
    dollars: float


class ModelReply(NamedTuple):
    """The model that answered a step and its raw reply; None if unanswered or not kept."""

    model: str | None
    raw: str | None


class Records:
    """The journal of a run, for reading; another process may be writing it. A run of an older schema is not changed."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._read = open_for_reading(path)

    def query(self, sql: str, parameters: Sequence[Any] = ()) -> Iterator[tuple[Any, ...]]:
        """For this room only: other rooms call functions of `store.queries`, which give typed rows."""
        # not `yield from`: it would close the cursor, possibly after its connection
        for row in self._read.execute(sql, parameters):  # noqa: UP028
            yield row

    def table(self, row: type[R], where: str = "", parameters: Sequence[Any] = ()) -> Iterator[R]:
        """The rows of one table; for this room only."""
        columns = ", ".join(f'"{name}"' for name in columns_of_row(row))
        for cells in self.query(f"select {columns} from {row.table} {where}", parameters):
            yield row(*cells)

    def _one(self, row: type[R], identity: str) -> R | None:
        return next(self.table(row, "where id = ?", (identity,)), None)

    def step(self, identity: str) -> StepRow | None:
        """The answered step of this id, if any."""
        return self._one(StepRow, identity)

    def answer(self, identity: str) -> AnswerRow | None:
        """The answer of this id, if any."""
        return self._one(AnswerRow, identity)

    def part(self, identity: str) -> PartRow | None:
        """The answer of an editor's part, if any."""
        return self._one(PartRow, identity)

    def image_row(self, identity: str) -> ImageRow:
        """A stored image."""
        found = self._one(ImageRow, identity)
        if found is None:
            raise StudyError(f"image {identity} is not in {self.path}; see: cbench verify {self.path.parent}")
        return found

    def images(self) -> dict[str, ImageRow]:
        """Every stored image by its id."""
        return {row.id: row for row in self.table(ImageRow)}

    def attempts(self, step: str) -> int:
        """How many times this step was attempted, in all sessions; calls of an editor's parts do not count."""
        return int(self._number("select count(*) from attempts where step = ? and part = ''", step))

    def last_attempt(self, step: str) -> int:
        """The highest number among the rows about this step; 0 if there is none."""
        return int(self._number("select coalesce(max(attempt), 0) from attempts where step = ?", step))

    def was_refused(self, question: str) -> bool:
        """Whether a step or a question was refused."""
        return bool(self._number("select count(*) from attempts where step = ? and outcome = 'refused'", question))

    def reply(self, step: str) -> ModelReply:
        """The reply of the attempt that answered a step."""
        query = """select model, raw from attempts where step = ? and outcome in ('ok', 'reused') and part = ''
                   order by attempt desc limit 1"""
        return next((ModelReply(model, raw) for model, raw in self.query(query, (step,))), ModelReply(None, None))

    def dollars(self) -> float:
        """What this run has cost so far: calls of editors and questions to models, those of unknown outcome too."""
        return float(self._number("select coalesce(sum(dollars), 0) from attempts"))

    def unsettled(self) -> Unsettled:
        """Calls that were sent and may or may not be charged, with their price."""
        query = "select count(*), coalesce(sum(dollars), 0) from attempts where not settled"
        ((calls, dollars),) = self.query(query)
        return Unsettled(int(calls), float(dollars))

    def chains(self) -> dict[tuple[str, str], ChainStatusRow]:
        """(editor, case) → how far it has come."""
        return {(row.editor, row.case): row for row in self.table(ChainStatusRow, 'order by editor, "case"')}

    def _number(self, query: str, *parameters: str) -> float:
        ((number,),) = self.query(query, parameters)
        return float(number)

    def freeze(self) -> None:
        """Make all later reads see the journal as it is now."""
        self._read.execute("begin")

    def close(self) -> None:
        """Close the database."""
        self._read.close()
