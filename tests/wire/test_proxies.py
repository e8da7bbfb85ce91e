"""A proxy out of the environment: one that cannot be is told in a line, and its password is nobody's business."""

from __future__ import annotations

import asyncio
import base64

import pytest

from convergebench.errors import Prerequisite
from convergebench.wire.client import HttpReply, Wire
from convergebench.wire.verdict import classify_failure
from tests.editors.providers.loopback import Answer, Loopback, Request, serving

PASSWORD = "Hunter2Hunter2x"


def sent() -> HttpReply:
    wire = Wire("http://models.invalid/v1", seconds=5)

    async def once() -> HttpReply:
        try:
            return await wire.send("GET", "/models")
        finally:
            await wire.close()

    return asyncio.run(once())


@pytest.mark.parametrize(
    "proxy",
    [
        f"http://bob:{PASSWORD}@127.0.0.1:999999",
        f"http://bob:{PASSWORD}@127.0.0.1:0",
        f"http://bob:{PASSWORD}@127.0.0.1:port",
        f"http://bob:{PASSWORD}@[::1",
        f"socks9://bob:{PASSWORD}@127.0.0.1:1",
    ],
)
def test_a_proxy_that_cannot_be_is_told_without_its_password(monkeypatch: pytest.MonkeyPatch, proxy: str) -> None:
    monkeypatch.setenv("http_proxy", proxy)
    with pytest.raises(Prerequisite, match=r"proxy") as told:
        sent()
    assert PASSWORD not in str(told.value)
    assert "\n" not in str(told.value)


@pytest.mark.parametrize("escaped", [False, True])
def test_a_proxy_that_repeats_its_password_gives_nothing_away(monkeypatch: pytest.MonkeyPatch, escaped: bool) -> None:
    def answer(asked: Request, server: Loopback) -> Answer:
        return Answer(407, f"{asked.headers['proxy-authorization']} and {PASSWORD}".encode())

    with serving(answer) as server:
        written = PASSWORD.replace("2", "%32") if escaped else PASSWORD
        monkeypatch.setenv("http_proxy", server.address.replace("://", f"://bob:{written}@"))
        found = classify_failure(sent())
    told = f"{found.message} {found.raw}"
    assert PASSWORD not in told
    assert base64.b64encode(f"bob:{PASSWORD}".encode()).decode()[:12] not in told
