"""`gradio`: mistakes in the file before any call; and real calls through the app's own client library, if it is here.

The server speaks what gradio_client asks of an app (protocol `sse_v3`): config, info, upload, queue, events, files.
"""

from __future__ import annotations

import asyncio
import io
import json
import logging
import os
from collections.abc import Iterator
from importlib.util import find_spec
from typing import Any

import numpy as np
import pytest
from PIL import Image

from convergebench.editors.base import close, lacks
from convergebench.editors.find import make_editor
from convergebench.errors import BadReply, EditorError, StudyError, Transient
from convergebench.types import Edited, EditRequest
from tests.editors.providers.loopback import Answer, Loopback, Request, serving

ARGUMENTS = {"image": "{image}", "prompt": "{instruction}", "seed": "{seed}", "steps": 4}
GIVEN: dict[str, Any] = {"url": "http://127.0.0.1:1", "api_name": "/edit", "arguments": ARGUMENTS}


def made(**options: Any) -> Any:
    return make_editor("gradio", **{**GIVEN, **options})


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"url": ""}, "give either space"),
        ({"space": "owner/name"}, "give either space"),
        ({"url": "", "space": "name"}, "owner/name"),
        ({"url": "127.0.0.1:7860"}, "url should be an address"),
        ({"url": "http://user:word@host"}, "should contain no user name, password"),
        ({"key": "AWS_SECRET_ACCESS_KEY"}, "is not sent"),
        ({"arguments": {"prompt": "{instruction}"}}, "the picture is not sent"),
        ({"arguments": {"i": "{image}", "p": "{instructions}"}}, "did you mean 'instruction'?"),
        ({"output": -1}, "greater than or equal to 0"),
        ({"flavour": 1}, "unknown key 'flavour'"),
    ],
)
def test_a_mistake_in_the_file_is_one_line_before_any_call(options: dict[str, Any], said: str) -> None:
    with pytest.raises(StudyError) as caught:
        made(**options)
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)


def test_what_changes_answers_is_the_identity_and_the_rest_is_not() -> None:
    one = made().fingerprint
    assert made(seconds=5, at_once=2, dollars=1.0, key="HF_TOKEN").fingerprint == one
    others: list[dict[str, Any]] = [
        {"url": "http://127.0.0.1:2"},
        {"output": 1},
        {"version": "2"},
        {"arguments": {"image": "{image}"}},
    ]
    assert len({one, *(made(**other).fingerprint for other in others)}) == 5


def test_it_says_what_it_lacks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("HF_TOKEN", raising=False)
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    lines = lacks(made(key="HF_TOKEN"))
    assert any("pip install 'convergebench[gradio]'" in line for line in lines)
    assert any("export HF_TOKEN" in line for line in lines)
    able = made(arguments={"image": "{image}"}).capabilities
    assert (able.seed, able.instructed) == (False, False)


needs_library = pytest.mark.skipif(find_spec("gradio_client") is None, reason="gradio_client is not installed")


def picture(width: int = 12) -> bytes:
    data = io.BytesIO()
    Image.fromarray(np.random.default_rng(width).integers(0, 256, (8, width, 3), np.uint8)).save(data, "PNG")
    return data.getvalue()


SENT, BACK = picture(12), picture(20)
PARAMETERS = [
    {"label": name, "parameter_name": name, "parameter_has_default": False, "component": "Textbox", "type": {},
     "python_type": {"type": "str"}}
    for name in ARGUMENTS
]  # fmt: skip
FILE = {"path": "/tmp/made/out.png", "url": None, "orig_name": "out.png", "meta": {"_type": "gradio.FileData"}}


class App:
    """A Gradio app with one endpoint."""

    def __init__(self, outputs: list[Any], **event: Any) -> None:
        self.outputs, self.event = outputs, event
        self.given: list[Any] = []
        self.uploaded = b""

    def __call__(self, asked: Request, server: Loopback) -> Answer:
        route = asked.route
        if route == "/config":
            return Answer(body=self._config())
        if route == "/gradio_api/info":
            endpoint = {"parameters": PARAMETERS, "returns": [], "show_api": True}
            return Answer(body={"named_endpoints": {"/edit": endpoint}, "unnamed_endpoints": {}})
        if route == "/gradio_api/upload":
            self.uploaded = asked.form["files"][1]
            return Answer(body=["/tmp/upload/image.png"])
        if route == "/gradio_api/queue/join":
            self.given = asked.json["data"]
            return Answer(503) if self.event.get("full") else Answer(body={"event_id": "e1"})
        if route == "/gradio_api/queue/data":
            return self._events()
        if "out.png" in route:
            return Answer(body=BACK)
        return Answer(404)

    def _config(self) -> dict[str, Any]:
        ids = list(range(1, 5 + len(self.outputs)))
        ends = {"inputs": ids[:4], "outputs": ids[4:], "cancels": [], "backend_fn": True}
        return {
            "version": "6.0.0", "protocol": "sse_v3", "api_prefix": "/gradio_api", "connect_heartbeat": False,
            "components": [{"id": one, "type": "textbox", "api_info": {}} for one in ids],
            "dependencies": [{"id": 0, "api_name": "edit", **ends}],
        }  # fmt: skip

    def _events(self) -> Answer:
        good = not self.event.get("error")
        output = {"data": self.outputs} if good else {"error": self.event["error"]}
        events = [
            {"msg": "process_starts", "event_id": "e1"},
            {"msg": "process_completed", "event_id": "e1", "success": good, "output": output},
            {"msg": "close_stream"},
        ]
        text = "".join(f"data: {json.dumps(one)}\n\n" for one in events)
        return Answer(body=text.encode(), headers={"Content-Type": "text/event-stream"})


@pytest.fixture(autouse=True)
def _quiet(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """What the library would change for later tests."""
    monkeypatch.setenv("GRADIO_ANALYTICS_ENABLED", os.environ.get("GRADIO_ANALYTICS_ENABLED", "False"))
    level = logging.getLogger("httpx").level
    yield
    logging.getLogger("httpx").setLevel(level)


def asked_of(app: App, **options: Any) -> tuple[Edited, Loopback]:
    async def once(editor: Any) -> Edited:
        try:
            edited: Edited = await editor.edit(EditRequest(SENT, "image/png", "add a hat", seed=5))
            return edited
        finally:
            await close(editor)

    with serving(app) as server:
        return asyncio.run(once(made(url=server.address, **options))), server


@needs_library
@pytest.mark.parametrize(
    ("outputs", "options"),
    [
        ([FILE], {}),
        (["done", FILE], {}),
        (["done", [{"image": FILE, "caption": None}]], {"output": 1}),
    ],
)
def test_a_picture_goes_out_and_one_comes_back(outputs: list[Any], options: dict[str, Any]) -> None:
    app = App(outputs)
    edited, server = asked_of(app, **options)
    assert edited.image == BACK
    assert edited.mime == "image/png"
    assert edited.used == {"seed": 5}
    assert app.uploaded == SENT
    assert app.given[1:] == ["add a hat", 5, 4]
    assert not any("authorization" in name for one in server.asked for name in one.headers), "no saved token is sent"


@needs_library
def test_a_token_is_sent_if_it_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_TOKEN", "hf_0123456789abcdef")
    _, server = asked_of(App([FILE]), key="HF_TOKEN")
    assert server.first.headers["x-hf-authorization"] == "Bearer hf_0123456789abcdef"


@needs_library
@pytest.mark.parametrize(
    ("app", "options", "kind", "said"),
    [
        (App(["only words"]), {}, BadReply, "gives no picture"),
        (App(["/etc/hostname", "image.png"]), {}, BadReply, "gives no picture"),
        (App([FILE]), {"output": 3}, BadReply, "output = 3 is not one of them"),
        (App([FILE], error="too many people"), {}, EditorError, "too many people"),
        (App([FILE], full=True), {}, Transient, "Queue is full"),
        (App([FILE]), {"api_name": "/gone"}, EditorError, "cannot be called so"),
        (App([FILE]), {"arguments": {"picture": "{image}"}}, EditorError, "cannot be called so"),
    ],
)
def test_every_other_answer_is_an_error_with_a_meaning(
    app: App, options: dict[str, Any], kind: type[EditorError], said: str
) -> None:
    with pytest.raises(EditorError) as caught:
        asked_of(app, **options)
    assert type(caught.value) is kind
    assert said in str(caught.value)
