"""Questions to a role: the answer to one `Ask` of a study, or to a question that a metric asks."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from convergebench.engine.attempt import Attempt, Charge, Price, is_amount, stored_text
from convergebench.engine.caller import Accepted, Endpoint, Exchange
from convergebench.engine.edit_calls import ChainPosition
from convergebench.engine.foreign import foreign_code
from convergebench.errors import EditorError, Refused, StudyError
from convergebench.ids import answer_id, canonical
from convergebench.roles.base import Answered, Role
from convergebench.store.journal import Journal
from convergebench.store.tables import AnswerRow, TableRow


@dataclass(frozen=True)
class Question:
    """A question to be answered. `pictures` reads the images, and only when the call is about to be made."""

    key: str
    payload: Mapping[str, Any]
    pictures: Callable[[], Awaitable[tuple[bytes, ...]]] = field(repr=False)
    repeat: int = 0
    position: ChainPosition | None = None
    """The chain and position where it is first asked; None: outside a chain."""
    rows: list[TableRow] = field(default_factory=list)


class Answer(NamedTuple):
    """An answer; `value` is None if it was refused or could not be parsed."""

    value: Any
    raw: str
    model: str
    refused: bool = False


class RoleEndpoint(Endpoint[Question, Answered, Answer]):
    """A role under its name in the study."""

    def __init__(self, role: Role, name: str, *, journal: Journal) -> None:
        self.role, self.name, self.label = role, name, f"role:{name}"
        self.limits = role.limits
        self.unpriced = (
            f"--max-cost cannot be kept: the price of the {name} is unknown; give [roles.{name}] its "
            "dollars_per_million = {input = …, output = …} (0 for your own server)"
        )
        self._journal = journal

    def question(
        self,
        payload: Mapping[str, Any],
        parents: tuple[str, ...],
        pictures: Callable[[], Awaitable[tuple[bytes, ...]]],
        repeat: int,
        **facts: Any,
    ) -> Question:
        """A question about `parents` (states or images), keyed by all that its answer depends on."""
        key = answer_id(
            parents=parents, role=self.name, payload=payload, fingerprint=self.role.fingerprint, replicate=repeat
        )
        return Question(key, payload, pictures, repeat, **facts)

    def price(self, request: Question | None = None) -> Price:
        """The role's present estimate, which it updates with each answer."""
        return Price.of(self.role.dollars_per_call, f"the {self.name}")

    def known(self, key: str) -> Answer | None:
        """The journalled answer."""
        row = self._journal.answer(key)
        if row is None:
            return None
        if row.value is not None:
            return Answer(json.loads(row.value), row.raw, row.model)
        return Answer(None, row.raw, row.model, refused=self._journal.was_refused(key))

    async def prepare(self, request: Question, number: int, row_numbers: Iterator[int]) -> Exchange[Answered]:
        """Read the pictures."""
        pictures = await request.pictures()

        async def send() -> Answered:
            with foreign_code(StudyError):
                answered = await self.role.ask(pictures, request.payload, repeat=request.repeat)
                self._check_fields(answered)
            return answered

        return Exchange(send)

    async def accept(self, request: Question, attempt: Attempt, received: Answered) -> Accepted[Answer]:
        """The value with its JSON; one that JSON cannot hold counts as unparsable."""
        value, text = _as_json(received.value)
        answer = Answer(value, stored_text(received.raw), stored_text(received.model))
        return Accepted(answer, [self._row(request, answer, text, attempt, received.dollars)])

    def declined(
        self, request: Question, attempt: Attempt, error: EditorError, charge: Charge
    ) -> Accepted[Answer] | None:
        """A refusal is an answer without a value."""
        if not isinstance(error, Refused):
            return None
        answer = Answer(None, stored_text(f"{error.reason}: {error}"), stored_text(self.role.about), refused=True)
        return Accepted(answer, [self._row(request, answer, None, attempt, charge.dollars)])

    async def close(self) -> None:
        """Close the role's connections."""
        await self.role.close()

    def _check_fields(self, answered: Answered) -> None:
        if not isinstance(answered, Answered):
            kind = type(answered).__name__
            raise EditorError(f"the {self.name} answered with a {kind} instead of Answered", unsettled=True)
        if not is_amount(answered.dollars):
            raise EditorError(f"the {self.name} says that the call cost {answered.dollars!r} dollars", unsettled=True)

    def _row(
        self, question: Question, answer: Answer, value: str | None, attempt: Attempt, dollars: float
    ) -> AnswerRow:
        """The row of an answer; its cost is repeated from the attempt's row, which is the one that counts."""
        position = question.position
        return AnswerRow(
            id=question.key,
            role=self.name,
            payload=canonical(dict(question.payload)),
            value=value,
            raw=answer.raw,
            model=answer.model,
            seconds=attempt.seconds,
            dollars=dollars,
            editor=position and position.editor,
            case=position and position.case,
            position=position and position.step,
        )


def _as_json(value: Any) -> tuple[Any, str | None]:
    """(value, its JSON); both None for a value that JSON or the journal cannot hold."""
    if value is None:
        return None, None
    try:
        text = canonical(value)
        text.encode("utf-8")
    except (TypeError, ValueError, RecursionError):
        return None, None
    return value, text
