"""What every protocol owes a role: the same question, and the same outcome for each kind of answer."""

from __future__ import annotations

import asyncio
import io
import json
from typing import Any

import jsonschema  # type: ignore[import-untyped]
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image

from convergebench.errors import BadReply, EditorError, Prerequisite, Refused, StudyError, Transient
from convergebench.images.encode import encode_png
from convergebench.roles.base import Answered
from convergebench.roles.served import ServedRole
from convergebench.rubrics.reply import parse
from convergebench.rubrics.rubric import Rubric, form_of, load_rubric, question, rubric_names
from tests.roles.clients.protocols import ANSWERED, KEY, PROTOCOLS, Protocol, conforming
from tests.roles.server import ChatResponse, serving
from tests.roles.test_served import SECRET, ask

PRICES = {"input": 2.0, "output": 10.0}
PICTURES = tuple(encode_png(np.full((6, 8, 3), shade, np.uint8)) for shade in (10, 120, 240))
KEYWORDS = {
    "openai": {"type", "properties", "required", "additionalProperties", "description", "items"},
    "gemini": {"type", "properties", "required", "additionalProperties", "description", "items"},
    "anthropic": {"type", "properties", "required", "additionalProperties", "description", "items", "anyOf"},
}
"""What each server is known to enforce, of what is used here."""

spoken = pytest.mark.parametrize("protocol", PROTOCOLS, ids=lambda one: one.api)
JSON_RUBRICS = [name for name in rubric_names() if load_rubric(name).reply.form == "json"]


def asked(rubric: Rubric) -> dict[str, Any]:
    return question(rubric, dict.fromkeys(rubric.needs, "add a hat"))


def pictures_of(rubric: Rubric) -> tuple[bytes, ...]:
    return PICTURES[: len(rubric.pictures)]


JUDGED = asked(load_rubric("judge-two-edits"))
VERDICT = json.dumps({"reason": "it is sharper", "better": 0.75})


@spoken
@pytest.mark.parametrize("name", JSON_RUBRICS)
def test_every_shipped_question_goes_out_whole_and_its_reply_comes_back(protocol: Protocol, name: str) -> None:
    rubric = load_rubric(name)
    payload, form = asked(rubric), rubric.reply
    with serving(lambda request, _: protocol.reply(conforming(protocol.schema(request) or {}))) as server:
        answered = ask(protocol.table(server), payload, pictures_of(rubric))
        (request,) = server.requests
    assert request.path == protocol.path
    assert protocol.system(request) == (payload["system"] or None)
    pictures = [("image/png", data) for data in pictures_of(rubric)]
    assert protocol.parts(request) == [*pictures, ("text", payload["text"])], "pictures in their order, then the words"
    assert answered.value is not None, "a reply that keeps to the schema can be read"
    assert list(answered.value) == [field.name for field in form.fields]


@spoken
@pytest.mark.parametrize("name", JSON_RUBRICS)
def test_the_schema_says_in_the_servers_dialect_what_a_reply_must_be(protocol: Protocol, name: str) -> None:
    payload = asked(load_rubric(name))
    with serving(protocol.reply(VERDICT)) as server:
        ask(protocol.table(server), payload, ())
        schema = protocol.schema(server.requests[0])
    assert schema is not None
    assert used_keywords(schema) <= KEYWORDS[protocol.api]
    good = json.loads(conforming(schema))
    jsonschema.validate(good, schema)
    form = form_of(payload)
    for field in form.fields:
        wrong: Any
        for wrong in ({}, True, None):
            reply = {**good, field.name: wrong}
            fits = parse(json.dumps(reply), form) is not None
            assert jsonschema.Draft202012Validator(schema).is_valid(reply) == fits, (field.name, wrong)
    missing = {name: value for name, value in good.items() if name != form.fields[0].name}
    for reply in (missing, {**good, "more": 1}):
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate(reply, schema)


def used_keywords(schema: dict[str, Any]) -> set[str]:
    found = set(schema)
    inner = [*schema.get("properties", {}).values(), *schema.get("anyOf", ()), *filter(None, [schema.get("items")])]
    return found.union(*map(used_keywords, inner)) if inner else found


@spoken
def test_a_reply_is_kept_with_the_model_that_gave_it_and_what_it_cost(protocol: Protocol) -> None:
    with serving(protocol.reply(VERDICT)) as server:
        answered = ask(protocol.table(server, dollars_per_million=PRICES), JUDGED, PICTURES)
    value, dollars = {"reason": "it is sharper", "better": 0.75}, (1000 * 2 + 100 * 10) / 1e6
    assert answered == Answered(value, VERDICT, ANSWERED, dollars)


@spoken
def test_without_a_count_a_reply_costs_what_was_set_aside(protocol: Protocol) -> None:
    with serving(protocol.reply(VERDICT, usage=False)) as server:
        table = protocol.table(server, dollars_per_million=PRICES, max_tokens=500)
        assert ask(table, JUDGED, PICTURES).dollars == pytest.approx((6000 * 2 + 500 * 10) / 1e6)


@spoken
def test_words_alone_and_no_schema_where_none_is_wanted(protocol: Protocol) -> None:
    summary = question(load_rubric("self-evaluation"), {"reasoning": "it looks noisy"})
    with serving([protocol.reply("yes"), protocol.reply(VERDICT)]) as server:
        assert ask(protocol.table(server), summary, ()).value == {"noticed": 1.0}
        ask(protocol.table(server, structured=False), JUDGED, PICTURES)
    first, second = server.requests
    assert protocol.parts(first) == [("text", summary["text"])]
    assert protocol.system(first) is None
    assert protocol.schema(first) is None
    assert protocol.schema(second) is None


@spoken
def test_a_format_that_the_server_does_not_read_is_sent_as_png(protocol: Protocol) -> None:
    packed = {}
    for name in ("JPEG", "WEBP", "BMP", "GIF"):
        stream = io.BytesIO()
        Image.new("RGB", (8, 6), (200, 30, 30)).save(stream, name)
        packed[name] = stream.getvalue()
    with serving(protocol.reply(VERDICT)) as server:
        ask(protocol.table(server), JUDGED, tuple(packed.values()))
        *sent, _ = protocol.parts(server.requests[0])
    gif = "image/png" if protocol.api == "gemini" else "image/gif"
    assert [mime for mime, _ in sent] == ["image/jpeg", "image/webp", "image/png", gif]
    for (mime, data), original in zip(sent, packed.values(), strict=True):
        assert Image.open(io.BytesIO(data)).get_format_mimetype() == mime
        assert (data == original) == (mime == Image.open(io.BytesIO(original)).get_format_mimetype())


@spoken
@pytest.mark.parametrize("text", [VERDICT, VERDICT[:20], ""])
def test_a_reply_that_was_cut_short_has_no_value(protocol: Protocol, text: str) -> None:
    with serving(protocol.reply(text, truncated=True)) as server:
        answered = ask(protocol.table(server, dollars_per_million=PRICES), JUDGED, PICTURES)
    assert answered.value is None
    assert answered.raw == text
    assert answered.dollars > 0


@pytest.mark.parametrize(
    ("protocol", "reply", "reason"),
    [pytest.param(one, *case, id=f"{one.api} {case[1]}") for one in PROTOCOLS for case in one.refusals()],
)
def test_a_refusal_is_an_outcome_with_the_servers_own_word(
    protocol: Protocol, reply: ChatResponse, reason: str
) -> None:
    with serving(reply) as server, pytest.raises(Refused) as caught:
        ask(protocol.table(server, dollars_per_million=PRICES), JUDGED, PICTURES)
    assert caught.value.reason == reason
    assert caught.value.dollars == pytest.approx(0.003), "it was counted, so it is charged"
    assert caught.value.raw, "what came is kept"
    assert "\n" not in str(caught.value)


@spoken
@pytest.mark.parametrize("status", [408, 429, 500, 503, 529])
def test_a_busy_server_is_asked_again_after_the_pause_it_wants(protocol: Protocol, status: int) -> None:
    reply = protocol.error(status, "busy", **{"Retry-After": "7"})
    with serving(reply) as server, pytest.raises(Transient, match=f"answers {status}: busy") as caught:
        ask(protocol.table(server), JUDGED, PICTURES)
    assert caught.value.retry_after == 7.0
    assert not caught.value.unsettled, "an error is not charged"


@spoken
@pytest.mark.parametrize("status", [401, 403])
def test_a_key_that_is_not_taken_is_named_and_not_shown(
    protocol: Protocol, status: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(KEY, SECRET)
    with serving(protocol.error(status, f"bad key {SECRET}")) as server, pytest.raises(Prerequisite) as caught:
        ask(protocol.table(server, key=KEY), JUDGED, PICTURES)
    assert f"answers {status}" in str(caught.value)
    assert f"the key in {KEY}" in str(caught.value)
    assert SECRET not in str(caught.value)


@spoken
def test_a_missing_key_is_asked_for_before_anything_is_sent(
    protocol: Protocol, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(KEY, raising=False)
    with serving(protocol.reply(VERDICT)) as server:
        role = ServedRole("judge", protocol.table(server, key=KEY))
        with pytest.raises(Prerequisite, match=rf"{KEY} is not set; .* export {KEY}=…"):
            role.ready()
        with pytest.raises(Prerequisite, match=KEY):
            asyncio.run(role.ask(PICTURES, JUDGED))
    assert server.requests == []


@spoken
def test_an_unknown_model_and_a_wrong_request_are_told_apart(protocol: Protocol) -> None:
    with serving(protocol.error(404, "no such model")) as server, pytest.raises(StudyError, match="no such model"):
        ask(protocol.table(server), JUDGED, PICTURES)
    with serving(protocol.error(400, "image too large")) as server, pytest.raises(EditorError) as caught:
        ask(protocol.table(server), JUDGED, PICTURES)
    assert type(caught.value) is EditorError, "the next question may be fine"


@spoken
def test_an_error_inside_a_reply_that_went_well_is_an_error(protocol: Protocol) -> None:
    busy = ChatResponse(body={"error": {"message": "upstream busy", "code": 429}})
    with serving(busy) as server, pytest.raises(Transient, match="answers 429: upstream busy"):
        ask(protocol.table(server), JUDGED, PICTURES)


ODD = [(one, ChatResponse(body=body)) for one in PROTOCOLS for body in (*one.odd(), [], {}, None, "<html>Hi</html>")]


@pytest.mark.parametrize(("protocol", "reply"), ODD, ids=[f"{one.api} {n}" for n, (one, _) in enumerate(ODD)])
def test_an_answer_without_a_message_is_a_bad_reply(protocol: Protocol, reply: ChatResponse) -> None:
    with serving(reply) as server, pytest.raises(BadReply) as caught:
        ask(protocol.table(server, dollars_per_million=PRICES), JUDGED, PICTURES)
    assert caught.value.unsettled or caught.value.dollars > 0, "it may have been charged"
    assert len(str(caught.value)) < 400


@spoken
@pytest.mark.parametrize(
    ("reply", "kind"),
    [
        (ChatResponse(body="[" * 200_000), BadReply),
        (ChatResponse(body=" " * 9_000_000), BadReply),
        (ChatResponse(500, " " * 9_000_000), Transient),
        (ChatResponse(500, "[" * 200_000), Transient),
        (ChatResponse(body="not packed", headers={"Content-Encoding": "gzip"}), Transient),
    ],
    ids=["deep", "endless", "long error", "deep error", "not packed"],
)
def test_an_answer_out_of_all_order_is_one_line(
    protocol: Protocol, reply: ChatResponse, kind: type[EditorError]
) -> None:
    with serving(reply) as server, pytest.raises(kind) as caught:
        ask(protocol.table(server), JUDGED, PICTURES)
    assert len(str(caught.value)) < 400


NAMES = ["candidates", "content", "parts", "text", "finishReason", "choices", "message", "finish_reason", "type",
         "stop_reason", "stop_details", "usage", "usageMetadata", "promptFeedback", "promptTokenCount", "model",
         "modelVersion", "refusal", "blockReason", "explanation", "input_tokens", "prompt_tokens"]  # fmt: skip
SCALARS = (
    st.none() | st.booleans() | st.integers() | st.text(max_size=5) | st.sampled_from(["text", "SAFETY", "refusal"])
)
ANYTHING = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from(NAMES), inner), max_leaves=12
)


@spoken
@settings(max_examples=50, deadline=None)
@given(noise=st.dictionaries(st.sampled_from(NAMES), ANYTHING))
def test_whatever_a_server_says_is_an_answer_or_an_error_of_ours(protocol: Protocol, noise: dict[str, Any]) -> None:
    body = {**protocol.reply(VERDICT).body, **noise}
    outcome: Answered | EditorError
    with serving(ChatResponse(body=body)) as server:
        try:
            outcome = ask(protocol.table(server, dollars_per_million=PRICES), JUDGED, ())
        except EditorError as error:
            outcome = error
    assert outcome.dollars >= 0
    assert outcome.raw


@spoken
def test_a_key_goes_out_in_its_header_and_comes_back_nowhere(
    protocol: Protocol, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(KEY, SECRET)
    told = json.dumps({"reason": f"your key is {SECRET}", "better": 0.5})
    echoed = json.loads(json.dumps(protocol.reply(told).body).replace(ANSWERED, f"model-{SECRET}"))
    with serving(ChatResponse(body=echoed)) as server:
        answered = ask(protocol.table(server, key=KEY), JUDGED, PICTURES)
        (request,) = server.requests
    assert request.headers[protocol.key_header] == protocol.key_form.format(SECRET)
    assert [name for name, value in request.headers.items() if SECRET in value] == [protocol.key_header]
    assert SECRET not in json.dumps(request.body) + request.path
    assert SECRET not in repr(answered)
    assert answered.value is not None
    replies = [protocol.error(status, f"no: {SECRET} " * 30) for status in (400, 403, 404, 429, 500)]
    replies += [refusal for refusal, _ in protocol.refusals()]
    replies += [ChatResponse(body=body) for body in protocol.odd()]
    for reply in replies:
        with_key = json.dumps(reply.body).replace("rather not", SECRET).replace("do harm", SECRET)
        with_key = with_key.replace("PROHIBITED_CONTENT", SECRET).replace("OTHER", SECRET).replace(ANSWERED, SECRET)
        answer = ChatResponse(reply.status, with_key, reply.headers)
        with serving(answer) as server, pytest.raises((EditorError, Prerequisite, StudyError)) as caught:
            ask(protocol.table(server, key=KEY), JUDGED, PICTURES)
        kept = f"{caught.value} {getattr(caught.value, 'raw', '')} {getattr(caught.value, 'reason', '')}"
        assert SECRET not in kept


@spoken
def test_a_key_is_never_carried_along_a_redirect(protocol: Protocol, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(KEY, SECRET)
    with serving(protocol.reply(VERDICT)) as elsewhere:
        moved = ChatResponse(307, {}, {"Location": f"{elsewhere.base_url}/x"})
        with serving(moved) as server, pytest.raises(EditorError, match="answers 307"):
            ask(protocol.table(server, key=KEY), JUDGED, PICTURES)
    assert elsewhere.requests == []
