"""What every editor behind a provider does when things go well and when they do not: real requests to a real server."""

from __future__ import annotations

import asyncio
import importlib
import inspect
import io
import pkgutil
from typing import Any

import numpy as np
import pytest
from PIL import Image

from convergebench.editors.base import close, lacks
from convergebench.editors.find import make_editor
from convergebench.errors import (
    BadReply,
    EditorError,
    Prerequisite,
    Refused,
    Transient,
    Unavailable,
)
from convergebench.types import Capabilities, Edited, Editor, EditRequest
from tests.editors.providers import fakes
from tests.editors.providers.loopback import Answer, Answerer, Loopback, Request, serving
from tests.editors.providers.provider import SECRET, Provider

WORDS = "add a red hat – “now”"


def _all() -> list[type[Provider]]:
    found = []
    for module in pkgutil.iter_modules(fakes.__path__):
        loaded = importlib.import_module(f"{fakes.__name__}.{module.name}")
        found += [
            one
            for one in vars(loaded).values()
            if inspect.isclass(one)
            and issubclass(one, Provider)
            and one.__module__ == loaded.__name__
            and hasattr(one, "use")
        ]
    return found


ALL = _all()


def picture(width: int = 64, height: int = 48, kind: str = "PNG") -> bytes:
    pixels = np.random.default_rng(width).integers(0, 256, (height, width, 3), np.uint8)
    data = io.BytesIO()
    Image.fromarray(pixels).save(data, kind)
    return data.getvalue()


BIG, BIG_BACK = picture(448, 400), picture(464, 400)
"""Large enough for providers that take no small ones."""


@pytest.fixture(params=ALL, ids=lambda one: one.__name__)
def provider(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Provider:
    one: Provider = request.param()
    monkeypatch.setenv(one.variable or "A_KEY", SECRET)
    return one


def made(provider: Provider, server: Loopback, **options: Any) -> Editor:
    return make_editor(provider.use, base_url=f"{server.address}{provider.path}", **{**provider.options, **options})


def ask(provider: Provider, answer: Answerer, image: bytes = BIG, **options: Any) -> tuple[Edited, Loopback]:
    """One edit by a new editor; the server stays long enough to be asked what it saw."""

    async def once(editor: Editor) -> Edited:
        try:
            return await editor.edit(EditRequest(image, "image/png", WORDS, seed=5, case="c", index=1))
        finally:
            await close(editor)

    with serving(answer) as server:
        return asyncio.run(once(made(provider, server, **options))), server


def well(provider: Provider, back: bytes = BIG_BACK) -> Answerer:
    return lambda asked, server: provider.success(asked, server, back)


def failing(provider: Provider, status: int, message: str = "no", **headers: str) -> Answerer:
    told = Answer(status, provider.failure(status, message), headers)
    return lambda asked, server: told


def test_there_is_a_stand_in_for_every_provider() -> None:
    from convergebench.editors.providers.table import PROVIDERS

    spoken = {getattr(make_editor(one.use, **one.options), "provider", "") for one in ALL}
    assert spoken == {*PROVIDERS, "http"}


def test_the_picture_comes_back_byte_for_byte(provider: Provider) -> None:
    edited, _ = ask(provider, well(provider))
    assert edited.image == BIG_BACK
    assert edited.mime == "image/png"
    assert edited.model
    assert edited.dollars >= 0


def test_the_picture_and_the_words_arrive(provider: Provider) -> None:
    _, server = ask(provider, well(provider))
    image, words = provider.sent(server.asked)
    assert WORDS in words
    assert np.array_equal(
        np.asarray(Image.open(io.BytesIO(image)).convert("RGB")), np.asarray(Image.open(io.BytesIO(BIG)))
    )


def test_what_was_sent_beside_the_words_is_told(provider: Provider) -> None:
    edited, _ = ask(provider, well(provider))
    capabilities = made_anyhow(provider).capabilities
    assert isinstance(capabilities, Capabilities)
    assert (edited.used.get("seed") == 5) == capabilities.seed


def made_anyhow(provider: Provider) -> Editor:
    return make_editor(provider.use, **provider.options)


def test_the_raw_reply_holds_no_picture(provider: Provider) -> None:
    edited, _ = ask(provider, well(provider))
    assert edited.raw is not None
    assert len(edited.raw) < len(BIG_BACK) / 4


def test_the_type_is_what_the_bytes_are_and_not_what_they_are_called(provider: Provider) -> None:
    edited, _ = ask(provider, well(provider, picture(448, 400, "JPEG")))
    assert edited.mime == "image/jpeg"


def test_a_picture_of_another_size_is_left_as_it_came(provider: Provider) -> None:
    other = picture(640, 640)
    edited, _ = ask(provider, well(provider, other))
    assert edited.image == other


def test_what_is_no_picture_is_a_bad_reply(provider: Provider) -> None:
    with pytest.raises(BadReply):
        ask(provider, well(provider, b"<html>sorry</html>" * 200))


def test_a_reply_without_a_picture_is_never_a_picture(provider: Provider) -> None:
    with serving(lambda asked, server: Answer()) as server:
        nothing = provider.empty(Request("POST", "/", {}, b"{}"), server)
    if nothing is None:
        pytest.skip("its protocol has no such reply")

    def answer(asked: Request, server: Loopback) -> Answer:
        told = provider.empty(asked, server)
        assert told is not None
        return told

    with pytest.raises((BadReply, Refused)):
        ask(provider, answer)


def test_a_filter_s_no_is_a_refusal_in_the_provider_s_words(provider: Provider) -> None:
    if not provider.filters:
        pytest.skip("it has no filter")
    with pytest.raises(Refused, match="not allowed") as refusal:
        ask(provider, provider.refusal)
    assert refusal.value.reason
    assert refusal.value.reason != "refused"


def test_a_busy_provider_says_when_to_come_back(provider: Provider) -> None:
    with pytest.raises(Transient) as busy:
        ask(provider, failing(provider, 429, "slow down", **{"Retry-After": "7"}))
    assert busy.value.retry_after == 7


def test_only_one_request_is_made_of_a_busy_provider(provider: Provider) -> None:
    """Trying again is the engine's business: it knows budget and pace."""
    count = 0

    def answer(asked: Request, server: Loopback) -> Answer:
        nonlocal count
        count += 1
        return Answer(429, provider.failure(429, "slow down"), {"Retry-After": "0"})

    with pytest.raises(Transient):
        ask(provider, answer)
    assert count == 1


@pytest.mark.parametrize("status", [500, 502, 503])
def test_a_broken_provider_is_a_passing_trouble(provider: Provider, status: int) -> None:
    with pytest.raises(Transient):
        ask(provider, failing(provider, status))


def test_a_body_that_is_cut_short_is_tried_again(provider: Provider) -> None:
    def answer(asked: Request, server: Loopback) -> Answer:
        told = provider.success(asked, server, BIG_BACK)
        return Answer(told.status, told.body, told.headers, cut=True)

    with pytest.raises((Transient, BadReply)):
        ask(provider, answer)


def test_a_server_that_is_not_there_is_a_passing_trouble(provider: Provider) -> None:
    with serving(well(provider)) as server:
        editor = made(provider, server)
    with pytest.raises(Transient):
        asyncio.run(editor.edit(EditRequest(BIG, "image/png", WORDS)))  # type: ignore[arg-type]


def test_a_call_that_is_called_off_ends_at_once_and_the_next_one_goes_well(provider: Provider) -> None:
    held = True

    def answer(asked: Request, server: Loopback) -> Answer:
        return Answer(hold=True) if held else provider.success(asked, server, BIG_BACK)

    async def twice(editor: Editor, server: Loopback) -> Edited:
        nonlocal held
        request = EditRequest(BIG, "image/png", WORDS)
        call = asyncio.ensure_future(editor.edit(request))
        while not server.asked:
            await asyncio.sleep(0.005)
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call
        held = False
        server.asked.clear()
        edited = await editor.edit(request)
        await close(editor)
        return edited

    with serving(answer) as server:
        assert asyncio.run(twice(made(provider, server), server)).image == BIG_BACK


def test_a_silent_server_is_given_up(provider: Provider) -> None:
    """The engine's own clock is the rule; an editor used without it must not wait for ever either."""
    with pytest.raises(Transient):
        ask(provider, lambda asked, server: Answer(hold=True), seconds=0.05)


def test_without_a_key_it_says_what_to_type_and_asks_nobody(
    provider: Provider, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not provider.variable:
        pytest.skip("it needs no key")
    for name in getattr(made_anyhow(provider), "variables", (provider.variable,)):
        monkeypatch.delenv(name, raising=False)
    assert any(provider.variable in lack and "export" in lack for lack in lacks(made_anyhow(provider)))
    with pytest.raises(Prerequisite, match="export"):
        ask(provider, well(provider))


def test_with_its_key_it_lacks_nothing(provider: Provider) -> None:
    assert lacks(made_anyhow(provider)) == []


@pytest.mark.parametrize("status", [401, 403])
def test_a_key_that_is_not_taken_ends_this_editor_and_is_not_repeated(provider: Provider, status: int) -> None:
    if not provider.takes_a_key:
        pytest.skip("it has no key")
    with pytest.raises(Unavailable) as refused:
        ask(provider, failing(provider, status, f"bad key {SECRET}"))
    assert SECRET not in f"{refused.value} {refused.value.raw}"


def test_the_key_travels_in_its_header_alone(provider: Provider) -> None:
    if not provider.variable:
        pytest.skip("it needs no key")
    edited, server = ask(provider, well(provider))
    assert provider.key_sent(server.first) == SECRET
    for asked in server.asked:
        assert SECRET not in asked.path
        assert SECRET.encode() not in asked.body
    assert SECRET not in repr(edited)


def test_spent_credit_ends_this_editor(provider: Provider) -> None:
    if not provider.takes_a_key:
        pytest.skip("nobody pays for it")
    with pytest.raises(Unavailable):
        ask(provider, lambda asked, server: provider.spent())


def test_a_model_that_is_gone_ends_this_editor(provider: Provider) -> None:
    with pytest.raises(Unavailable):
        ask(provider, failing(provider, 404, "no such model"))


def test_a_wrong_request_fails_without_another_try(provider: Provider) -> None:
    with pytest.raises(EditorError) as wrong:
        ask(provider, failing(provider, 400, "the image is odd"))
    assert not isinstance(wrong.value, Transient | BadReply | Refused | Unavailable)
    assert "the image is odd" in str(wrong.value)


def test_making_one_needs_no_key_and_loads_no_library(provider: Provider, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(provider.variable or "NOTHING", raising=False)
    editor = made_anyhow(provider)
    assert isinstance(editor, Editor)
    assert editor.fingerprint


def test_where_a_server_is_does_not_change_who_answers(provider: Provider) -> None:
    here = make_editor(provider.use, **{**provider.options, "base_url": "http://127.0.0.1:1"})
    there = make_editor(provider.use, **{**provider.options, "base_url": "http://127.0.0.1:2"})
    assert here.fingerprint == there.fingerprint


def test_an_option_it_does_not_know_is_named(provider: Provider) -> None:
    from convergebench.errors import StudyError

    with pytest.raises(StudyError, match="flavour"):
        make_editor(provider.use, **{**provider.options, "flavour": 1})
