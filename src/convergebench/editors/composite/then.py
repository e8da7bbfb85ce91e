"""Two editors in sequence: the second edits the answer of the first."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Any

from convergebench import ids
from convergebench.documents import Strict, check_document
from convergebench.editors.composite.base import (
    CompositeEditor,
    CompositePart,
    adding_cost,
    answer_of,
    check_name,
    part_of,
    request_for,
    valid_answer,
)
from convergebench.editors.composite.part_answers import RETRYABLE, PartAnswers
from convergebench.types import Edited, Editor, EditRequest

VERSION = 1


class ThenOptions(Strict):
    """The two editors, and the instruction for the second."""

    first: Any = None
    second: Any = None
    second_instruction: str = ""
    """Instruction for the second editor; empty: the same as for the first."""


class ThenEditor(CompositeEditor):
    """Calls both in sequence. It has no sessions, since no turn holds the intermediate image."""

    def __init__(self, name: str, first: Editor, second: Editor, *, instruction: str = "") -> None:
        identity = {"first": first.fingerprint, "second": second.fingerprint, "second_instruction": instruction}
        super().__init__(
            name, ids.fingerprint("then", VERSION, identity), [CompositePart(first), CompositePart(second)]
        )
        self.first, self.second, self.instruction = first, second, instruction
        self._answers = PartAnswers(self.limits.at_once)

    async def edit(self, request: EditRequest) -> Edited:
        """The second editor's answer. A retry does not repeat the first call if it succeeded."""
        one = self._answers.of(request).get(0)
        paid = 0.0
        if one is None:
            one = await valid_answer(self.first, request_for(self.first, request))
            paid = one.dollars
        following = replace(
            request,
            image=one.image,
            mime=one.mime,
            instruction=self.instruction or request.instruction,
            # with the same seed, two editors of one kind would add the same noise twice
            seed=ids.seed_from("then", request.seed),
            history=(),
        )
        try:
            with adding_cost(paid):
                two = await answer_of(self.second, request_for(self.second, following))
        except (*RETRYABLE, asyncio.CancelledError):  # a call that takes too long is cancelled, and tried again
            self._answers.store(request, {0: one})
            raise
        except Exception:
            self._answers.forget(request)
            raise
        self._answers.forget(request)
        return _joined(one, two, paid)


def _joined(one: Edited, two: Edited, paid: float) -> Edited:
    thoughts = [text for text in (one.reasoning, two.reasoning) if text]
    raws = {place: raw for place, raw in (("first", one.raw), ("second", two.raw)) if raw is not None}
    used = {place: dict(each.used) for place, each in (("first", one), ("second", two)) if each.used}
    return replace(
        two,
        model=f"{one.model}, then {two.model}",
        dollars=paid + two.dollars,
        reasoning="\n\n".join(thoughts) or None,
        raw=ids.canonical(raws) if raws else None,
        used=used,
    )


def then(name: str, **options: Any) -> ThenEditor:
    """`then`: a second editor works on the first one's answer; `then(E, F)`."""
    read = check_document(options, ThenOptions, where=name)
    first, second = part_of(name, "first", read.first), part_of(name, "second", read.second)
    check_name("then", name, [CompositePart(first), CompositePart(second)])
    return ThenEditor(name, first, second, instruction=read.second_instruction)


then.positional = ("first", "second")  # type: ignore[attr-defined]  # read by the parser of expressions
