"""One request: bounded, with its key kept to its own server, and every failure one of ours."""

from __future__ import annotations

import asyncio
import base64
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

import pytest
from hypothesis import given
from hypothesis import strategies as st

from convergebench.errors import BadReply, Prerequisite, StudyError, Transient
from convergebench.wire.client import LONGEST_MESSAGE, NO_KEY, HttpReply, KeySource, Wire, clean, origin
from tests.editors.providers.loopback import Answer, Loopback, Request, serving

KEY = "sk-0123456789-the-key-of-this-test"
T = TypeVar("T")


def using(wire: Wire, do: Callable[[Wire], Awaitable[T]]) -> T:
    async def used() -> T:
        try:
            return await do(wire)
        finally:
            await wire.close()

    return asyncio.run(used())


def get(address: str, **options: Any) -> HttpReply:
    return using(Wire(address, **options), lambda wire: wire.send("GET", "/x"))


@pytest.fixture
def key(monkeypatch: pytest.MonkeyPatch) -> KeySource:
    monkeypatch.setenv("A_KEY_OF_MINE", KEY)
    return KeySource(("A_KEY_OF_MINE",))


@pytest.mark.parametrize(
    ("path", "asked"),
    [
        ("/x", "/v1/x"),
        ("x", "/v1/x"),
        ("/view?from=http://elsewhere/", "/v1/view?from=http://elsewhere/"),
    ],
)
def test_a_path_lies_below_the_base_address(path: str, asked: str) -> None:
    with serving(lambda one, server: Answer(body={})) as server:
        using(Wire(f"{server.address}/v1/"), lambda wire: wire.send("GET", path))
    assert server.first.path == asked


def test_a_whole_address_is_taken_as_it_is(key: KeySource) -> None:
    with serving(lambda one, server: Answer(body=b"there")) as there:
        wire = Wire("http://127.0.0.1:1/v1", key=key)
        assert using(wire, lambda one: one.send("GET", f"{there.address}/a", keyed=False)).data == b"there"
    assert "authorization" not in there.first.headers


def test_the_answer_is_whole(key: KeySource) -> None:
    with serving(lambda one, server: Answer(418, {"a": 1}, {"X-Model": "m"})) as server:
        answer = get(server.address, key=key)
    assert (answer.status, answer.json(), answer.headers["x-model"]) == (418, {"a": 1}, "m")
    assert server.first.headers["authorization"] == f"Bearer {KEY}"


def test_redirects_are_not_followed(key: KeySource) -> None:
    with serving(lambda one, server: Answer(302, b"", {"Location": "http://127.0.0.1:1/"})) as server:
        assert get(server.address, key=key).status == 302


def test_no_cookie_is_carried_from_one_call_to_the_next() -> None:
    async def twice(wire: Wire) -> None:
        for _ in range(2):
            await wire.send("GET", "/")

    with serving(lambda one, server: Answer(headers={"Set-Cookie": "session=1"})) as server:
        using(Wire(server.address), twice)
    assert [asked.headers.get("cookie") for asked in server.asked] == [None, None]


@pytest.mark.parametrize("place", ["/f.png", "f.png", "{here}/f.png", "{there}/f.png", "//{there_host}/f.png"])
def test_a_file_is_fetched_with_the_key_only_where_the_key_belongs(place: str, key: KeySource) -> None:
    with (
        serving(lambda one, server: Answer(body=b"f")) as here,
        serving(lambda one, server: Answer(body=b"f")) as there,
    ):
        host = there.address.removeprefix("http://")
        address = place.format(here=here.address, there=there.address, there_host=host)
        assert using(Wire(f"{here.address}/v1", key=key), lambda wire: wire.download(address)).data == b"f"
        stranger = "there" in place
        assert len((there if stranger else here).asked) == 1
        (asked,) = [*here.asked, *there.asked]
        assert ("authorization" in asked.headers) == (not stranger)


@pytest.mark.parametrize("address", ["file:///etc/passwd", "http://[::1/x", "data:,x", "gopher://x/"])
def test_a_file_at_no_address_is_the_server_s_fault_and_not_the_study_s(address: str) -> None:
    with pytest.raises(BadReply, match="without a valid address"):
        using(Wire("http://127.0.0.1:1"), lambda wire: wire.download(address))


def test_a_base_address_that_is_none_is_the_study_s() -> None:
    for address in ("my-box", "ftp://my-box", ""):
        with pytest.raises(StudyError, match="is not an address; give one such as"):
            get(address)


def test_an_answer_without_an_end_is_cut_off() -> None:
    with (
        serving(lambda one, server: Answer(body=b"x" * 5000)) as server,
        pytest.raises(BadReply, match="does not end"),
    ):
        using(Wire(server.address), lambda wire: wire.send("GET", "/", most=4999))


def test_an_answer_that_is_cut_short_and_a_server_that_is_gone_are_passing_troubles() -> None:
    cut = Answer(body=b"x" * 5000, cut=True)
    with serving(lambda one, server: cut) as server, pytest.raises(Transient, match="gave no complete answer") as sent:
        get(server.address)
    assert sent.value.unsettled
    with pytest.raises(Transient, match="cannot be reached") as never_sent:
        get(server.address)
    assert not never_sent.value.unsettled


def test_an_answer_packed_wrongly_is_a_passing_trouble() -> None:
    packed = Answer(body=b"no gzip", headers={"Content-Encoding": "gzip"})
    with serving(lambda one, server: packed) as server, pytest.raises(Transient):
        get(server.address)


def test_silence_is_given_up_and_may_have_cost_something() -> None:
    silent = serving(lambda one, server: Answer(hold=True))
    with silent as server, pytest.raises(Transient, match="does not answer") as given_up:
        get(server.address, seconds=0.1)
    assert given_up.value.unsettled


@pytest.mark.parametrize("status", [300, 500])
def test_a_failure_that_is_cut_short_has_cost_nothing(status: int) -> None:
    cut = Answer(status=status, body=b"x" * 5000, cut=True)
    with serving(lambda one, server: cut) as server, pytest.raises(Transient) as failed:
        get(server.address)
    assert not failed.value.unsettled


def test_what_is_no_json_is_a_bad_reply() -> None:
    for data in (b"", b"<html>", b"\xff", b"[" * 100_000):
        with pytest.raises(BadReply, match="not JSON"):
            HttpReply(200, {}, data, "http://x/").json()


def test_no_more_connections_than_wanted() -> None:
    at_once, most = 0, 0

    def answer(asked: Request, server: Loopback) -> Answer:
        nonlocal at_once, most
        at_once += 1
        most = max(most, at_once)
        server.closing.wait(0.05)
        at_once -= 1
        return Answer()

    async def many(wire: Wire) -> None:
        await asyncio.gather(*(wire.send("GET", "/") for _ in range(6)))

    with serving(answer) as server:
        using(Wire(server.address, at_once=2), many)
    assert most == 2


def test_a_wire_can_be_used_again_in_another_event_loop() -> None:
    with serving(lambda one, server: Answer()) as server:
        wire = Wire(server.address)
        for _ in range(3):
            assert using(wire, lambda one: one.send("GET", "/")).status == 200


def test_a_proxy_that_is_none_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTP_PROXY", "gopher://me:my-proxy-word@nowhere")
    with pytest.raises(Prerequisite, match="proxy"):
        get("http://127.0.0.1:1")


def test_a_key_is_wanted_unless_it_is_optional(monkeypatch: pytest.MonkeyPatch, key: KeySource) -> None:
    assert NO_KEY.headers("it") == {}
    assert key.headers("it") == {"Authorization": f"Bearer {KEY}"}
    assert KeySource(("A_KEY_OF_MINE",), header="x-key", form="{}").headers("it") == {"x-key": KEY}
    monkeypatch.delenv("A_KEY_OF_MINE")
    with pytest.raises(Prerequisite, match="export A_KEY_OF_MINE"):
        key.headers("it")
    assert KeySource(("A_KEY_OF_MINE",), optional=True).headers("it") == {}


def test_a_key_with_braces_travels_as_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("A_KEY_OF_MINE", "an-odd{0}key{}")
    assert KeySource(("A_KEY_OF_MINE",)).headers("it") == {"Authorization": "Bearer an-odd{0}key{}"}


def test_name_and_password_travel_as_base64(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("A_KEY_OF_MINE", "me:the-secret-word")
    sent = KeySource(("A_KEY_OF_MINE",), basic=True).headers("it")["Authorization"]
    assert base64.b64decode(sent.removeprefix("Basic ")) == b"me:the-secret-word"


@pytest.mark.parametrize(
    ("address", "shown"),
    [
        ("https://me:word@host:8/v1?sig=x#y", "https://host:8/v1"),
        ("http://host", "http://host"),
        ("nothing", "the server"),
        ("http://[::1", "the server"),
        ("http://host:99999999/", "the server"),
    ],
)
def test_an_address_is_shown_without_what_may_be_secret(address: str, shown: str) -> None:
    assert origin(address) == shown


def test_a_line_is_cut_behind_its_longest_and_says_so() -> None:
    assert clean("x" * LONGEST_MESSAGE) == "x" * LONGEST_MESSAGE
    assert clean("x" * (LONGEST_MESSAGE + 1)) == "x" * LONGEST_MESSAGE + "…"


@given(st.text())
def test_any_text_becomes_one_short_line(text: str) -> None:
    line = clean(text)
    assert len(line) <= 301
    assert "\n" not in line
    line.encode()  # no halves of characters


@given(st.text())
def test_any_address_has_something_to_show(address: str) -> None:
    assert origin(address)
