"""A role served by a model: a rubric's question is sent in the server's protocol, and the reply is parsed strictly."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

from convergebench.errors import BadReply, EditorError, Refused, StudyError
from convergebench.ids import fingerprint
from convergebench.roles.base import Answered, Role
from convergebench.roles.clients import make_client
from convergebench.roles.clients.base import Completion, ModelQuestion, SentPicture
from convergebench.roles.clients.moving import is_moving
from convergebench.roles.tables import RoleTable
from convergebench.rubrics.reply import ReplyForm, parse
from convergebench.rubrics.rubric import form_of
from convergebench.types import Limits

VERSION = 1
"""Raised whenever the same table would ask differently or read replies differently; part of every fingerprint."""
TOKENS_OF_PICTURES = 6000
"""Tokens of three pictures of a megapixel and the text: for the price of the first question."""
TOKENS_OF_A_REPLY = 2048
"""Assumed tokens of a reply without a limit."""


class ServedRole(Role):
    """A model behind a server, in any of the protocols of `roles.clients`."""

    def __init__(self, name: str, table: RoleTable) -> None:
        self.name, self.table = name, table
        self.limits = Limits(table.at_once, table.per_minute, table.seconds)
        self.repeats, self.rubrics = table.repeats, table.rubrics
        self.fingerprint = fingerprint(
            "served",
            VERSION,
            {
                "model": table.model,
                "revision": table.revision,
                "temperature": table.temperature,
                "seed": table.seed,
                "max_tokens": table.max_tokens,
                "structured": table.structured,
                "detail": table.detail,
                "extra": table.extra,
                # a later addition: fingerprints of older roles stay the same
                **({} if table.api == "openai" else {"api": table.api}),
            },
        )
        moving = is_moving(table.model) and not table.revision
        model = f"{table.model} (an id that may later refer to another model)" if moving else table.model
        price = "" if table.dollars_per_million else ", at an unknown price"
        self.about = f"{model} at {table.base_url}{price}"
        if moving:
            self.notices = (
                f"[roles.{name}]: the id {table.model} may refer to another model later in the run; use a dated "
                'id, or state which one is meant: revision = "…"',
            )
        self._client = make_client(table)
        self._highest_cost = 0.0

    @property
    def dollars_per_call(self) -> float | None:  # type: ignore[override]
        """The highest cost so far, at least the estimate; None without prices."""
        if self.table.dollars_per_million is None:
            return None
        reply = self.table.max_tokens or TOKENS_OF_A_REPLY
        return max(self._highest_cost, self._dollars(TOKENS_OF_PICTURES, reply))

    def ready(self) -> None:
        """The key must be there."""
        self._client.secret()

    async def ask(self, images: tuple[bytes, ...], payload: Mapping[str, Any], *, repeat: int = 0) -> Answered:
        """Send the question with its pictures in order, and parse the reply by its form."""
        form = form_of(payload)
        seed = self.table.seed
        question = ModelQuestion(
            text=payload["text"],
            system=payload.get("system") or "",
            pictures=await asyncio.to_thread(self._pictures, images),
            name=payload["rubric"].replace("-", "_"),
            schema=form.json_schema() if form.form == "json" and self.table.structured else None,
            seed=None if seed is None else seed + repeat,
        )
        return self._answered(await self._client.complete(question), form)

    async def close(self) -> None:
        """Close the connections."""
        await self._client.close()

    def _answered(self, completion: Completion, form: ReplyForm) -> Answered:
        dollars = self._cost(completion)
        text, where = completion.text, self.table.base_url
        if completion.ended == "refused":
            message = text or f"the server's filter stopped the reply ({completion.reason})"
            raise Refused(message, reason=completion.reason, dollars=dollars, raw=text or completion.raw)
        if completion.ended == "broken":
            raise BadReply(f"{where} gave up ({completion.reason})", dollars=dollars, raw=completion.raw)
        if not text and completion.ended != "truncated":
            raise BadReply(f"{where} answered with an empty message", dollars=dollars, raw=completion.raw)
        # a truncated reply is no answer, even if its beginning can be parsed
        value = None if completion.ended == "truncated" else parse(text, form)
        return Answered(value, text, completion.model, dollars)

    def _pictures(self, images: tuple[bytes, ...]) -> tuple[SentPicture, ...]:
        try:
            return tuple(self._client.picture(data) for data in images)
        except StudyError as error:  # only this question fails
            raise EditorError(str(error)) from error

    def _cost(self, completion: Completion) -> float:
        """By the server's token count; without one, the reserved price."""
        if completion.sent is None or completion.written is None:
            return self.dollars_per_call or 0.0
        dollars = self._dollars(completion.sent, completion.written)
        self._highest_cost = max(self._highest_cost, dollars)
        return dollars

    def _dollars(self, sent: int, written: int) -> float:
        price = self.table.dollars_per_million
        return 0.0 if price is None else (sent * price.input + written * price.output) / 1e6
