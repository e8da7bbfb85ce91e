"""GPT Image models by `images.edit`: image and instruction in, one image out. No seed, no session, no reasoning."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from convergebench.editors.models.table import ModelEntry
from convergebench.editors.providers.openai.client import OpenAIEditor, OpenAIOptions
from convergebench.editors.providers.openai.prices import at_quality
from convergebench.editors.providers.openai.sizes import resolution_of
from convergebench.editors.providers.sdk import count, from_base64, raw_of, rows, table, text
from convergebench.errors import BadReply
from convergebench.types import Edited, EditRequest
from convergebench.wire.client import clean


class OpenAIImagesEditor(OpenAIEditor):
    """GPT Image by its maker."""

    Options = OpenAIOptions
    provider = "openai"

    def __init__(self, name: str, model: ModelEntry, given: Mapping[str, Any]) -> None:
        super().__init__(name, model, given)
        if self.options.dollars is not None:
            return
        if self.options.quality != "high":
            prices = at_quality(model.wire_id, self.options.quality)
            self.capabilities = replace(
                self.capabilities, dollars_per_call=prices.get("1K"), dollars_by_resolution=prices
            )
        known = self.capabilities.dollars_by_resolution
        if self.options.size and known:
            once = known.get(resolution_of(self.options.size), max(known.values()))
            self.capabilities = replace(self.capabilities, dollars_per_call=once, dollars_by_resolution={})

    async def edit(self, request: EditRequest) -> Edited:
        """One attempt; the engine does the retries."""
        client = self._client()
        used = self.image_arguments(request)
        data, mime = self.sendable(request)
        picture = (f"image.{mime.removeprefix('image/')}", data, mime)
        body = await self.call_api(
            client.images.with_raw_response.edit(
                model=self.model.wire_id, image=picture, prompt=request.instruction, n=1, **used
            )
        )
        raw = raw_of(body, self.name)
        image = from_base64(next(iter(rows(body.get("data"))), {}).get("b64_json"))
        dollars = self.cost(request, counted(body.get("usage")), made=bool(image))
        if not image:
            raise BadReply(f"{self.name} sent no image", raw=raw, dollars=dollars, unsettled=not dollars)
        image, mime = self.received(image, raw=raw, dollars=dollars)
        made = {name: clean(text(body[name])) for name in ("size", "quality") if text(body.get(name))}
        return Edited(image, mime, self.model.wire_id, dollars, raw=raw, used={**used, "made": made} if made else used)


def counted(usage: Any) -> dict[str, int]:
    """Tokens by kind in the price table; those without a kind count as image tokens."""
    usage = table(usage)
    asked, answered = table(usage.get("input_tokens_details")), table(usage.get("output_tokens_details"))
    words, answered_words = count(asked.get("text_tokens")), count(answered.get("text_tokens"))
    return {
        "text_input": words,
        "image_input": max(0, count(usage.get("input_tokens")) - words),
        "text_output": answered_words,
        "image_output": max(0, count(usage.get("output_tokens")) - answered_words),
    }
