"""A whole factory whose roles are models behind servers, each in another protocol."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from convergebench.roles import make_role
from convergebench.roles.base import Role
from convergebench.store.frames import RunFrames
from tests.factory_run import ROLES, factory_run
from tests.roles.clients.protocols import ANSWERED, KEY, PROTOCOLS, Protocol, conforming
from tests.roles.server import ChatRequest, ChatResponse, serving
from tests.roles.test_served import SECRET


@pytest.mark.parametrize("protocol", PROTOCOLS, ids=lambda one: one.api)
def test_every_question_of_the_factory_is_answered_over_the_wire(
    protocol: Protocol, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(KEY, SECRET)

    def answer(request: ChatRequest, number: int) -> ChatResponse:
        if number % 7 == 3:  # the engine asks again
            return protocol.error(429, f"slow down, {SECRET}", **{"Retry-After": "0"})
        return protocol.reply(conforming(protocol.schema(request) or {}))

    prices = {"input": 1.0, "output": 10.0}
    with serving(answer) as server:
        roles: dict[str, Role] = {
            name: make_role(name, protocol.table(server, key=KEY, dollars_per_million=prices)) for name in ROLES
        }
        factory_run(tmp_path / "run", count=3, roles=roles, per_image=2)
        asked = len(server.requests)
        factory_run(tmp_path / "run", count=3, roles=roles, per_image=2)
    assert len(server.requests) == asked > 7, "a finished run asks nothing again"
    answers = RunFrames(tmp_path / "run").answers()
    assert set(answers["model"]) == {ANSWERED}
    assert len(answers) == asked - sum(number % 7 == 3 for number in range(asked))
    rubrics = {json.loads(payload)["rubric"] for payload in answers["payload"]}
    assert {"write-instruction", "rewrite-instruction", "judge-edit"} <= rubrics
    assert answers["dollars"].to_list() == pytest.approx([(1000 + 100 * 10) / 1e6] * len(answers))
    for raw in answers["raw"]:
        assert json.loads(raw), "the reply as it came"
    for path in (tmp_path / "run").rglob("*"):
        assert not path.is_file() or SECRET.encode() not in path.read_bytes(), path
