"""One edit, asked of an editor that talks to a stand-in server, and what came of it."""

from __future__ import annotations

import asyncio
import io
from typing import Any

import numpy as np
import pytest
from PIL import Image

from convergebench.editors.base import close
from convergebench.editors.find import make_editor
from convergebench.errors import EditorError
from convergebench.types import Edited, Editor, EditRequest, Settings
from tests.editors.providers.loopback import Answer, Answerer, Loopback, Request, serving
from tests.editors.providers.provider import SECRET, Provider

WORDS = "add a red hat"
PLAIN = Settings()


def picture(width: int = 448, height: int = 400) -> bytes:
    pixels = np.random.default_rng(width).integers(0, 256, (height, width, 3), np.uint8)
    data = io.BytesIO()
    Image.fromarray(pixels).save(data, "PNG")
    return data.getvalue()


def plain(width: int, height: int) -> bytes:
    """A picture of this size that takes no time to make."""
    data = io.BytesIO()
    Image.new("RGB", (width, height), (90, 120, 150)).save(data, "PNG", compress_level=1)
    return data.getvalue()


SENT, BACK = picture(448, 400), picture(464, 400)


def asked_of(
    use: str, answer: Answerer, *, image: bytes = SENT, settings: Settings = PLAIN, path: str = "", **options: Any
) -> tuple[Edited, Loopback]:
    """The edit and the server that made it."""
    with serving(answer) as server:
        editor = make_editor(use, **{"base_url": f"{server.address}{path}", **options})
        return asyncio.run(_once(editor, EditRequest(image, "image/png", WORDS, settings, seed=5))), server


async def _once(editor: Editor, request: EditRequest) -> Edited:
    try:
        return await editor.edit(request)
    finally:
        await close(editor)


def body_of(
    provider: Provider, use: str = "", *, image: bytes = SENT, settings: Settings = PLAIN, **options: Any
) -> Any:
    """What an editor says in the first request of a call that goes well."""
    edited, server = asked_of(
        use or provider.use,
        lambda asked, server: provider.success(asked, server, BACK),
        image=image,
        settings=settings,
        path=provider.path,
        **options,
    )
    assert edited.image == BACK
    return server.first.json


ODD: tuple[Any, ...] = (
    None,
    [],
    {},
    [[]],
    "words",
    7,
    True,
    b"",
    b"<html>",
    b"\xff\xfe",
    b"[" * 40_000,
    b'{"a":' * 3_000 + b"1" + b"}" * 3_000,
    b'{"error": "\\ud800", "code": "\\udfff", "detail": "\\ud800", "status": "\\ud800"}',
    b'{"cost": NaN, "usage": {"cost_in_usd_ticks": Infinity, "image_count": -1, "generated_images": "x"}}',
    {"data": None},
    {"data": [None]},
    {"data": {"0": 1}},
    {"data": [{"b64_json": 5}]},
    {"data": [{"b64_json": "!!!"}]},
    {"data": [{"url": "file:///etc/passwd"}]},
    {"data": [{"error": "odd"}], "error": [1]},
    {"images": [{}], "status": "COMPLETED"},
    {"images": "x", "image": [], "status": "COMPLETED"},
    {"images": [{"url": "http://[::1"}], "has_nsfw_concepts": "yes", "status": "COMPLETED"},
    {"images": [{"url": "data:image/png;base64,!!"}], "status": "COMPLETED"},
    {"output": None, "status": "succeeded"},
    {"output": [[["x"]]], "status": "succeeded"},
    {"output": {"choices": [{"message": {"content": [3, {"image": 4}]}}]}, "status": "succeeded"},
    {"output": {"choices": [{"message": {"content": [{"image": "ftp://there/x.png"}]}}]}},
    {"output": "http://127.0.0.1:99999/x.png", "status": "succeeded"},
    {"status": {"a": 1}},
    {"status": "Ready", "result": {"sample": "\u0000"}},
    {"status": "Ready", "result": []},
    {"status": None, "detail": [None, {"loc": 3, "msg": None, "type": []}]},
    {"code": 5, "message": {"a": []}},
)
"""Bodies that nobody should send, as JSON or as they are."""


def survives_odd_bodies(provider: Provider) -> None:
    """Whatever a server says in the first place or later, an edit ends in an error that the engine knows."""

    def first_fine(body: Any) -> Answerer:
        def answer(asked: Request, server: Loopback) -> Answer:
            fine = asked.method == "POST" and provider.success(asked, server, BACK)
            return fine or Answer(body=body)

        return answer

    async def try_all() -> None:
        odd: Any = None
        status = 200
        with serving(lambda asked, server: Answer(status, odd)) as server:
            editor = make_editor(provider.use, base_url=f"{server.address}{provider.path}", seconds=5)
            request = EditRequest(plain(448, 400), "image/png", WORDS, seed=5)
            for odd in ODD:
                for status in (200, 400):  # noqa: B007 (the server reads it)
                    await _ends_in_an_error(editor, request, odd)
            for body in ODD:
                server.answer = first_fine(body)
                if provider.success(Request("POST", "/", {}, b""), server, BACK).body and not _in_one(provider, server):
                    await _ends_in_an_error(editor, request, body)
            await close(editor)

    asyncio.run(try_all())


def _in_one(provider: Provider, server: Loopback) -> bool:
    """Whether the first answer holds the image already."""
    return b"b64_json" in provider.success(Request("POST", "/", {}, b""), server, BACK).data


async def _ends_in_an_error(editor: Editor, request: EditRequest, body: Any) -> None:
    with pytest.raises(EditorError) as caught:
        pytest.fail(f"{body!r} was taken for {await editor.edit(request)!r}")
    told = f"{caught.value} {caught.value.raw}"
    assert SECRET not in told
    assert told.encode()  # nothing that no file could hold
    assert "\n" not in str(caught.value)
