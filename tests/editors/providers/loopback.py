"""A local HTTP server that gives the answers a test defines and records its requests."""

from __future__ import annotations

import json
import socket
import struct
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from email.parser import BytesParser
from email.policy import HTTP
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit


@dataclass(frozen=True)
class Request:
    """One received request."""

    method: str
    path: str
    headers: dict[str, str]
    """By lower-case name."""
    body: bytes

    @property
    def route(self) -> str:
        """The path without the query."""
        return urlsplit(self.path).path

    @property
    def query(self) -> dict[str, str]:
        return {name: values[-1] for name, values in parse_qs(urlsplit(self.path).query).items()}

    @property
    def json(self) -> Any:
        return json.loads(self.body)

    @property
    def form(self) -> dict[str, tuple[str, bytes]]:
        """Fields of a multipart body: name → (file name or nothing, content)."""
        head = f"Content-Type: {self.headers['content-type']}\r\n\r\n".encode()
        message = BytesParser(policy=HTTP).parsebytes(head + self.body)
        found: dict[str, tuple[str, bytes]] = {}
        for part in message.iter_parts():
            name = str(part.get_param("name", header="content-disposition"))
            content = part.get_payload(decode=True)
            assert isinstance(content, bytes)
            found[name] = (part.get_filename() or "", content)
        return found


@dataclass(frozen=True)
class Answer:
    """One HTTP answer. A `body` that is not bytes is sent as JSON."""

    status: int = 200
    body: Any = b""
    headers: dict[str, str] = field(default_factory=dict)
    cut: bool = False
    """Close the connection in the middle of the body."""
    hold: bool = False
    """Send nothing until the server is closed."""
    reset: bool = False
    """Reset the connection without an answer."""
    endless: bool = False
    """Repeat the body until the client stops reading."""

    @property
    def data(self) -> bytes:
        return self.body if isinstance(self.body, bytes) else json.dumps(self.body).encode()


Answerer = Callable[[Request, "Loopback"], Answer]


class Loopback:
    """The server; `asked` holds every request in order."""

    def __init__(self, answer: Answerer) -> None:
        self.asked: list[Request] = []
        self.answer = answer
        self.closing = threading.Event()
        self.address = ""

    @property
    def first(self) -> Request:
        return self.asked[0]


@contextmanager
def serving(answer: Answerer) -> Iterator[Loopback]:
    """A server for as long as the block lasts."""
    loopback = Loopback(answer)

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True

        def _handle(self) -> None:
            body = (
                self._chunks()
                if self.headers.get("Transfer-Encoding") == "chunked"
                else self.rfile.read(int(self.headers.get("Content-Length") or 0))
            )
            headers = {name.lower(): value for name, value in self.headers.items()}
            asked = Request(self.command, self.path, headers, body)
            loopback.asked.append(asked)
            told = loopback.answer(asked, loopback)
            if told.hold:
                loopback.closing.wait(30)
                self.close_connection = True
                return
            if told.reset:
                self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                self.close_connection = True
                self.connection.close()
                return
            with suppress(BrokenPipeError, ConnectionResetError):  # a client that has given up
                self.send_response(told.status)
                plain = isinstance(told.body, bytes)
                kind = {"Content-Type": "application/octet-stream" if plain else "application/json"}
                length = 10**15 if told.endless else len(told.data)
                for name, value in {**kind, **told.headers, "Content-Length": str(length)}.items():
                    self.send_header(name, value)
                self.end_headers()
                while told.endless:
                    self.wfile.write(told.data)
                self.wfile.write(told.data[: len(told.data) // 2] if told.cut else told.data)
                self.wfile.flush()
            self.close_connection = self.close_connection or told.cut or told.endless

        def _chunks(self) -> bytes:
            found = b""
            while size := int(self.rfile.readline().split(b";")[0], 16):
                found += self.rfile.read(size)
                self.rfile.readline()
            self.rfile.readline()
            return found

        do_GET = do_POST = do_PUT = do_DELETE = _handle

        def log_message(self, format: str, *args: Any) -> None:
            """Nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        server.daemon_threads = True
        server.block_on_close = False
        loopback.address = f"http://127.0.0.1:{server.server_port}"
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.004}, daemon=True)
        thread.start()
        try:
            yield loopback
        finally:
            loopback.closing.set()
            server.shutdown()
            thread.join(5)
