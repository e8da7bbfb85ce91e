"""A role served by a model: a rubric's question is sent, and the reply is parsed strictly."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

from convergebench.errors import BadReply, EditorError, Refused, StudyError
from convergebench.ids import fingerprint
from convergebench.roles.base import Answered, Role
from convergebench.roles.chat import ChatClient, Completion, picture
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
    """A model behind an OpenAI-compatible server."""

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
            },
        )
        price = "" if table.dollars_per_million else ", at a price that is not known"
        self.about = f"{table.model} at {table.base_url}{price}"
        self._chat = ChatClient(
            table.base_url, table.model, key=table.key, seconds=table.seconds, at_once=table.at_once
        )
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
        self._chat.secret()

    async def ask(self, images: tuple[bytes, ...], payload: Mapping[str, Any], *, repeat: int = 0) -> Answered:
        """Send the question with its pictures in order, and parse the reply by its form."""
        form = form_of(payload)
        parts = await asyncio.to_thread(self._pictures, images)
        system = [{"role": "system", "content": payload["system"]}] if payload.get("system") else []
        # servers of text-only models often accept plain text alone
        content = [*parts, {"type": "text", "text": payload["text"]}] if parts else payload["text"]
        user = {"role": "user", "content": content}
        table = self.table
        completion = await self._chat.complete(
            [*system, user],
            temperature=table.temperature,
            seed=None if table.seed is None else table.seed + repeat,
            max_tokens=table.max_tokens or None,
            response_format=self._response_format(payload, form),
            **table.extra,
        )
        return self._answered(completion, form)

    async def close(self) -> None:
        """Close the connections."""
        await self._chat.close()

    def _answered(self, completion: Completion, form: ReplyForm) -> Answered:
        dollars = self._cost(completion)
        text = completion.refusal or completion.text
        if completion.refusal or completion.finish == "content_filter":
            reason = "refusal" if completion.refusal else "content_filter"
            raise Refused(text or "the server's filter stopped the reply", reason=reason, dollars=dollars, raw=text)
        if not text and completion.finish != "length":
            raise BadReply(f"{self.table.base_url} answered with an empty message", dollars=dollars)
        # a truncated reply is no answer, even if its beginning can be parsed
        value = None if completion.finish == "length" else parse(completion.text, form)
        return Answered(value, text, completion.model, dollars)

    def _pictures(self, images: tuple[bytes, ...]) -> list[dict[str, Any]]:
        try:
            return [picture(data, self.table.detail) for data in images]
        except StudyError as error:  # only this question fails
            raise EditorError(str(error)) from error

    def _response_format(self, payload: Mapping[str, Any], form: ReplyForm) -> dict[str, Any] | None:
        if form.form != "json" or not self.table.structured:
            return None
        schema = {"name": payload["rubric"].replace("-", "_"), "strict": True, "schema": form.json_schema()}
        return {"type": "json_schema", "json_schema": schema}

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
