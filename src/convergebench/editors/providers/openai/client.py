"""What both of OpenAI's interfaces share: the client, the options of an image, and what a failure means."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from convergebench.editors.models.table import Model
from convergebench.editors.providers.openai.response import UNWILLING
from convergebench.editors.providers.openai.sizes import Size, checked_size, honoured, size_for
from convergebench.editors.providers.remote import RemoteOptions
from convergebench.editors.providers.sdk import LibraryEditor, answer_of, raw_of, reaching
from convergebench.errors import BadReply, EditorError, Prerequisite, StudyError, Transient, Unavailable
from convergebench.images.decode import probe
from convergebench.keys import require_key
from convergebench.types import EditRequest
from convergebench.wire.client import Answer, broken, clean, origin, was_sent
from convergebench.wire.verdict import judge

if TYPE_CHECKING:
    import httpx2

FINEST = ("xhigh", "max")
"""Qualities of the later models alone."""
_A_DAY = re.compile(r"\bper day\b|\b[RTI]PD\b", re.IGNORECASE)
"""How a limit of a day is named in the words of a 429."""


class OpenAIOptions(RemoteOptions):
    """What a GPT Image model can be told beside the words. None is left to the model."""

    quality: Literal["auto", "low", "medium", "high", "xhigh", "max"] = "high"
    """`auto` lets the model choose call by call, which no comparison wants."""
    size: str = ""
    """`auto` or WIDTHxHEIGHT; unless said, the input's own size as nearly as the model makes it."""
    complexity: Literal["low", "medium", "high"] | None = None
    """Effort in planning, where the model takes it."""
    input_fidelity: Literal["low", "high"] | None = None
    """How closely to keep to the input; gpt-image-1.5 alone takes both."""
    output_format: Literal["png", "jpeg", "webp"] = "png"
    background: Literal["opaque", "auto", "transparent"] = "opaque"


class OpenAIEditor(LibraryEditor):
    """A GPT Image model at OpenAI. `painter` is the id of the model that makes the image."""

    keys: ClassVar = ("OPENAI_API_KEY",)
    address = "https://api.openai.com/v1"
    needs: ClassVar = {"openai": "openai"}
    takes = frozenset({"image/png", "image/jpeg", "image/webp"})
    options: OpenAIOptions

    def __init__(self, name: str, model: Model, given: Mapping[str, Any]) -> None:
        super().__init__(name, model, given)
        self.painter = self._painter()
        # both interfaces try the patience of one account
        self.limits = replace(self.limits, account=f"openai:{'|'.join(self.variables)}")
        options = self.options
        if options.quality in FINEST and _older(self.painter):
            raise StudyError(
                f"{self.painter} takes quality = low, medium, high or auto; it was given {options.quality}"
            )
        if options.input_fidelity and not _has_fidelity(self.painter, options.input_fidelity):
            raise StudyError(f"{self.painter} does not take input_fidelity = {options.input_fidelity}; leave it out")
        if options.background == "transparent" and options.output_format == "jpeg":
            raise StudyError(f"{name}: JPEG holds no transparency; use output_format = png or webp")
        if options.size:
            checked_size(options.size, self.painter)
        # a size for every call leaves nothing to be said for one; and another tool makes other sizes
        able = self.capabilities
        resolutions, aspects = ((), ()) if options.size else honoured(self.painter, able.resolutions, able.aspects)
        self.capabilities = replace(able, resolutions=resolutions, aspects=aspects)

    def _painter(self) -> str:
        return self.model.wire_id

    def image_arguments(self, request: EditRequest) -> dict[str, Any]:
        """What the image is to be like."""
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
        return size_for(self.painter, Size(found.width, found.height), settings.resolution, settings.aspect)

    async def ask(self, call: Awaitable[Any]) -> dict[str, Any]:
        """The body of a reply as it came, or the error that it means."""
        import openai

        try:
            with reaching(self.base_url):
                found = await call
        except openai.APIStatusError as error:
            raise failure(answer_of(error.response)) from error
        except openai.APITimeoutError as error:
            unsettled = _was_sent(error)
            raise Transient(f"{origin(self.base_url)} does not answer in time", unsettled=unsettled) from error
        except openai.APIConnectionError as error:
            cause = error.__cause__ if isinstance(error.__cause__, Exception) else error
            raise Transient(broken(origin(self.base_url), cause), unsettled=_was_sent(error)) from error
        except openai.OpenAIError as error:
            raise BadReply(f"{self.name} answered oddly: {clean(str(error))}", unsettled=True) from error
        body = answer_of(found.http_response).json()
        if not isinstance(body, dict):
            message = f"{self.name} answered with a {type(body).__name__}"
            raise BadReply(message, raw=raw_of(body, self.name), unsettled=True)
        return body

    def _make(self, connections: httpx2.AsyncClient) -> Any:
        """A client with our key and address. OPENAI_ORG_ID and OPENAI_PROJECT_ID count: they say who pays."""
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
            # OPENAI_CUSTOM_HEADERS could put another one in its place
            default_headers={"Authorization": f"Bearer {key}"},
            http_client=connections,
        )


def _was_sent(error: Exception) -> bool:
    """The library's own error holds the one that tells."""
    cause = error.__cause__
    return not isinstance(cause, Exception) or was_sent(cause)


def failure(answer: Answer) -> EditorError:
    """The error that a failed call is."""
    verdict = judge(answer, unwilling=UNWILLING)
    if verdict.code == "previous_response_not_found":
        return EditorError(f"{verdict.message} (a session is kept for 30 days; run this chain anew)", raw=verdict.raw)
    if answer.status == 429 and verdict.kind == "busy" and _A_DAY.search(verdict.message):
        return Unavailable(f"{verdict.message} (the quota of this day is spent)", raw=verdict.raw)
    return verdict.as_editor_error()


def _older(painter: str) -> bool:
    return painter.startswith(("gpt-image-1", "chatgpt-image")) or bool(re.match(r"gpt-image-2(-\d|$)", painter))


def _has_fidelity(painter: str, chosen: str) -> bool:
    """What the library's own text says; of models it does not speak of nothing is assumed."""
    if painter.startswith("gpt-image-1-mini"):
        return chosen == "low"
    return not painter.startswith("gpt-image-2")
