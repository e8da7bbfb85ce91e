"""An answer as it comes over the wire: small, of known shape, with known questions and values, or refused."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Annotated

from pydantic import Field, StrictFloat, StrictInt, ValidationError
from starlette.requests import ClientDisconnect, Request

from convergebench.documents import Strict
from convergebench.serve.guard import Refusal

LARGEST = 4096
"""Most bytes of an answer; a real one has a few hundred."""
PATIENCE = 10.0
"""Seconds for all of it to arrive."""
LONGEST = 86_400.0
"""Most seconds for one picture; a page that was left open counts as this."""

Id = Annotated[str, Field(pattern=r"^[0-9a-f]{32}$")]
Question = Annotated[str, Field(max_length=40)]


class SentAnswer(Strict):
    """The body of a request."""

    item: Id
    values: Annotated[dict[Question, StrictInt | StrictFloat | None], Field(min_length=1, max_length=40)]
    seconds: Annotated[StrictInt | StrictFloat, Field(ge=0)]


async def read_answer(request: Request) -> SentAnswer:
    """The answer in a request; `Refusal` if it is none."""
    if request.headers.get("content-type", "").partition(";")[0].strip().lower() != "application/json":
        raise Refusal(415, "An answer is JSON.")
    try:
        return SentAnswer.model_validate_json(await _body(request))
    except ValidationError as error:
        raise Refusal(422, "This is not an answer.") from error


def checked_values(sent: SentAnswer, questions: Mapping[str, tuple[float, ...]]) -> dict[str, float | None]:
    """The values; `Refusal` for a question that was not asked or a value that it cannot have."""
    for question, value in sent.values.items():
        if question not in questions:
            raise Refusal(422, "That question was not asked.")
        if value is not None and value not in questions[question]:
            raise Refusal(422, "That value is not on the scale.")
    return {name: None if value is None else float(value) for name, value in sent.values.items()}


async def _body(request: Request) -> bytes:
    length = request.headers.get("content-length", "")
    if length.isdecimal() and len(length) < 20 and int(length) > LARGEST:
        raise Refusal(413, "This is too long for an answer.")
    body = b""
    try:
        async with asyncio.timeout(PATIENCE):
            async for part in request.stream():
                body += part
                if len(body) > LARGEST:
                    raise Refusal(413, "This is too long for an answer.")
    except TimeoutError as error:
        raise Refusal(408, "The answer took too long to arrive.") from error
    except ClientDisconnect as error:
        raise Refusal(400, "The answer did not arrive whole.") from error
    return body
