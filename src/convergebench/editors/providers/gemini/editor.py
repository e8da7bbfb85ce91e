"""One edit by a Gemini image model: `generate_content` with image and instruction."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar, Literal, cast

from convergebench.editors.models.table import ModelEntry
from convergebench.editors.providers.gemini.contents import conversation
from convergebench.editors.providers.gemini.failure import failure
from convergebench.editors.providers.gemini.reply import read_reply
from convergebench.editors.providers.remote import RemoteOptions
from convergebench.editors.providers.sdk import LibraryEditor, answer_of, http_errors, mark_unsettled, trust_store
from convergebench.errors import BadReply, Prerequisite, StudyError
from convergebench.keys import require_key
from convergebench.types import Edited, EditRequest
from convergebench.wire.client import HttpReply, clean

if TYPE_CHECKING:
    import httpx2
    from google.genai import types

LEVELS: Mapping[str, tuple[str, ...]] = {
    "gemini-3.1-flash-image": ("minimal", "high"),
    "gemini-3.1-flash-lite-image": ("minimal", "high"),
    "gemini-nano-banana-2.1": ("minimal", "medium", "high"),
}
"""Thinking levels by model. The Pro model always thinks, at a level of its own; 2.5 never does."""
CATEGORIES = ("HARASSMENT", "HATE_SPEECH", "SEXUALLY_EXPLICIT", "DANGEROUS_CONTENT")
"""Kinds of harm whose threshold can be set."""


class GeminiOptions(RemoteOptions):
    """Optional arguments of a call."""

    thinking: Literal["minimal", "low", "medium", "high"] | None = None
    """Thinking level; unset: the model's default."""
    safety: Literal["BLOCK_LOW_AND_ABOVE", "BLOCK_MEDIUM_AND_ABOVE", "BLOCK_ONLY_HIGH", "BLOCK_NONE", "OFF"] | None = (
        None
    )
    """Probability of harm above which content is blocked, for every category."""
    api_version: Literal["v1", "v1beta"] = "v1"


class GeminiEditor(LibraryEditor):
    """Nano Banana and its successors by their maker (the Developer API, not Vertex)."""

    Options = GeminiOptions
    provider = "google"
    # the library prefers the first one too
    keys: ClassVar = ("GOOGLE_API_KEY", "GEMINI_API_KEY")
    address = "https://generativelanguage.googleapis.com"
    needs: ClassVar = {"google.genai": "gemini"}
    takes = frozenset({"image/png", "image/jpeg", "image/webp"})
    options: GeminiOptions

    def __init__(self, name: str, model: ModelEntry, given: Mapping[str, Any]) -> None:
        super().__init__(name, model, given)
        known = LEVELS.get(model.wire_id, ())
        listed = not model.id.startswith(f"{self.provider}:")
        if self.options.thinking and listed and self.options.thinking not in known:
            takes = f"takes thinking = {', '.join(known)}" if known else "has no thinking levels"
            raise StudyError(f"{name} {takes}; it was given '{self.options.thinking}'")

    async def edit(self, request: EditRequest) -> Edited:
        """One attempt; the engine does the retries."""
        client = self._client()
        used = self._arguments(request)
        contents = conversation(request, self.sendable)
        answer = await self._call(client, contents, used)
        reply = read_reply(answer.json(), self.name)
        dollars = self.cost(request, reply.tokens, made=reply.image is not None)
        if reply.image is None:
            raise mark_unsettled(reply.refusal(self.name, dollars))
        image, mime = self.received(reply.image, raw=reply.raw, dollars=dollars)
        if request.settings.session == "single":
            used["turns"] = len(request.history)
        return Edited(
            image,
            mime,
            reply.version or self.model.wire_id,
            dollars,
            reasoning=reply.thoughts if request.settings.reasoning else None,
            raw=reply.raw,
            used={**used, "drafts": reply.drafts},
        )

    def _arguments(self, request: EditRequest) -> dict[str, Any]:
        """All arguments except instruction and images. Without an aspect ratio the output follows the input's."""
        settings = request.settings
        sent: dict[str, Any] = {"response_modalities": ["TEXT", "IMAGE"], "api_version": self.options.api_version}
        if self.capabilities.seed:
            sent["seed"] = request.seed
        if settings.temperature is not None:
            sent["temperature"] = settings.temperature
        if settings.aspect:
            sent["aspect_ratio"] = settings.aspect
        # a model with a single size needs no argument, and 2.5 rejects it
        if settings.resolution and len(self.model.resolutions) > 1:
            sent["image_size"] = settings.resolution
        if settings.reasoning:
            sent["include_thoughts"] = True
        if self.options.thinking:
            sent["thinking_level"] = self.options.thinking
        if self.options.safety:
            sent["safety"] = self.options.safety
        return sent

    async def _call(self, client: Any, contents: list[types.Content], used: Mapping[str, Any]) -> HttpReply:
        """The raw reply; raises the error that a failed one means."""
        from google.genai import errors

        try:
            with http_errors(self.base_url):
                found = await client.aio.models.generate_content(
                    model=self.model.wire_id, contents=contents, config=_config(used)
                )
        except errors.APIError as error:
            raise failure(answer_of(cast("httpx2.Response", error.response))) from error
        except (UnicodeDecodeError, RecursionError) as error:  # an error body that cannot be decoded
            raise BadReply(f"{self.name} answered with something that is not text", unsettled=True) from error
        except ValueError as error:  # the library validates its arguments
            raise StudyError(f"{self.name} cannot be called this way: {clean(str(error))}") from error
        body = found.sdk_http_response.body or ""
        return HttpReply(200, found.sdk_http_response.headers or {}, body.encode("utf-8", "replace"), self.base_url)

    def _make(self, connections: httpx2.AsyncClient) -> Any:
        """A client that takes only the proxy from the environment."""
        key = require_key(self.variables, "Gemini")
        log = logging.getLogger("google_genai")
        if not log.handlers:  # it warns on the terminal about two keys, though it uses neither here
            log.addHandler(logging.NullHandler())
        try:
            from google import genai
            from google.genai import types
            from google.genai.client import DebugConfig
        except ImportError as error:
            raise Prerequisite(f"{self.name} needs google-genai: pip install 'convergebench[gemini]'") from error
        return genai.Client(
            api_key=key,
            vertexai=False,
            debug_config=DebugConfig(client_mode=None, replays_directory=None, replay_id=None),
            http_options=types.HttpOptions(
                base_url=self.base_url,
                api_version=self.options.api_version,
                timeout=max(1, int(self.request_seconds * 1000)),
                httpx_async_client=connections,
                client_args={"verify": trust_store()},  # for the sync client, which is not used
            ),
        )


def _config(used: Mapping[str, Any]) -> types.GenerateContentConfig:
    from google.genai import types

    shape = {name: used[name] for name in ("aspect_ratio", "image_size") if name in used}
    thinking = {name: used[name] for name in ("include_thoughts", "thinking_level") if name in used}
    return types.GenerateContentConfig(
        should_return_http_response=True,  # the raw reply: the library drops unknown fields
        automatic_continuation=False,
        automatic_function_calling=types.AutomaticFunctionCallingConfig(disable=True),
        response_modalities=used["response_modalities"],
        seed=used.get("seed"),
        temperature=used.get("temperature"),
        image_config=types.ImageConfig(**shape) if shape else None,
        thinking_config=types.ThinkingConfig(**thinking) if thinking else None,
        safety_settings=[
            types.SafetySetting(
                category=types.HarmCategory(f"HARM_CATEGORY_{name}"), threshold=types.HarmBlockThreshold(used["safety"])
            )
            for name in CATEGORIES
        ]
        if "safety" in used
        else None,
    )
