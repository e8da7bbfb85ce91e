"""GPT Image as a tool of a language model, by the Responses API: for single sessions and for reasoning summaries.

The editor is a pair, `MODEL+TOOL`: the language model reads the words and the image, thinks, and writes a prompt of
its own for the image model (kept in the raw reply as `revised_prompt`). It is another editor than its tool alone.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Literal

from convergebench.editors.models.table import Model
from convergebench.editors.providers.openai.client import OpenAIEditor, OpenAIOptions
from convergebench.editors.providers.openai.images import counted
from convergebench.editors.providers.openai.response import Response, read_response
from convergebench.editors.providers.remote import data_uri
from convergebench.editors.providers.sdk import count, table, text, unsettled_if_unpriced
from convergebench.types import Edited, EditRequest

TOOL = "gpt-image-2"
"""The tool's own choice where none is named."""


class OpenAIResponsesOptions(OpenAIOptions):
    """What else a call can carry."""

    model: str = ""
    """Another language model than the name says; nobody knows its price."""
    tool: str = ""
    """Another image model than the name says."""
    effort: Literal["none", "minimal", "low", "medium", "high", "xhigh", "max"] | None = None
    """How hard to think."""
    moderation: Literal["auto", "low"] | None = None


class OpenAIResponsesEditor(OpenAIEditor):
    """A language model of OpenAI's with GPT Image as its tool."""

    Options = OpenAIResponsesOptions
    provider = "openai-responses"
    options: OpenAIResponsesOptions

    def __init__(self, name: str, model: Model, given: Mapping[str, Any]) -> None:
        super().__init__(name, model, given)
        self.thinker = self.options.model or model.wire_id.partition("+")[0]
        if (self.options.model or self.options.tool) and self.options.dollars is None:
            self.capabilities = replace(self.capabilities, dollars_per_call=None, dollars_by_resolution={})

    @classmethod
    def unlisted(cls, called: str) -> Model:
        """A pair that the table does not know: what the interface itself offers is there all the same."""
        return super().unlisted(called).model_copy(update={"sessions": True, "reasoning": True})

    def _painter(self) -> str:
        return self.options.tool or self.model.wire_id.partition("+")[2] or TOOL

    async def edit(self, request: EditRequest) -> Edited:
        """One attempt; trying again is the engine's business."""
        client = self._client()
        settings, options = request.settings, self.options
        single = settings.session == "single"
        tool = {"action": "edit", "model": self.painter, **self.image_arguments(request)}
        if options.moderation:
            tool["moderation"] = options.moderation
        reasoning = {"summary": "auto" if settings.reasoning else None, "effort": options.effort}
        sent: dict[str, Any] = {
            "model": self.thinker,
            "store": single,  # a session goes on from what is stored; nothing else needs to be
            "reasoning": {name: value for name, value in reasoning.items() if value},
            "previous_response_id": _last(request) if single else None,
        }
        sent = {name: value for name, value in sent.items() if value not in (None, {})}
        body = await self.ask(
            client.responses.with_raw_response.create(
                input=self._said(request, whole="previous_response_id" not in sent),
                tools=[{"type": "image_generation", **tool}],
                tool_choice={"type": "image_generation"},
                **sent,
            )
        )
        used = {**sent, "tool": tool}
        if single:
            used["turns"] = len(request.history)
        return self._edited(request, read_response(body, self.name), used)

    def _edited(self, request: EditRequest, response: Response, used: dict[str, Any]) -> Edited:
        tokens = self._tokens(response)
        dollars = self.cost(request, tokens, made=response.image is not None)
        if response.image is None:
            raise unsettled_if_unpriced(response.refusal(self.name, dollars))
        image, mime = self.received(response.image, raw=response.raw, dollars=dollars)
        return Edited(
            image,
            mime,
            f"{response.model or self.thinker}+{self.painter}",
            dollars,
            reasoning=response.reasoning if request.settings.reasoning else None,
            raw=response.raw,
            used=used,
        )

    def _tokens(self, response: Response) -> dict[str, int]:
        """Tokens by the kinds of the price table; none if only one of the two models told how many it took."""
        if self.options.model or self.options.tool:
            return {}
        usage, painted = table(response.body.get("usage")), table(response.body.get("tool_usage"))
        tokens = counted(painted.get("image_gen"))
        if not count(usage.get("input_tokens")) or (response.image and not tokens["image_output"]):
            return {}
        details = table(usage.get("input_tokens_details"))
        cached = min(count(details.get("cached_tokens")), count(usage.get("input_tokens")))
        return {
            **tokens,
            "model_input": count(usage.get("input_tokens")) - cached,
            "model_cached": cached,
            "model_output": count(usage.get("output_tokens")),
        }

    def _said(self, request: EditRequest, *, whole: bool) -> list[dict[str, Any]]:
        """This turn; and all before it, each with the image it began with, where the provider has not kept them."""
        if not whole:
            return [self._message(request, pictured=request.image != request.history[-1].answer)]
        turns = request.history if request.settings.session == "single" else ()
        earlier = (replace(request, image=turn.image, instruction=turn.instruction) for turn in turns)
        return [self._message(one, pictured=True) for one in (*earlier, request)]

    def _message(self, request: EditRequest, *, pictured: bool) -> dict[str, Any]:
        content: list[dict[str, Any]] = [{"type": "input_text", "text": request.instruction}]
        if pictured:
            content.append({"type": "input_image", "image_url": data_uri(*self.sendable(request)), "detail": "high"})
        return {"role": "user", "content": content}


def _last(request: EditRequest) -> str | None:
    """The id under which the last turn is kept, if its reply is still there."""
    try:
        reply = json.loads(request.history[-1].raw or "null") if request.history else None
    except (ValueError, RecursionError):
        return None
    return text(table(reply).get("id")) or None
