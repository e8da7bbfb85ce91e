"""Grok Imagine at xAI: one call in JSON. Their edits take no multipart form, so OpenAI's client cannot be used."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, ClassVar, Literal

from pydantic import Field

from convergebench.editors.models.table import ModelEntry
from convergebench.editors.providers.download import image_at, image_in
from convergebench.editors.providers.remote import RemoteOptions, data_uri
from convergebench.editors.providers.wired import RequestShape, WiredEditor, amount, part
from convergebench.errors import BadReply, Refused, StudyError
from convergebench.types import Edited, EditRequest
from convergebench.wire.client import HttpReply, clean, origin
from convergebench.wire.raw import without_images
from convergebench.wire.verdict import ErrorVerdict, classify_failure

TICKS = 1e10
"""Units per dollar in the cost that a reply states."""
_WRONG_KEY = re.compile(r"incorrect api key", re.IGNORECASE)
_MODERATED = re.compile(r"moderat|content polic|safety", re.IGNORECASE)


class XAIOptions(RemoteOptions):
    """Optional arguments of a call."""

    quality: Literal["low", "medium"] | None = None
    """Only for the 2.0 model; it decides the price."""


class XAIShape(RequestShape):
    """Differences between the models."""

    ignored: ClassVar = frozenset({"qualities"})
    qualities: dict[str, float] = Field(default_factory=dict)
    """Dollars by quality, for models with a choice."""


class XAIEditor(WiredEditor):
    """Grok Imagine by its maker."""

    Options = XAIOptions
    WireShape = XAIShape
    provider = "xai"
    keys: ClassVar = ("XAI_API_KEY",)
    address = "https://api.x.ai/v1"
    options: XAIOptions
    shape: XAIShape

    def __init__(self, name: str, model: ModelEntry, given: Mapping[str, Any]) -> None:
        super().__init__(name, model, given)
        quality, prices = self.options.quality, self.shape.qualities
        if quality is None:
            return
        if quality not in prices:
            raise StudyError(f"editor '{name}': {model.id} takes no quality; grok-imagine-image-2.0 does")
        if self.options.dollars is None:
            self.capabilities = replace(self.capabilities, dollars_per_call=prices[quality])

    async def edit(self, request: EditRequest) -> Edited:
        """One call. The answer is a JPEG with the aspect of the input."""
        used: dict[str, Any] = {"n": 1, "response_format": "b64_json"}
        if request.settings.resolution:
            used["resolution"] = request.settings.resolution.lower()
        if self.options.quality:
            used["quality"] = self.options.quality
        image = {"url": data_uri(*self.sendable(request))}
        body = {**used, "model": self.model.wire_id, "prompt": request.instruction, "image": image}
        reply = self.read(await self.wire.send("POST", "/images/edits", json=body))
        raw = without_images(reply)
        ticks = amount(part(reply, "usage", "cost_in_usd_ticks"))
        dollars = self.price(request) if ticks is None else ticks / TICKS
        first = self._first(reply, raw, dollars)
        if first.get("b64_json") is None and isinstance(first.get("url"), str):
            data = await image_at(self.wire, first["url"], who=self.name, raw=raw, dollars=dollars)
        else:
            data = image_in(first.get("b64_json"), who=self.name, raw=raw, dollars=dollars)
        data, mime = self.received(data, raw=raw, dollars=dollars)
        model = part(reply, "model")
        model_id = clean(model) if isinstance(model, str) else self.model.wire_id
        return Edited(data, mime, model_id, dollars, raw=raw, used=used)

    def _first(self, reply: dict[str, Any], raw: str, dollars: float) -> dict[str, Any]:
        """The image of a reply. Refusals come with status 200: as an empty list, or as a flag on the image."""
        data = reply.get("data")
        if data == []:
            reasons = [value for key, value in reply.items() if "reason" in key and isinstance(value, str) and value]
            why = clean(reasons[0]) if reasons else "no image came back, so its filter blocked the request"
            raise Refused(f"{self.name}: {why}", reason="empty data", raw=raw, dollars=dollars)
        first = part(data, 0)
        if not isinstance(first, dict):
            raise BadReply(f"{self.name} answered without an image", raw=raw, dollars=dollars, unsettled=not dollars)
        if first.get("respect_moderation") is False:
            message = f"{self.name}: the image was blocked by moderation"
            raise Refused(message, reason="respect_moderation", raw=raw, dollars=dollars)
        return first

    def verdict(self, answer: HttpReply) -> ErrorVerdict:
        """A refusal may also be a 400 or 403 with a telling message; a rejected key is a 400."""
        found = classify_failure(answer)
        if answer.status == 400 and _WRONG_KEY.search(found.message):  # its message repeats part of the key
            return found._replace(kind="key", message=f"{origin(answer.address)} answers 400: it rejects the key")
        if answer.status in (400, 403, 422) and _MODERATED.search(found.message):
            return found._replace(kind="refused", code="moderation")
        return found
