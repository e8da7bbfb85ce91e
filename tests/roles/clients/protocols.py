"""The three protocols as their servers speak them: how replies look, and where things stand in a request."""

from __future__ import annotations

import base64
import json
from abc import ABC, abstractmethod
from typing import Any

from tests.roles.server import MODEL, ChatRequest, ChatResponse, ChatServer

ANSWERED = f"{MODEL}-0915"
"""The model that answers, which is not quite the one that was asked."""
KEY = "JUDGE_KEY"


class Protocol(ABC):
    """One protocol, from the server's side. Every reply counts 1000 tokens in and 100 out."""

    api: str
    path: str
    key_header = "authorization"
    key_form = "Bearer {}"

    def table(self, server: ChatServer, **more: Any) -> Any:
        return server.table(api=self.api, **more)

    @abstractmethod
    def reply(self, text: str, *, truncated: bool = False, usage: bool = True) -> ChatResponse: ...

    @abstractmethod
    def refusals(self) -> list[tuple[ChatResponse, str]]:
        """Replies that decline, each with the reason that is to be kept."""

    @abstractmethod
    def error(self, status: int, message: str, **headers: str) -> ChatResponse: ...

    @abstractmethod
    def odd(self) -> list[Any]:
        """Bodies of this protocol's shape that hold no message."""

    @abstractmethod
    def system(self, request: ChatRequest) -> str | None: ...

    @abstractmethod
    def parts(self, request: ChatRequest) -> list[tuple[str, Any]]:
        """("text", words) or (mime, bytes), in their order."""

    @abstractmethod
    def schema(self, request: ChatRequest) -> dict[str, Any] | None: ...


class OpenAi(Protocol):
    api, path = "openai", "/v1/chat/completions"

    def reply(self, text: str, *, truncated: bool = False, usage: bool = True) -> ChatResponse:
        return self._reply({"content": text}, "length" if truncated else "stop", usage)

    def _reply(self, message: dict[str, Any], finish: str, usage: bool = True) -> ChatResponse:
        body: dict[str, Any] = {
            "id": "chatcmpl-1",
            "object": "chat.completion",
            "model": ANSWERED,
            "choices": [{"index": 0, "message": {"role": "assistant", **message}, "finish_reason": finish}],
        }
        if usage:
            body["usage"] = {"prompt_tokens": 1000, "completion_tokens": 100, "total_tokens": 1100}
        return ChatResponse(body=body)

    def refusals(self) -> list[tuple[ChatResponse, str]]:
        declined = {"content": None, "refusal": "I would rather not."}
        return [
            (self._reply(declined, "stop"), "refusal"),
            (self._reply({"content": ""}, "content_filter"), "content_filter"),
        ]

    def error(self, status: int, message: str, **headers: str) -> ChatResponse:
        body = {"error": {"message": message, "type": "error", "param": None, "code": None}}
        return ChatResponse(status, body, headers)

    def odd(self) -> list[Any]:
        return [
            {"choices": []},
            {"choices": [{"message": None}]},
            {"choices": [{"message": {"content": {"a": 1}}, "finish_reason": "stop"}]},
            self.reply("").body,
        ]

    def system(self, request: ChatRequest) -> str | None:
        first = request.body["messages"][0]
        return str(first["content"]) if first["role"] == "system" else None

    def parts(self, request: ChatRequest) -> list[tuple[str, Any]]:
        found: list[tuple[str, Any]] = []
        for part in request.parts:
            if part["type"] == "text":
                found.append(("text", part["text"]))
                continue
            head, _, data = part["image_url"]["url"].partition(";base64,")
            found.append((head.removeprefix("data:"), base64.b64decode(data, validate=True)))
        return found

    def schema(self, request: ChatRequest) -> dict[str, Any] | None:
        form = request.body.get("response_format")
        return form["json_schema"]["schema"] if form else None


class Gemini(Protocol):
    api, path = "gemini", f"/v1/models/{MODEL}:generateContent"
    key_header, key_form = "x-goog-api-key", "{}"

    def reply(self, text: str, *, truncated: bool = False, usage: bool = True) -> ChatResponse:
        thought = {"text": "I look at the first picture.", "thought": True}
        parts = [thought, {"text": text, "thoughtSignature": "c2lnbmF0dXJl"}] if text else [thought]
        return self._reply({"content": {"parts": parts, "role": "model"}}, "MAX_TOKENS" if truncated else "STOP", usage)

    def _reply(self, candidate: dict[str, Any], finish: str, usage: bool = True) -> ChatResponse:
        body: dict[str, Any] = {
            "candidates": [{**candidate, "finishReason": finish, "index": 0}],
            "modelVersion": ANSWERED,
            "responseId": "r1",
        }
        if usage:
            body["usageMetadata"] = {
                "promptTokenCount": 1000,
                "candidatesTokenCount": 30,
                "thoughtsTokenCount": 70,
                "totalTokenCount": 1100,
            }
        return ChatResponse(body=body)

    def refusals(self) -> list[tuple[ChatResponse, str]]:
        feedback = {"promptFeedback": {"blockReason": "PROHIBITED_CONTENT"}, "modelVersion": ANSWERED}
        blocked = ChatResponse(body={**feedback, "usageMetadata": {"promptTokenCount": 1500}})
        return [
            (blocked, "PROHIBITED_CONTENT"),
            (self._reply({}, "SAFETY"), "SAFETY"),
            (self._reply({"content": {"parts": [{"text": "half of it"}]}}, "RECITATION"), "RECITATION"),
        ]

    def error(self, status: int, message: str, **headers: str) -> ChatResponse:
        return ChatResponse(status, {"error": {"code": status, "message": message, "status": "SOMETHING"}}, headers)

    def odd(self) -> list[Any]:
        return [
            {"candidates": []},
            {"candidates": None},
            {"candidates": [{"content": {"parts": [{"text": 7}]}, "finishReason": "STOP"}]},
            {"candidates": [{"content": {"parts": ["text"]}, "finishReason": "STOP"}]},
            {"candidates": [{"content": {}, "finishReason": "STOP"}]},
            self._reply({"content": {"parts": [{"text": "{}"}]}}, "MALFORMED_RESPONSE").body,
            self._reply({}, "OTHER").body,
            self.reply("").body,
        ]

    def system(self, request: ChatRequest) -> str | None:
        found = request.body.get("systemInstruction")
        return found["parts"][0]["text"] if found else None

    def parts(self, request: ChatRequest) -> list[tuple[str, Any]]:
        (content,) = request.body["contents"]
        assert content["role"] == "user"
        found: list[tuple[str, Any]] = []
        for part in content["parts"]:
            if "text" in part:
                found.append(("text", part["text"]))
            else:
                blob = part["inlineData"]
                found.append((blob["mimeType"], base64.b64decode(blob["data"], validate=True)))
        return found

    def schema(self, request: ChatRequest) -> dict[str, Any] | None:
        config = request.body.get("generationConfig", {})
        if "responseJsonSchema" not in config:
            return None
        assert config["responseMimeType"] == "application/json"
        assert "responseSchema" not in config
        return dict(config["responseJsonSchema"])


class Anthropic(Protocol):
    api, path = "anthropic", "/v1/messages"

    def reply(self, text: str, *, truncated: bool = False, usage: bool = True) -> ChatResponse:
        content = [{"type": "thinking", "thinking": "I look at the first picture.", "signature": "c2lnbmF0dXJl"}]
        content += [{"type": "text", "text": text}] if text else []
        return self._reply(content, "max_tokens" if truncated else "end_turn", usage=usage)

    def _reply(self, content: Any, stopped: str, *, usage: bool = True, **more: Any) -> ChatResponse:
        body: dict[str, Any] = {
            "id": "msg_1",
            "type": "message",
            "role": "assistant",
            "model": ANSWERED,
            "content": content,
            "stop_reason": stopped,
            "stop_sequence": None,
            **more,
        }
        if usage:
            body["usage"] = {
                "input_tokens": 1000,
                "cache_creation_input_tokens": 0,
                "cache_read_input_tokens": None,
                "output_tokens": 100,
            }
        return ChatResponse(body=body)

    def refusals(self) -> list[tuple[ChatResponse, str]]:
        details = {"type": "refusal", "category": "general_harms", "explanation": "This may do harm."}
        return [
            (self._reply([], "refusal"), "refusal"),
            (
                self._reply([{"type": "text", "text": "I would rather not."}], "refusal", stop_details=details),
                "refusal",
            ),
        ]

    def error(self, status: int, message: str, **headers: str) -> ChatResponse:
        return ChatResponse(status, {"type": "error", "error": {"type": "some_error", "message": message}}, headers)

    def odd(self) -> list[Any]:
        return [
            {"content": None},
            {"content": ["text"]},
            {"content": [{"type": "text", "text": 7}], "stop_reason": "end_turn"},
            self._reply([], "end_turn").body,
            self.reply("").body,
        ]

    def system(self, request: ChatRequest) -> str | None:
        return request.body.get("system")

    def parts(self, request: ChatRequest) -> list[tuple[str, Any]]:
        (message,) = request.body["messages"]
        assert message["role"] == "user"
        found: list[tuple[str, Any]] = []
        for part in message["content"]:
            if part["type"] == "text":
                found.append(("text", part["text"]))
            else:
                source = part["source"]
                assert (part["type"], source["type"]) == ("image", "base64")
                found.append((source["media_type"], base64.b64decode(source["data"], validate=True)))
        return found

    def schema(self, request: ChatRequest) -> dict[str, Any] | None:
        config = request.body.get("output_config")
        if config is None:
            return None
        assert config["format"]["type"] == "json_schema"
        return dict(config["format"]["schema"])


PROTOCOLS: tuple[Protocol, ...] = (OpenAi(), Gemini(), Anthropic())


def conforming(schema: dict[str, Any]) -> str:
    """A reply that a server which is held to this schema might give."""
    values: dict[str, Any] = {"number": 1, "string": "as one sees", "array": ["one thing"], "null": None}

    def value(one: dict[str, Any]) -> Any:
        kind = one["anyOf"][0]["type"] if "anyOf" in one else one["type"]
        return values[kind[0] if isinstance(kind, list) else kind]

    return json.dumps({name: value(one) for name, one in schema["properties"].items()})
