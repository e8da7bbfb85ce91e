"""The contents of a Gemini request: image and instruction, and in a session all earlier turns.

A session is sent as the library's own chat does: user and model alternate, the model's parts with their thought
signatures, which Gemini 3 requires (without them it answers 400).
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from convergebench.editors.providers.sdk import from_base64, rows, table, text
from convergebench.types import EditRequest, Turn

if TYPE_CHECKING:
    from google.genai import types

Sendable = Callable[[EditRequest], tuple[bytes, str]]


def conversation(request: EditRequest, sendable: Sendable) -> list[types.Content]:
    """All turns including this one. An image that the model made in the previous turn is not sent again."""
    from google.genai import types

    contents: list[types.Content] = []
    before: bytes | None = None
    for turn in request.history if request.settings.session == "single" else ():
        contents.append(_user_turn(replace(request, image=turn.image, instruction=turn.instruction), before, sendable))
        contents.append(types.Content(role="model", parts=list(_model_parts(turn))))
        before = turn.answer
    contents.append(_user_turn(request, before, sendable))
    return contents


def _user_turn(request: EditRequest, before: bytes | None, sendable: Sendable) -> types.Content:
    from google.genai import types

    parts = [types.Part(text=request.instruction)]
    if request.image != before:
        data, mime = sendable(request)
        parts.insert(0, types.Part.from_bytes(data=data, mime_type=mime))
    return types.Content(role="user", parts=parts)


def _model_parts(turn: Turn) -> Iterator[types.Part]:
    """The model's parts: its image from the run's files, the rest from the stored reply. Drafts are not stored."""
    from google.genai import types

    parts = _parts_of(turn.raw)
    pictures = [part for part in parts if "inlineData" in part and part.get("thought") is not True]
    blob = types.Blob(data=turn.answer, mime_type=turn.answer_mime)
    for part in parts:
        signature = from_base64(part.get("thoughtSignature"))
        if pictures and part is pictures[-1]:
            yield types.Part(inline_data=blob, thought_signature=signature)
        elif text(part.get("text")) or ("text" in part and signature):  # a signature may come without text
            thought = True if part.get("thought") is True else None
            yield types.Part(text=text(part["text"]), thought=thought, thought_signature=signature)
    if not pictures:
        yield types.Part(inline_data=blob)


def _parts_of(raw: str | None) -> list[dict[str, Any]]:
    try:
        reply = json.loads(raw or "null")
    except (ValueError, RecursionError):
        return []
    candidates = rows(table(reply).get("candidates"))
    return rows(table(candidates[0].get("content")).get("parts")) if candidates else []
