"""GPT Image as a tool of a language model, by the Responses API: for single sessions and for reasoning summaries.

The editor is a pair, `MODEL+TOOL`: the language model reads instruction and image, thinks, and writes its own prompt
for the image model (stored in the raw reply as `revised_prompt`). So it is another editor than the image model alone.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Literal

from convergebench.editors.models.table import ModelEntry
from convergebench.editors.providers.openai.client import OpenAIEditor, OpenAIOptions
from convergebench.editors.providers.openai.images import counted
from convergebench.editors.providers.openai.response import ResponsesReply, read_response
from convergebench.editors.providers.remote import data_uri
from convergebench.editors.providers.sdk import count, mark_unsettled, table, text
from convergebench.types import Edited, EditRequest

TOOL = "gpt-image-2"
"""The default image model."""


class OpenAIResponsesOptions(OpenAIOptions):
    """Optional arguments of a call."""

    model: str = ""
    """Overrides the language model of the name; its price is then unknown."""
    tool: str = ""
    """Overrides the image model of the name."""
    effort: Literal["none", "minimal", "low", "medium", "high", "xhigh", "max"] | None = None
    """Reasoning effort."""
    moderation: Literal["auto", "low"] | None = None


class OpenAIResponsesEditor(OpenAIEditor):
    """A language model of OpenAI's with GPT Image as its tool."""

    Options = OpenAIResponsesOptions
    provider = "openai-responses"
    options: OpenAIResponsesOptions

    def __init__(self, name: str, model: ModelEntry, given: Mapping[str, Any]) -> None:
        super().__init__(name, model, given)
        self.language_model = self.options.model or model.wire_id.partition("+")[0]
        if (self.options.model or self.options.tool) and self.options.dollars is None:
            self.capabilities = replace(self.capabilities, dollars_per_call=None, dollars_by_resolution={})

    @classmethod
    def unlisted(cls, called: str) -> ModelEntry:
        """A pair that the table does not list, with the capabilities of the interface."""
        return super().unlisted(called).model_copy(update={"sessions": True, "reasoning": True})

    def _image_model(self) -> str:
        return self.options.tool or self.model.wire_id.partition("+")[2] or TOOL

    async def edit(self, request: EditRequest) -> Edited:
        """One attempt; the engine does the retries."""
        client = self._client()
        settings, options = request.settings, self.options
        single = settings.session == "single"
        tool = {"action": "edit", "model": self.image_model, **self.image_arguments(request)}
        if options.moderation:
            tool["moderation"] = options.moderation
        reasoning = {"summary": "auto" if settings.reasoning else None, "effort": options.effort}
        sent: dict[str, Any] = {
            "model": self.language_model,
            "store": single,  # only sessions need stored responses
            "reasoning": {name: value for name, value in reasoning.items() if value},
            "previous_response_id": _last(request) if single else None,
        }
        sent = {name: value for name, value in sent.items() if value not in (None, {})}
        body = await self.call_api(
            client.responses.with_raw_response.create(
                input=self._input(request, with_history="previous_response_id" not in sent),
                tools=[{"type": "image_generation", **tool}],
                tool_choice={"type": "image_generation"},
                **sent,
            )
        )
        used = {**sent, "tool": tool}
        if single:
            used["turns"] = len(request.history)
        return self._edited(request, read_response(body, self.name), used)

    def _edited(self, request: EditRequest, response: ResponsesReply, used: dict[str, Any]) -> Edited:
        tokens = self._tokens(response)
        dollars = self.cost(request, tokens, made=response.image is not None)
        if response.image is None:
            raise mark_unsettled(response.refusal(self.name, dollars))
        image, mime = self.received(response.image, raw=response.raw, dollars=dollars)
        return Edited(
            image,
            mime,
            f"{response.model or self.language_model}+{self.image_model}",
            dollars,
            reasoning=response.reasoning if request.settings.reasoning else None,
            raw=response.raw,
            used=used,
        )

    def _tokens(self, response: ResponsesReply) -> dict[str, int]:
        """Tokens by kind in the price table; empty if only one of the two models reports them."""
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

    def _input(self, request: EditRequest, *, with_history: bool) -> list[dict[str, Any]]:
        """This turn; with `with_history` also all earlier ones, each with its input image."""
        if not with_history:
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
    """The provider's id of the last turn, if its reply is stored."""
    try:
        reply = json.loads(request.history[-1].raw or "null") if request.history else None
    except (ValueError, RecursionError):
        return None
    return text(table(reply).get("id")) or None
