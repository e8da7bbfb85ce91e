"""A call that was sent and not answered whole may have been charged: every editor says so, wherever it breaks off."""

from __future__ import annotations

import asyncio
import resource
from typing import Any

import pytest

from convergebench.editors.providers import download
from convergebench.errors import EditorError, Transient
from convergebench.types import EditRequest
from convergebench.wire import poll
from tests.editors.providers.fakes.bfl import BlackForestLabs
from tests.editors.providers.loopback import Answer, Answerer, Loopback, Request, serving
from tests.editors.providers.provider import SECRET, Provider
from tests.editors.providers.test_contract import ALL, BIG, BIG_BACK, WORDS, ask, made
from tests.wire.bombs import bomb, packing

SCENES: dict[str, Answer] = {
    "cut off in its body": Answer(cut=True),
    "reset after the request": Answer(reset=True),
    "endless": Answer(body=b" " * (1 << 20), endless=True),
    "a bomb in a bomb": Answer(body=bomb(2), headers=packing(2)),
    "silent": Answer(hold=True),
    "no JSON": Answer(body=b"<html>"),
    "another JSON": Answer(body=[1]),
    "an empty object": Answer(body={}),
}
LATER = [one for one in ALL if one.__name__ in ("BlackForestLabs", "ComfyUI", "DashScope", "Fal", "Replicate")]
"""Those whose image is fetched after the first answer."""
FREE = ("/upload/image", "/queue", "/interrupt")
"""What no edit is charged for."""


@pytest.fixture(params=ALL, ids=lambda one: one.__name__)
def provider(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Provider:
    one: Provider = request.param()
    monkeypatch.setenv(one.variable or "A_KEY", SECRET)
    monkeypatch.setattr(download, "PAUSES", (0.0,))
    monkeypatch.setattr(poll, "FIRST", 0.005)
    return one


def spoiling(provider: Provider, scene: Answer, method: str) -> Answerer:
    """All goes well but the answers to one method."""

    def answer(asked: Request, server: Loopback) -> Answer:
        fine = provider.success(asked, server, BIG_BACK)
        if asked.method != method or asked.route in FREE:
            return fine
        return Answer(fine.status, fine.body, fine.headers, cut=True) if scene.cut else scene

    return answer


def failed(provider: Provider, answer: Answerer, **options: Any) -> EditorError:
    with pytest.raises(EditorError) as caught:
        ask(provider, answer, **options)
    return caught.value


@pytest.mark.parametrize("scene", SCENES)
def test_a_paid_request_without_a_whole_answer_is_counted(provider: Provider, scene: str) -> None:
    if scene == "an empty object" and provider.use.startswith("comfyui:"):
        pytest.skip("it goes on with the number it gave the job itself")
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    error = failed(provider, spoiling(provider, SCENES[scene], "POST"), seconds=0.3 if scene == "silent" else 20)
    assert error.unsettled or error.dollars > 0
    assert not (error.unsettled and error.dollars > 0)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 500_000  # KiB


@pytest.mark.parametrize("provider", LATER, indirect=True, ids=lambda one: one.__name__)
@pytest.mark.parametrize("scene", [*(one for one in SCENES if one not in ("silent", "endless")), "401", "404", "500"])
def test_work_that_was_taken_and_cannot_be_fetched_is_counted(provider: Provider, scene: str) -> None:
    told = SCENES.get(scene) or Answer(int(scene), provider.failure(int(scene), "no"))
    error = failed(provider, spoiling(provider, told, "GET"), seconds=20)
    assert error.unsettled or error.dollars > 0


@pytest.mark.parametrize("dollars", [None, 0.25])
@pytest.mark.parametrize("provider", LATER, indirect=True, ids=lambda one: one.__name__)
def test_what_the_user_says_a_call_costs_is_what_is_counted(provider: Provider, dollars: float | None) -> None:
    """An image that was made and cannot be fetched: at the price, or unsettled where nobody knows one."""
    told = {"dollars": dollars} if dollars else {}
    error = failed(provider, spoiling(provider, Answer(reset=True), "GET"), **told)
    assert error.unsettled or error.dollars > 0
    if error.dollars and dollars and not isinstance(provider, BlackForestLabs):  # whose reply says what it costs
        assert error.dollars == dollars


@pytest.mark.parametrize("status", [400, 401, 429, 500, 503])
def test_a_whole_answer_that_says_no_is_settled(provider: Provider, status: int) -> None:
    told = Answer(status, provider.failure(status, "no"))
    error = failed(provider, lambda asked, server: told)
    assert (error.unsettled, error.dollars) == (False, 0.0)


def test_a_request_that_was_never_sent_is_settled(provider: Provider) -> None:
    with serving(lambda asked, server: Answer()) as server:
        editor = made(provider, server)
    with pytest.raises(Transient) as gone:
        asyncio.run(editor.edit(EditRequest(BIG, "image/png", WORDS)))  # type: ignore[arg-type]
    assert (gone.value.unsettled, gone.value.dollars) == (False, 0.0)


def test_a_failure_of_sixty_megabytes_is_told_at_once(provider: Provider) -> None:
    import time

    body = b'{"error": {"message": "out of order ' + f"{SECRET} ".encode() * 2_300_000 + b'"}}'
    begun = time.monotonic()
    error = failed(provider, lambda asked, server: Answer(500, body))
    assert time.monotonic() - begun < 2
    assert isinstance(error, Transient)
    assert SECRET not in f"{error} {error.raw}"
    assert len(f"{error} {error.raw}") < 2000
