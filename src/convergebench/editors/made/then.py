"""One editor after the other: the second gets what the first made of the image."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Any

from convergebench import ids
from convergebench.documents import Strict, check_document
from convergebench.editors.made.base import (
    MadeEditor,
    Part,
    answer_of,
    check_name,
    counting,
    part_of,
    request_for,
    whole,
)
from convergebench.editors.made.kept import AGAIN, Kept
from convergebench.types import Edited, Editor, EditRequest

VERSION = 1


class Options(Strict):
    """Who goes first, and what the second is told."""

    first: Any = None
    second: Any = None
    second_instruction: str = ""
    """Words for the second editor; empty = the same as for the first."""


class Then(MadeEditor):
    """Both in a row. It keeps no session: the image between them is in no turn."""

    def __init__(self, name: str, first: Editor, second: Editor, *, words: str = "") -> None:
        identity = {"first": first.fingerprint, "second": second.fingerprint, "second_instruction": words}
        super().__init__(name, ids.fingerprint("then", VERSION, identity), [Part(first), Part(second)])
        self.first, self.second, self.words = first, second, words
        self._kept = Kept(self.limits.at_once)

    async def edit(self, request: EditRequest) -> Edited:
        """The second editor's answer to the first one's. A retry asks only for what is missing."""
        one = self._kept.of(request).get(0)
        paid = 0.0
        if one is None:
            one = await whole(self.first, request_for(self.first, request))
            paid = one.dollars
        following = replace(
            request,
            image=one.image,
            mime=one.mime,
            instruction=self.words or request.instruction,
            # with one seed two editors of one kind would make the same noise twice
            seed=ids.seed_from("then", request.seed),
            history=(),
        )
        try:
            with counting(paid):
                two = await answer_of(self.second, request_for(self.second, following))
        except (*AGAIN, asyncio.CancelledError):  # a call that takes too long is cancelled, and tried again
            self._kept.keep(request, {0: one})
            raise
        except Exception:
            self._kept.forget(request)
            raise
        self._kept.forget(request)
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


def then(name: str, **options: Any) -> Then:
    """`then`: a second editor works on the first one's answer; `then(E, F)`."""
    read = check_document(options, Options, where=name)
    first, second = part_of(name, "first", read.first), part_of(name, "second", read.second)
    check_name("then", name, [Part(first), Part(second)])
    return Then(name, first, second, words=read.second_instruction)


then.positional = ("first", "second")  # type: ignore[attr-defined]  # read by the parser of expressions
