"""A chat server on this machine that speaks OpenAI's protocol and says what a test wants it to say."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from convergebench.roles.tables import RoleTable

MODEL = "tiny-vision-2"


@dataclass(frozen=True)
class ChatResponse:
    """One answer on the wire."""

    status: int = 200
    body: Any = None
    headers: dict[str, str] = field(default_factory=dict)
    seconds: float = 0.0
    """How long the server thinks."""


@dataclass(frozen=True)
class ChatRequest:
    """One request as the server got it."""

    path: str
    headers: dict[str, str]
    body: dict[str, Any]

    @property
    def parts(self) -> list[dict[str, Any]]:
        """What the question is made of; one without pictures is plain text."""
        content = self.body["messages"][-1]["content"]
        return [{"type": "text", "text": content}] if isinstance(content, str) else content

    @property
    def text(self) -> str:
        return "\n".join(part["text"] for part in self.parts if part["type"] == "text")

    @property
    def pictures(self) -> list[str]:
        return [part["image_url"]["url"] for part in self.parts if part["type"] == "image_url"]


def message(
    content: str | None, *, finish: str = "stop", refusal: str | None = None, usage: bool = True
) -> ChatResponse:
    """A completion as servers write it."""
    reply: dict[str, Any] = {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1,
        "model": f"{MODEL}-0915",
        "choices": [
            {
                "index": 0,
                "message": {"role": "assistant", "content": content, "refusal": refusal},
                "finish_reason": finish,
            }
        ],
    }
    if usage:
        reply["usage"] = {"prompt_tokens": 1000, "completion_tokens": 100, "total_tokens": 1100}
    return ChatResponse(body=reply)


def error(status: int, text: str = "", code: str | None = None, **headers: str) -> ChatResponse:
    """A failure as servers write it."""
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return ChatResponse(status, {"error": {"message": text, "type": "error", "param": None, "code": code}}, named)


def forward_reply(carried_out: float | None = 8, severity: float | None = 2, **more: Any) -> str:
    fields: dict[str, Any] = {"seen": "a hat", "carried_out": carried_out, "other_changes": [], "severity": severity}
    return json.dumps({**fields, **more})


def backward_reply(undone: float | None = 9, severity: float | None = 1) -> str:
    fields: dict[str, Any] = {"seen": "no hat", "undone": undone, "left": [], "other_changes": [], "severity": severity}
    return json.dumps(fields)


Script = Callable[[ChatRequest, int], ChatResponse]


class ChatServer:
    """`heard` are the requests so far; `script` says what to answer to each, by its number from 0."""

    def __init__(self, script: Script, address: str) -> None:
        self.script, self.base_url = script, f"{address}/v1"
        self.requests: list[ChatRequest] = []

    def table(self, **more: Any) -> RoleTable:
        given = {"kind": "served", "base_url": self.base_url, "model": MODEL, **more}
        return RoleTable.model_validate(given)


@contextmanager
def serving(script: Script | list[ChatResponse] | ChatResponse) -> Iterator[ChatServer]:
    """A server for the length of a test; a list is said in turn, its last for ever."""
    if isinstance(script, ChatResponse):
        script = [script]
    if isinstance(script, list):
        lines = script

        def script(request: ChatRequest, number: int) -> ChatResponse:
            return lines[min(number, len(lines) - 1)]

    lock = threading.Lock()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            request = ChatRequest(self.path, {name.lower(): value for name, value in self.headers.items()}, body)
            with lock:
                number = len(server.requests)
                server.requests.append(request)
            reply = server.script(request, number)
            time.sleep(reply.seconds)
            data = reply.body.encode() if isinstance(reply.body, str) else json.dumps(reply.body).encode()
            self.send_response(reply.status)
            for name, value in {"Content-Type": "application/json", **reply.headers}.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, format: str, *args: Any) -> None:
            pass

        def handle(self) -> None:
            with suppress(BrokenPipeError, ConnectionResetError):  # the client has given up, as the test wants
                super().handle()

    listener = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    listener.daemon_threads = True
    server = ChatServer(script, f"http://127.0.0.1:{listener.server_address[1]}")
    thread = threading.Thread(target=listener.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield server
    finally:
        listener.shutdown()
        thread.join()
        listener.server_close()
