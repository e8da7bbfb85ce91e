"""Endpoints that a study file describes: JSON with base64, a multipart form, and a task that ends in an address."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from typing import Any, ClassVar

from convergebench.editors.find import make_editor
from convergebench.types import Editor
from tests.editors.providers.loopback import Answer, Loopback, Request
from tests.editors.providers.provider import Provider


def at_home(name: str, base_url: str = "http://127.0.0.1:1", **options: Any) -> Editor:
    """The address is known, so it need not be said."""
    return make_editor("http", name, base_url=base_url, **options)


class HttpJson(Provider):
    """The picture inside the answer; the key in a header of its own."""

    use = f"{__name__}:at_home"
    variable = "CONVERGEBENCH_MY_KEY"
    options: ClassVar[dict[str, Any]] = {
        "url": "/edit",
        "headers": {"X-Api-Key": "${CONVERGEBENCH_MY_KEY}", "X-Version": "2"},
        "body": {"input": {"picture": "{image_base64}", "words": ["{instruction}"], "seed": "{seed}", "n": 1}},
        "image": "output.images[0]",
        "refused": ["error.code == 'unsafe'"],
        "dollars": 0.02,
    }

    def success(self, asked: Request, server: Loopback, picture: bytes) -> Answer:
        return Answer(body={"output": {"images": [base64.b64encode(picture).decode()]}})

    def refusal(self, asked: Request, server: Loopback) -> Answer:
        return Answer(400, {"error": {"code": "unsafe", "message": "not allowed here"}})

    def failure(self, status: int, message: str) -> Any:
        return {"error": {"code": "bad", "message": message}}

    def empty(self, asked: Request, server: Loopback) -> Answer:
        return Answer(body={"output": {"images": []}})

    def sent(self, asked: Sequence[Request]) -> tuple[bytes, str]:
        given = asked[0].json["input"]
        assert (given["seed"], given["n"]) == (5, 1)
        return base64.b64decode(given["picture"]), given["words"][0]

    def key_sent(self, asked: Request) -> str:
        return asked.headers.get("x-api-key", "")


class HttpForm(HttpJson):
    """A multipart form; the answer is the picture itself."""

    options: ClassVar[dict[str, Any]] = {
        "url": "/edit?version=2",
        "key": "CONVERGEBENCH_MY_KEY",
        "form": {"file": "{image}", "prompt": "{instruction}", "strong": True, "steps": 4},
        "refused": [451, "error.code"],
    }

    def success(self, asked: Request, server: Loopback, picture: bytes) -> Answer:
        return Answer(body=picture, headers={"Content-Type": "image/png"})

    def refusal(self, asked: Request, server: Loopback) -> Answer:
        return Answer(451, {"detail": "not allowed here"})

    def failure(self, status: int, message: str) -> Any:
        return {"detail": message}

    def empty(self, asked: Request, server: Loopback) -> Answer:
        return Answer(body=b"")

    def sent(self, asked: Sequence[Request]) -> tuple[bytes, str]:
        form = asked[0].form
        assert (form["strong"][1], form["steps"][1]) == (b"true", b"4")
        assert asked[0].query == {"version": "2"}
        return form["file"][1], form["prompt"][1].decode()

    def key_sent(self, asked: Request) -> str:
        return asked.headers.get("authorization", "").removeprefix("Bearer ")


class HttpTask(HttpJson):
    """A task that is asked after, then a result elsewhere, then a download."""

    options: ClassVar[dict[str, Any]] = {
        "url": "/tasks",
        "headers": {"Authorization": "Bearer ${CONVERGEBENCH_MY_KEY}"},
        "body": {"image": "{image_data_url}", "prompt": "{instruction}", "seed": "{seed}"},
        "image": "images[0].url",
        "message": "error",
        "poll": {
            "url": "/tasks/{id}", "status": "state", "done": ["done"], "failed": ["failed"], "refused": ["moderated"],
            "result": "{result_url}", "every": 0.01,
        },
    }  # fmt: skip

    def success(self, asked: Request, server: Loopback, picture: bytes) -> Answer:
        if asked.method == "POST":
            return Answer(202, {"id": "a/7"})
        if asked.path == "/tasks/a%2F7":
            first = sum(one.path == asked.path for one in server.asked) == 1
            return Answer(body={"state": "going" if first else "done", "result_url": f"{server.address}/result"})
        if asked.route == "/result":
            return Answer(body={"images": [{"url": f"{server.address}/picture.png"}]})
        return Answer(body=picture)

    def refusal(self, asked: Request, server: Loopback) -> Answer:
        return Answer(body={"id": 7} if asked.method == "POST" else {"state": "moderated", "error": "not allowed"})

    def failure(self, status: int, message: str) -> Any:
        return {"error": message}

    def empty(self, asked: Request, server: Loopback) -> Answer:
        if asked.method == "POST":
            return Answer(body={"id": 7})
        return Answer(body={"images": [], "state": "done", "result_url": f"{server.address}/result"})

    def sent(self, asked: Sequence[Request]) -> tuple[bytes, str]:
        given = asked[0].json
        return base64.b64decode(given["image"].partition(",")[2]), given["prompt"]

    def key_sent(self, asked: Request) -> str:
        return asked.headers.get("authorization", "").removeprefix("Bearer ")
