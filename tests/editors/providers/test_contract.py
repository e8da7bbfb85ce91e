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
from tests.editors.providers import speakers
from tests.editors.providers.loopback import Answerer, Asked, Loopback, Told, serving
from tests.editors.providers.speaker import SECRET, Speaker

WORDS = "add a red hat – “now”"


def _all() -> list[type[Speaker]]:
    found = []
    for module in pkgutil.iter_modules(speakers.__path__):
        loaded = importlib.import_module(f"{speakers.__name__}.{module.name}")
        found += [
            one
            for one in vars(loaded).values()
            if inspect.isclass(one)
            and issubclass(one, Speaker)
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
def speaker(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Speaker:
    one: Speaker = request.param()
    monkeypatch.setenv(one.variable or "A_KEY", SECRET)
    return one


def made(speaker: Speaker, server: Loopback, **options: Any) -> Editor:
    return make_editor(speaker.use, base_url=f"{server.address}{speaker.path}", **{**speaker.options, **options})


def ask(speaker: Speaker, answer: Answerer, image: bytes = BIG, **options: Any) -> tuple[Edited, Loopback]:
    """One edit by a new editor; the server stays long enough to be asked what it saw."""

    async def once(editor: Editor) -> Edited:
        try:
            return await editor.edit(EditRequest(image, "image/png", WORDS, seed=5, case="c", index=1))
        finally:
            await close(editor)

    with serving(answer) as server:
        return asyncio.run(once(made(speaker, server, **options))), server


def well(speaker: Speaker, back: bytes = BIG_BACK) -> Answerer:
    return lambda asked, server: speaker.success(asked, server, back)


def failing(speaker: Speaker, status: int, message: str = "no", **headers: str) -> Answerer:
    told = Told(status, speaker.failure(status, message), headers)
    return lambda asked, server: told


def test_there_is_a_stand_in_for_every_provider() -> None:
    from convergebench.editors.providers.table import PROVIDERS

    spoken = {getattr(make_editor(one.use, **one.options), "provider", "") for one in ALL}
    assert spoken == set(PROVIDERS)


def test_the_picture_comes_back_byte_for_byte(speaker: Speaker) -> None:
    edited, _ = ask(speaker, well(speaker))
    assert edited.image == BIG_BACK
    assert edited.mime == "image/png"
    assert edited.model
    assert edited.dollars >= 0


def test_the_picture_and_the_words_arrive(speaker: Speaker) -> None:
    _, server = ask(speaker, well(speaker))
    image, words = speaker.sent(server.asked)
    assert WORDS in words
    assert np.array_equal(
        np.asarray(Image.open(io.BytesIO(image)).convert("RGB")), np.asarray(Image.open(io.BytesIO(BIG)))
    )


def test_what_was_sent_beside_the_words_is_told(speaker: Speaker) -> None:
    edited, _ = ask(speaker, well(speaker))
    capabilities = made_anyhow(speaker).capabilities
    assert isinstance(capabilities, Capabilities)
    assert (edited.used.get("seed") == 5) == capabilities.seed


def made_anyhow(speaker: Speaker) -> Editor:
    return make_editor(speaker.use, **speaker.options)


def test_the_raw_reply_holds_no_picture(speaker: Speaker) -> None:
    edited, _ = ask(speaker, well(speaker))
    assert edited.raw is not None
    assert len(edited.raw) < len(BIG_BACK) / 4


def test_the_type_is_what_the_bytes_are_and_not_what_they_are_called(speaker: Speaker) -> None:
    edited, _ = ask(speaker, well(speaker, picture(448, 400, "JPEG")))
    assert edited.mime == "image/jpeg"


def test_a_picture_of_another_size_is_left_as_it_came(speaker: Speaker) -> None:
    other = picture(640, 640)
    edited, _ = ask(speaker, well(speaker, other))
    assert edited.image == other


def test_what_is_no_picture_is_a_bad_reply(speaker: Speaker) -> None:
    with pytest.raises(BadReply):
        ask(speaker, well(speaker, b"<html>sorry</html>" * 200))


def test_a_reply_without_a_picture_is_never_a_picture(speaker: Speaker) -> None:
    with serving(lambda asked, server: Told()) as server:
        nothing = speaker.empty(Asked("POST", "/", {}, b"{}"), server)
    if nothing is None:
        pytest.skip("its protocol has no such reply")

    def answer(asked: Asked, server: Loopback) -> Told:
        told = speaker.empty(asked, server)
        assert told is not None
        return told

    with pytest.raises((BadReply, Refused)):
        ask(speaker, answer)


def test_a_filter_s_no_is_a_refusal_in_the_provider_s_words(speaker: Speaker) -> None:
    if not speaker.filters:
        pytest.skip("it has no filter")
    with pytest.raises(Refused, match="not allowed") as refusal:
        ask(speaker, speaker.refusal)
    assert refusal.value.reason
    assert refusal.value.reason != "refused"


def test_a_busy_provider_says_when_to_come_back(speaker: Speaker) -> None:
    with pytest.raises(Transient) as busy:
        ask(speaker, failing(speaker, 429, "slow down", **{"Retry-After": "7"}))
    assert busy.value.retry_after == 7


def test_only_one_request_is_made_of_a_busy_provider(speaker: Speaker) -> None:
    """Trying again is the engine's business: it knows budget and pace."""
    count = 0

    def answer(asked: Asked, server: Loopback) -> Told:
        nonlocal count
        count += 1
        return Told(429, speaker.failure(429, "slow down"), {"Retry-After": "0"})

    with pytest.raises(Transient):
        ask(speaker, answer)
    assert count == 1


@pytest.mark.parametrize("status", [500, 502, 503])
def test_a_broken_provider_is_a_passing_trouble(speaker: Speaker, status: int) -> None:
    with pytest.raises(Transient):
        ask(speaker, failing(speaker, status))


def test_a_body_that_is_cut_short_is_tried_again(speaker: Speaker) -> None:
    def answer(asked: Asked, server: Loopback) -> Told:
        told = speaker.success(asked, server, BIG_BACK)
        return Told(told.status, told.body, told.headers, cut=True)

    with pytest.raises((Transient, BadReply)):
        ask(speaker, answer)


def test_a_server_that_is_not_there_is_a_passing_trouble(speaker: Speaker) -> None:
    with serving(well(speaker)) as server:
        editor = made(speaker, server)
    with pytest.raises(Transient):
        asyncio.run(editor.edit(EditRequest(BIG, "image/png", WORDS)))  # type: ignore[arg-type]


def test_a_call_that_is_called_off_ends_at_once_and_the_next_one_goes_well(speaker: Speaker) -> None:
    held = True

    def answer(asked: Asked, server: Loopback) -> Told:
        return Told(hold=True) if held else speaker.success(asked, server, BIG_BACK)

    async def twice(editor: Editor, server: Loopback) -> Edited:
        nonlocal held
        request = EditRequest(BIG, "image/png", WORDS)
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.5):
                await editor.edit(request)
        held = False
        server.asked.clear()
        edited = await editor.edit(request)
        await close(editor)
        return edited

    with serving(answer) as server:
        assert asyncio.run(twice(made(speaker, server), server)).image == BIG_BACK


def test_a_silent_server_is_given_up(speaker: Speaker) -> None:
    """The engine's own clock is the rule; an editor used without it must not wait for ever either."""
    with pytest.raises(Transient):
        ask(speaker, lambda asked, server: Told(hold=True), seconds=0.3)


def test_without_a_key_it_says_what_to_type_and_asks_nobody(speaker: Speaker, monkeypatch: pytest.MonkeyPatch) -> None:
    if not speaker.variable:
        pytest.skip("it needs no key")
    for name in getattr(made_anyhow(speaker), "variables", (speaker.variable,)):
        monkeypatch.delenv(name, raising=False)
    assert any(speaker.variable in lack and "export" in lack for lack in lacks(made_anyhow(speaker)))
    with pytest.raises(Prerequisite, match="export"):
        ask(speaker, well(speaker))


def test_with_its_key_it_lacks_nothing(speaker: Speaker) -> None:
    assert lacks(made_anyhow(speaker)) == []


@pytest.mark.parametrize("status", [401, 403])
def test_a_key_that_is_not_taken_ends_this_editor_and_is_not_repeated(speaker: Speaker, status: int) -> None:
    if not speaker.takes_a_key:
        pytest.skip("it has no key")
    with pytest.raises(Unavailable) as refused:
        ask(speaker, failing(speaker, status, f"bad key {SECRET}"))
    assert SECRET not in f"{refused.value} {refused.value.raw}"


def test_the_key_travels_in_its_header_alone(speaker: Speaker) -> None:
    if not speaker.variable:
        pytest.skip("it needs no key")
    edited, server = ask(speaker, well(speaker))
    assert speaker.key_sent(server.first) == SECRET
    for asked in server.asked:
        assert SECRET not in asked.path
        assert SECRET.encode() not in asked.body
    assert SECRET not in repr(edited)


def test_spent_credit_ends_this_editor(speaker: Speaker) -> None:
    if not speaker.takes_a_key:
        pytest.skip("nobody pays for it")
    with pytest.raises(Unavailable):
        ask(speaker, lambda asked, server: speaker.spent())


def test_a_model_that_is_gone_ends_this_editor(speaker: Speaker) -> None:
    with pytest.raises(Unavailable):
        ask(speaker, failing(speaker, 404, "no such model"))


def test_a_wrong_request_fails_without_another_try(speaker: Speaker) -> None:
    with pytest.raises(EditorError) as wrong:
        ask(speaker, failing(speaker, 400, "the image is odd"))
    assert not isinstance(wrong.value, Transient | BadReply | Refused | Unavailable)
    assert "the image is odd" in str(wrong.value)


def test_making_one_needs_no_key_and_loads_no_library(speaker: Speaker, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(speaker.variable or "NOTHING", raising=False)
    editor = made_anyhow(speaker)
    assert isinstance(editor, Editor)
    assert editor.fingerprint


def test_where_a_server_is_does_not_change_who_answers(speaker: Speaker) -> None:
    here = make_editor(speaker.use, **{**speaker.options, "base_url": "http://127.0.0.1:1"})
    there = make_editor(speaker.use, **{**speaker.options, "base_url": "http://127.0.0.1:2"})
    assert here.fingerprint == there.fingerprint


def test_an_option_it_does_not_know_is_named(speaker: Speaker) -> None:
    from convergebench.errors import StudyError

    with pytest.raises(StudyError, match="flavour"):
        make_editor(speaker.use, **{**speaker.options, "flavour": 1})
