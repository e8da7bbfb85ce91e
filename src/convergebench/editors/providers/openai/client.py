"""Shared by both of OpenAI's interfaces: the client, the options of an image, and error handling."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from convergebench.editors.base import ImageSize
from convergebench.editors.models.table import ModelEntry
from convergebench.editors.providers.openai.response import REFUSAL_CODES
from convergebench.editors.providers.openai.sizes import checked_size, honoured, size_for
from convergebench.editors.providers.remote import RemoteOptions
from convergebench.editors.providers.sdk import LibraryEditor, answer_of, http_errors, raw_of
from convergebench.errors import BadReply, EditorError, Prerequisite, StudyError, Transient, Unavailable
from convergebench.images.decode import probe
from convergebench.keys import require_key
from convergebench.types import EditRequest
from convergebench.wire.client import HttpReply, clean, connection_error, origin, was_sent
from convergebench.wire.verdict import classify_failure

if TYPE_CHECKING:
    import httpx2

NEWER_QUALITIES = ("xhigh", "max")
"""Qualities that only newer models have."""
_DAILY_LIMIT = re.compile(r"\bper day\b|\b[RTI]PD\b", re.IGNORECASE)
"""A daily limit in the message of a 429."""


class OpenAIOptions(RemoteOptions):
    """Options of a GPT Image model. None: the model's default."""

    quality: Literal["auto", "low", "medium", "high", "xhigh", "max"] = "high"
    """`auto` lets the model choose for each call, which makes comparisons unfair."""
    size: str = ""
    """`auto` or WIDTHxHEIGHT; empty: the supported size closest to the input's."""
    complexity: Literal["low", "medium", "high"] | None = None
    """Planning effort, if the model supports it."""
    input_fidelity: Literal["low", "high"] | None = None
    """How closely to follow the input; only gpt-image-1.5 accepts both."""
    output_format: Literal["png", "jpeg", "webp"] = "png"
    background: Literal["opaque", "auto", "transparent"] = "opaque"


class OpenAIEditor(LibraryEditor):
    """A GPT Image model at OpenAI. `image_model` is the id of the model that makes the image."""

    keys: ClassVar = ("OPENAI_API_KEY",)
    address = "https://api.openai.com/v1"
    needs: ClassVar = {"openai": "openai"}
    takes = frozenset({"image/png", "image/jpeg", "image/webp"})
    options: OpenAIOptions

    def __init__(self, name: str, model: ModelEntry, given: Mapping[str, Any]) -> None:
        super().__init__(name, model, given)
        self.image_model = self._image_model()
        # both interfaces share the rate limits of one account
        self.limits = replace(self.limits, account=f"openai:{'|'.join(self.variables)}")
        options = self.options
        if options.quality in NEWER_QUALITIES and _older(self.image_model):
            raise StudyError(
                f"{self.image_model} takes quality = low, medium, high or auto; it was given {options.quality}"
            )
        if options.input_fidelity and not _has_fidelity(self.image_model, options.input_fidelity):
            raise StudyError(
                f"{self.image_model} does not support input_fidelity = {options.input_fidelity}; leave it out"
            )
        if options.background == "transparent" and options.output_format == "jpeg":
            raise StudyError(f"{name}: JPEG has no transparency; use output_format = png or webp")
        if options.size:
            checked_size(options.size, self.image_model)
        # a fixed size leaves no choice per call; and another image model has other sizes
        able = self.capabilities
        resolutions, aspects = ((), ()) if options.size else honoured(self.image_model, able.resolutions, able.aspects)
        self.capabilities = replace(able, resolutions=resolutions, aspects=aspects)

    def _image_model(self) -> str:
        return self.model.wire_id

    def image_arguments(self, request: EditRequest) -> dict[str, Any]:
        """Arguments for the output image."""
        options = self.options
        sent = {
            "size": options.size or self._size(request),
            "quality": options.quality,
            "background": options.background,
            "output_format": options.output_format,
            "complexity": options.complexity,
            "input_fidelity": options.input_fidelity,
        }
        return {name: value for name, value in sent.items() if value is not None}

    def _size(self, request: EditRequest) -> str:
        found = probe(request.image)
        settings = request.settings
        return size_for(self.image_model, ImageSize(found.width, found.height), settings.resolution, settings.aspect)

    async def call_api(self, call: Awaitable[Any]) -> dict[str, Any]:
        """The raw body of a reply; raises the error that a failed one means."""
        import openai

        try:
            with http_errors(self.base_url):
                found = await call
        except openai.APIStatusError as error:
            raise failure(answer_of(error.response)) from error
        except openai.APITimeoutError as error:
            unsettled = _was_sent(error)
            raise Transient(f"{origin(self.base_url)} does not answer in time", unsettled=unsettled) from error
        except openai.APIConnectionError as error:
            cause = error.__cause__ if isinstance(error.__cause__, Exception) else error
            raise Transient(connection_error(origin(self.base_url), cause), unsettled=_was_sent(error)) from error
        except openai.OpenAIError as error:
            raise BadReply(f"{self.name} agave an unexpected answer: {clean(str(error))}", unsettled=True) from error
        body = answer_of(found.http_response).json()
        if not isinstance(body, dict):
            message = f"{self.name} answered with a {type(body).__name__}"
            raise BadReply(message, raw=raw_of(body, self.name), unsettled=True)
        return body

    def _make(self, connections: httpx2.AsyncClient) -> Any:
        """A client with our key and address. OPENAI_ORG_ID and OPENAI_PROJECT_ID are used: they decide who pays."""
        key = require_key(self.variables, "OpenAI")
        try:
            import openai
        except ImportError as error:
            raise Prerequisite(f"{self.name} needs openai: pip install 'convergebench[openai]'") from error
        return openai.AsyncOpenAI(
            api_key=key,
            base_url=self.base_url,
            timeout=connections.timeout,
            max_retries=0,
            # OPENAI_CUSTOM_HEADERS could replace it
            default_headers={"Authorization": f"Bearer {key}"},
            http_client=connections,
        )


def _was_sent(error: Exception) -> bool:
    """The cause of the library's error decides."""
    cause = error.__cause__
    return not isinstance(cause, Exception) or was_sent(cause)


def failure(answer: HttpReply) -> EditorError:
    """The error to raise for a failed call."""
    verdict = classify_failure(answer, refusals=REFUSAL_CODES)
    if verdict.code == "previous_response_not_found":
        return EditorError(f"{verdict.message} (sessions are kept for 30 days; run this chain again)", raw=verdict.raw)
    if answer.status == 429 and verdict.kind == "busy" and _DAILY_LIMIT.search(verdict.message):
        return Unavailable(f"{verdict.message} (today's quota is used up)", raw=verdict.raw)
    return verdict.as_editor_error()


def _older(model: str) -> bool:
    return model.startswith(("gpt-image-1", "chatgpt-image")) or bool(re.match(r"gpt-image-2(-\d|$)", model))


def _has_fidelity(image_model: str, chosen: str) -> bool:
    """Per the library's documentation; models that it does not mention are assumed to support it."""
    if image_model.startswith("gpt-image-1-mini"):
        return chosen == "low"
    return not image_model.startswith("gpt-image-2")
