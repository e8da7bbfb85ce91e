"""The page's editor behind HTTP, against a real server: what is retried, what is an outcome, what is an image."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from convergebench import BadReply, Editor, EditRequest, Refused, Transient, Unavailable
from convergebench.editors.base import lacks
from convergebench.errors import EditorError
from tests.docs.blocks import ROOT, blocks
from tests.docs.tiny import picture

REPLIES: dict[str, tuple[int, dict[str, str], bytes]] = {
    "good": (200, {"Content-Type": "image/png", "X-Model": "remote-7"}, picture(1)),
    "words": (200, {"Content-Type": "text/plain"}, b"cannot"),
    "busy": (429, {"Retry-After": "3"}, b"slow down"),
    "broken": (503, {}, b""),
    "later": (503, {"Retry-After": "Wed, 21 Oct 2026 07:28:00 GMT"}, b""),
    "unwilling": (400, {}, b"content_policy: not this one"),
    "wrong": (400, {}, b"no such field"),
    "locked": (403, {}, b"not with this key"),
    "spent": (402, {}, b"pay first"),
}


class Handler(BaseHTTPRequestHandler):
    """Answers by the path; reads the whole request first."""

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        status, headers, body = REPLIES[self.path[1:]]
        self.send_response(status)
        for name, value in {**headers, "Content-Length": str(len(body))}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:
        """Nothing."""


@pytest.fixture
def url() -> Iterator[str]:
    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


@pytest.fixture
def make(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.setenv("HTTP_EDITOR_KEY", "secret")
    return _shown()


def _shown() -> Any:
    (block,) = [one for one in blocks(ROOT / "docs" / "add-an-editor.md") if one.file == "http-editor/http_editor.py"]
    names: dict[str, Any] = {}
    exec(compile(block.text, "http_editor.py", "exec"), names)
    return names["HttpEditor"]


def ask(editor: Editor) -> Any:
    async def once() -> Any:
        return await editor.edit(EditRequest(picture(0), "image/png", "add a hat – now", seed=3))

    return asyncio.run(once())


def test_an_image_comes_back_as_sent(make: Any, url: str) -> None:
    editor = make("remote", f"{url}/good")
    assert isinstance(editor, Editor)
    edited = ask(editor)
    assert (edited.image, edited.mime, edited.model, edited.dollars) == (picture(1), "image/png", "remote-7", 0.04)


def test_errors_carry_their_meaning(make: Any, url: str) -> None:
    with pytest.raises(Transient) as busy:
        ask(make("remote", f"{url}/busy"))
    assert busy.value.retry_after == 3
    for path in ("broken", "later"):
        with pytest.raises(Transient):
            ask(make("remote", f"{url}/{path}"))
    with pytest.raises(Refused, match="not this one") as unwilling:
        ask(make("remote", f"{url}/unwilling"))
    assert unwilling.value.reason == "content_policy"
    for path in ("spent", "locked"):
        with pytest.raises(Unavailable):
            ask(make("remote", f"{url}/{path}"))
    with pytest.raises(EditorError, match="no such field") as wrong:
        ask(make("remote", f"{url}/wrong"))
    assert type(wrong.value) is EditorError
    with pytest.raises(BadReply) as words:
        ask(make("remote", f"{url}/words"))
    assert words.value.dollars == 0.04


def test_a_missing_key_says_what_to_type(make: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    editor = make("remote", "http://127.0.0.1:1")
    assert lacks(editor) == []
    monkeypatch.delenv("HTTP_EDITOR_KEY")
    assert lacks(editor) == ["a key: export HTTP_EDITOR_KEY=…"]
