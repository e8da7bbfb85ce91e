"""`http`: an endpoint as the study file describes it, on the wire; and every mistake in the file, before a call."""

from __future__ import annotations

import base64
from typing import Any

import pytest

from convergebench.editors.base import lacks, notices
from convergebench.editors.find import make_editor
from convergebench.engine.attempt import stored_text
from convergebench.errors import BadReply, EditorError, Prerequisite, Refused, StudyError, Transient
from tests.editors.providers.asking import edited_by, request
from tests.editors.providers.loopback import Answer, Answerer, Loopback, Request, serving
from tests.editors.providers.provider import SECRET
from tests.editors.providers.trying import BACK, SENT

PLAIN: dict[str, Any] = {"body": {"image": "{image_base64}", "prompt": "{instruction}"}, "image": "image"}
KEYED = {**PLAIN, "headers": {"Authorization": "Bearer ${CBENCH_BOX_KEY}"}}


@pytest.fixture(autouse=True)
def _key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CBENCH_BOX_KEY", SECRET)


def encoded(picture: bytes = BACK) -> str:
    return base64.b64encode(picture).decode()


def asked_of(answer: Answerer, **options: Any) -> tuple[Any, Loopback]:
    with serving(answer) as server:
        editor = make_editor("http", url=f"{server.address}/edit", **{**PLAIN, **options})
        return edited_by(editor, request(SENT, 'say "hello" {seed}'))[0], server


def fails(answer: Answerer, **options: Any) -> EditorError:
    with pytest.raises(EditorError) as caught:
        asked_of(answer, **options)
    assert SECRET not in f"{caught.value} {stored_text(caught.value.raw or '')}", "the journal redacts what it stores"
    assert "\n" not in str(caught.value)
    return caught.value


def test_placeholders_are_filled_in_once_and_numbers_stay_numbers() -> None:
    body = {
        "a": "{width}x{height}",
        "b": "{width}",
        "c": {"d": ["{instruction}", "{seed}", "{seed}!", "{mime}", True, 1.5]},
        "image": "{image_data_url}",
    }
    edited, server = asked_of(lambda asked, server: Answer(body={"image": encoded()}), body=body)
    sent = server.first.json
    assert (sent["a"], sent["b"]) == ("448x400", 448)
    assert sent["c"] == {"d": ['say "hello" {seed}', 5, "5!", "image/png", True, 1.5]}
    assert sent["image"] == f"data:image/png;base64,{encoded(SENT)}"
    assert (edited.image, edited.used) == (BACK, {"seed": 5})


@pytest.mark.parametrize(
    ("found", "kind"),
    [
        (encoded(), "auto"),
        (f"data:image/png;base64,{encoded()}", "auto"),
        ("HERE/picture.png", "auto"),
        ("/picture.png", "url"),
        ("picture.png", "url"),
        (encoded(), "base64"),
        ("\n".join([encoded()[:76], encoded()[76:]]), "auto"),
    ],
)
def test_a_picture_is_base64_a_data_address_or_an_address(found: str, kind: str) -> None:
    def answer(asked: Request, server: Loopback) -> Answer:
        if asked.method == "GET":
            return Answer(body=BACK) if asked.path == "/picture.png" else Answer(404)
        return Answer(body={"image": found.replace("HERE", server.address)})

    edited, _ = asked_of(answer, image_is=kind)
    assert edited.image == BACK


def test_the_whole_answer_may_be_the_picture() -> None:
    edited, _ = asked_of(lambda asked, server: Answer(body=BACK), image="")
    assert edited.image == BACK
    assert len(edited.raw) < 200


def test_a_key_is_sent_to_its_own_host_and_to_no_other() -> None:
    with serving(lambda asked, server: Answer(body=BACK)) as other:
        answers = {"image": f"{other.address}/picture.png", "task": f"{other.address}/task", "status": "done"}
        poll = {"url": "{task}", "done": ["done"]}
        other.answer = lambda asked, server: Answer(body=BACK if "picture" in asked.path else answers)
        _, server = asked_of(lambda asked, server: Answer(body=answers), **KEYED, poll=poll)
        assert server.first.headers["authorization"] == f"Bearer {SECRET}"
        assert [one.path for one in other.asked] == ["/task", "/picture.png"]
        assert not any("authorization" in one.headers for one in other.asked)


@pytest.mark.parametrize("address", ["file:///etc/passwd", "ftp://there/x.png", "http://[::1", "gopher://x", "\x00"])
def test_only_http_addresses_are_fetched(address: str) -> None:
    error = fails(lambda asked, server: Answer(body={"image": address}), image_is="url")
    assert isinstance(error, BadReply)


def test_an_https_picture_is_not_fetched_by_way_of_http() -> None:
    def answer(asked: Request, server: Loopback) -> Answer:
        return (
            Answer(body={"image": f"{server.address}/a"})
            if asked.method == "POST"
            else Answer(302, headers={"Location": "file:///etc/passwd"})
        )

    assert isinstance(fails(answer), BadReply)


@pytest.mark.parametrize("image", ["", "image"])
def test_an_answer_without_end_is_not_read_to_it(image: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        "convergebench.wire.client.Wire.send.__kwdefaults__", {"keyed": True, "headers": None, "most": 100_000}
    )
    error = fails(lambda asked, server: Answer(body=b"x" * 10_000, endless=True), image=image)
    assert isinstance(error, BadReply)


@pytest.mark.parametrize(
    "body", [b"", b"<html>", b"[" * 50_000, b"\xff", None, [], {}, "words", 7, {"image": 5}, {"image": "!"}]
)
def test_garbage_is_a_bad_reply(body: Any) -> None:
    error = fails(lambda asked, server: Answer(body=body), **KEYED, dollars=0.5)
    assert isinstance(error, BadReply)
    assert error.dollars == 0.5 or error.unsettled, "the answer may have been charged"


def test_a_busy_answer_is_told_by_status_or_by_condition() -> None:
    limit = {"Retry-After": "9"}
    for told, options in (
        (Answer(429, b"slow", limit), {}),
        (Answer(418, b"tea", limit), {"retry": [418]}),
        (Answer(200, {"error": {"code": "queue_full"}}, limit), {"retry": ["error.code == 'queue_full'"]}),
    ):
        error = fails(lambda asked, server, told=told: told, **options)  # type: ignore[misc]
        assert isinstance(error, Transient)
        assert error.retry_after == 9


def test_a_refusal_is_told_by_status_or_by_condition_and_gives_the_endpoint_s_words() -> None:
    for told, options, reason in (
        (Answer(451, {"detail": "no faces"}), {"refused": [451]}, "451"),
        (Answer(200, {"blocked": "nsfw", "why": "no faces"}), {"refused": ["blocked"], "message": "why"}, "nsfw"),
        (
            Answer(400, {"e": [{"t": "policy"}], "why": "no faces"}),
            {"refused": ["e[?t=='policy']"], "message": "why"},
            "e[?t=='policy']",
        ),
    ):
        error = fails(lambda asked, server, told=told: told, **options)  # type: ignore[misc]
        assert isinstance(error, Refused)
        assert error.reason == reason
        assert "no faces" in str(error)


def test_an_error_that_repeats_the_key_is_redacted() -> None:
    for status in (200, 400, 401, 429, 500):
        told = {"detail": f"bad key {SECRET}", "headers": {"authorization": f"Bearer {SECRET}"}}
        fails(lambda asked, server, status=status, told=told: Answer(status, told), **KEYED)  # type: ignore[misc]


POLL = {"url": "/tasks/{id}", "done": ["ok", 1], "failed": ["bad"], "every": 0.01}


@pytest.mark.parametrize(
    ("states", "kind"),
    [
        (["ok"], None),
        (["queued", "running", None, "ok"], None),
        ([0, True, 1], None),
        (["bad"], Transient),
        (["running", 500, 503, "ok"], None),
        (["running", 400], EditorError),
        ([b"<html>"], BadReply),
    ],
)
def test_a_task_is_asked_after_until_it_has_ended(states: list[Any], kind: type[EditorError] | None) -> None:
    left = list(states)

    def answer(asked: Request, server: Loopback) -> Answer:
        if asked.method == "POST":
            return Answer(202, {"id": 12})
        state = left.pop(0)
        if isinstance(state, int) and state > 99:
            return Answer(state, {"detail": "x"})
        return Answer(body=state if isinstance(state, bytes) else {"status": state, "image": encoded()})

    if kind is None:
        edited, server = asked_of(answer, poll=POLL)
        assert edited.image == BACK
        assert {one.path for one in server.asked[1:]} == {"/tasks/12"}
    else:
        error = fails(answer, poll=POLL, dollars=0.5)
        assert type(error) is kind
        assert error.unsettled, "the task was taken on, and nobody knows whether it is charged"
    assert not left


def test_a_task_that_never_ends_is_given_up() -> None:
    error = fails(
        lambda asked, server: Answer(body={"id": 1, "status": "going"}), poll={**POLL, "every": 0.05}, seconds=0.3
    )
    assert isinstance(error, Transient)
    assert error.unsettled


def test_an_answer_that_does_not_say_where_its_task_is_is_a_bad_reply() -> None:
    for body in ({}, {"id": None}, {"id": {"a": 1}}, {"id": ""}, {"id": True}):
        assert isinstance(fails(lambda asked, server, body=body: Answer(body=body), poll=POLL), BadReply)  # type: ignore[misc]


def made(**options: Any) -> Any:
    return make_editor("http", **{"url": "https://host/edit", **PLAIN, **options})


def test_what_changes_answers_is_the_identity_and_the_rest_is_not() -> None:
    one = made().fingerprint
    assert made(url="https://other/edit").fingerprint != one
    assert made(body={"image": "{image_base64}", "prompt": "{instruction}", "steps": 4}).fingerprint != one
    assert made(model="v2").fingerprint != one
    assert made(headers={"X-Model": "v2"}).fingerprint != one
    same = {"headers": {"X-Key": "${CBENCH_OTHER_KEY}"}, "at_once": 9, "seconds": 3, "dollars": 1.0}
    assert made(**same).fingerprint == one
    polls = [made(poll={**POLL, "every": every}).fingerprint for every in (1, 2)]
    assert polls[0] == polls[1] != one


def test_a_seed_and_words_are_claimed_only_where_they_are_sent() -> None:
    able = made().capabilities
    assert (able.seed, able.instructed) == (False, True)
    able = made(body={"image": "{image_base64}", "seed": "{seed}"}).capabilities
    assert (able.seed, able.instructed) == (True, False)


def test_a_price_is_known_where_it_is_said_or_where_nobody_charges() -> None:
    assert made().capabilities.dollars_per_call is None
    assert any("is unknown" in line for line in notices(made()))
    assert made(dollars=0.3).capabilities.dollars_per_call == 0.3
    assert made(url="http://127.0.0.1:9/edit").capabilities.dollars_per_call == 0
    assert made(url="http://localhost/edit").capabilities.dollars_per_call == 0


def test_every_key_that_is_not_set_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CBENCH_BOX_KEY")
    editor = made(headers={"A": "${CBENCH_BOX_KEY} ${CBENCH_SECOND_KEY}"})
    assert [line.partition(" ")[0] for line in lacks(editor)] == ["CBENCH_BOX_KEY", "CBENCH_SECOND_KEY"]
    with pytest.raises(Prerequisite, match="export CBENCH_BOX_KEY"):
        edited_by(editor, request(SENT))


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"url": ""}, "url is missing"),
        ({"url": "host/edit"}, "url should be an address"),
        ({"url": "https://user:pass@host/x"}, "should contain no user name, password"),
        ({"url": "https://host/x?api_key=abc"}, "url should hold no key"),
        ({"url": "/edit"}, "url is a path"),
        ({"url": "https://host/x", "base_url": "https://host"}, "base_url has no use"),
        ({"body": None}, "give either body"),
        ({"form": {"image": "{image}"}}, "give either body"),
        ({"body": {"prompt": "{instruction}"}}, "the picture is not sent"),
        ({"body": {"i": "{image_base46}"}}, "did you mean 'image_base64'?"),
        ({"body": {"i": "{image}"}}, "can stand in form only"),
        ({"body": None, "form": {"i": "x{image}"}}, "and nothing else"),
        ({"body": {"i": "{image_base64}", "k": "${OPENAI_API_KEY}"}}, "keys are sent in headers alone"),
        ({"headers": {"Authorization": f"Bearer {SECRET}"}}, "put it into the environment"),
        ({"headers": {"X-Key": "${AWS_SECRET_ACCESS_KEY}"}}, "AWS_SECRET_ACCESS_KEY, which no known provider"),
        ({"headers": {"X-Key": "${HOME}"}}, "is not sent"),
        ({"headers": {"X-Key": "${a b}"}}, "should name an environment variable"),
        ({"headers": {"X Key": "a"}}, "should have names"),
        ({"headers": {"X-Words": "a\nb"}}, "no header can have"),
        ({"headers": SECRET}, "headers should be a table"),
        ({"image": "data[0"}, "image should be a JMESPath"),
        ({"retry": ["a =="]}, "retry should be a JMESPath"),
        ({"refused": [99]}, "greater than or equal to 100"),
        ({"poll": {"url": "/tasks", "done": ["x"]}}, "poll.url should hold something of the first answer"),
        ({"poll": {"url": "{a[}", "done": ["x"]}}, "poll.url should be a JMESPath"),
        ({"poll": {"url": "{a}", "done": []}}, "poll.done"),
        ({"poll": {"url": "{a}"}}, "poll.done"),
        ({"poll": {"url": "{a}", "done": ["x"]}, "image": ""}, "image should say where"),
        ({"method": "PATCH"}, "method"),
        ({"flavour": 1}, "unknown key 'flavour'"),
        ({"dollars": -1}, "dollars"),
    ],
)
def test_a_mistake_in_the_file_is_one_line_before_any_call(options: dict[str, Any], said: str) -> None:
    with pytest.raises(StudyError) as caught:
        made(**options)
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)
    assert SECRET not in str(caught.value)
