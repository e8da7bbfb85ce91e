"""What a server can do wrong beyond the protocol: nothing of it ends a run or moves its budget."""

from __future__ import annotations

import pytest

from convergebench.errors import BadReply, EditorError, Prerequisite, Transient
from tests.roles.server import ChatResponse, forward_reply, message, serving
from tests.roles.test_served import ask


@pytest.mark.parametrize(
    ("reply", "kind", "fault"),
    [
        (ChatResponse(body="[" * 200_000), BadReply, "not JSON"),
        (ChatResponse(500, "[" * 200_000), Transient, "answers 500"),
        (
            ChatResponse(body="not packed at all", headers={"Content-Encoding": "gzip"}),
            Transient,
            "cannot be decompressed",
        ),
        (ChatResponse(body=" " * 9_000_000), BadReply, "does not end"),
        (ChatResponse(500, " " * 9_000_000), Transient, "answers 500"),
    ],
    ids=["deep", "deep error", "not packed", "endless", "long error"],
)
def test_an_answer_out_of_all_order_is_one_line(reply: ChatResponse, kind: type[EditorError], fault: str) -> None:
    with serving(reply) as server, pytest.raises(kind, match=fault) as caught:
        ask(server.table())
    assert len(str(caught.value)) < 400


def test_half_a_character_can_be_kept() -> None:
    with serving(message("\ud800 <answer>")) as server:
        answered = ask(server.table())
    assert answered.raw == "? <answer>"
    with serving(message('{"seen": "\\ud800", "carried_out": 1, "other_changes": [], "severity": 1}')) as server:
        answered = ask(server.table())
    assert f"{answered.value}{answered.raw}".encode(), "it can be written"


@pytest.mark.parametrize("count", [-1_000_000, 10**400, True, 1.5, "7"])
def test_a_count_that_is_none_gives_no_money_back(count: object) -> None:
    reply = message(forward_reply())
    reply.body["usage"] = {"prompt_tokens": count, "completion_tokens": count}
    with serving(reply) as server:
        dollars = ask(server.table(dollars_per_million={"input": 2.0, "output": 10.0}, max_tokens=500)).dollars
    assert dollars == pytest.approx((6000 * 2 + 500 * 10) / 1e6), "what had been set aside"


@pytest.mark.parametrize("proxy", ["odd://proxy", "socks5://127.0.0.1:9"])
def test_a_proxy_that_cannot_be_used_is_one_line(monkeypatch: pytest.MonkeyPatch, proxy: str) -> None:
    monkeypatch.setenv("ALL_PROXY", proxy)
    with serving(message(forward_reply())) as server, pytest.raises(Prerequisite, match="the proxy set in the environ"):
        ask(server.table())
