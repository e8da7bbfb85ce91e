"""OpenAI's chat protocol: OpenAI itself, vLLM, SGLang, Ollama and many more."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlsplit

from convergebench.errors import BadReply
from convergebench.roles.clients.base import Completion, ModelClient, ModelQuestion, SentPicture, count, redacted

OPENAI = "api.openai.com"
"""The host whose newer models reject `max_tokens`; its older ones accept the newer name too."""


class ChatClient(ModelClient):
    """`POST /chat/completions`."""

    path = "/chat/completions"

    def body(self, question: ModelQuestion) -> dict[str, Any]:
        """The request; what is not given is not sent."""
        table = self.table
        system = [{"role": "system", "content": question.system}] if question.system else []
        text = {"type": "text", "text": question.text}
        # servers of text-only models often accept plain text alone
        content = [*map(self._part, question.pictures), text] if question.pictures else question.text
        limit = "max_completion_tokens" if urlsplit(self.base_url).hostname == OPENAI else "max_tokens"
        options: dict[str, Any] = {
            "temperature": table.temperature,
            "seed": question.seed,
            limit: table.max_tokens or None,
            "response_format": _response_format(question),
            **table.extra,
        }
        return {
            "model": table.model,
            "messages": [*system, {"role": "user", "content": content}],
            **{name: value for name, value in options.items() if value is not None},
        }

    def read(self, body: Any, raw: str) -> Completion:
        """The first choice."""
        choice = body["choices"][0]
        message = choice["message"]
        text, refusal = message.get("content") or "", message.get("refusal") or ""
        finish = str(choice.get("finish_reason") or "")
        if not (isinstance(text, str) and isinstance(refusal, str)):
            raise BadReply(f"{self.base_url} answered with a message that is not text", raw=raw, unsettled=True)
        usage = body.get("usage")
        sent, written = (count(usage, name) for name in ("prompt_tokens", "completion_tokens"))
        model = self.reported(body.get("model"))
        if refusal:
            return Completion(redacted(refusal), model, "refused", "refusal", sent, written, raw)
        ended: dict[str, Any] = {"content_filter": "refused", "length": "truncated"}
        return Completion(redacted(text), model, ended.get(finish, "complete"), finish, sent, written, raw)

    def _part(self, picture: SentPicture) -> dict[str, Any]:
        url = {"url": f"data:{picture.mime};base64,{picture.data}"}
        return {"type": "image_url", "image_url": url | ({"detail": self.table.detail} if self.table.detail else {})}


def _response_format(question: ModelQuestion) -> dict[str, Any] | None:
    if question.schema is None:
        return None
    schema = {"name": question.name, "strict": True, "schema": question.schema}
    return {"type": "json_schema", "json_schema": schema}
