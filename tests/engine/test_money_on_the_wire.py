"""Real editors, a real server that misbehaves, and the journal: what the server may bill stands there."""

from __future__ import annotations

import itertools
import random
from pathlib import Path
from typing import Any

import pytest

from convergebench.conductor import run_chains
from convergebench.engine.retry import RetryPolicy
from convergebench.store.run import Run
from convergebench.types import Editor
from tests.editors.providers.fakes.xai import XAI
from tests.editors.providers.loopback import Answer, Loopback, Request, serving
from tests.editors.providers.provider import SECRET
from tests.editors.providers.test_contract import made, picture
from tests.engine.parts import CASES as EVERY
from tests.engine.parts import IMAGES, CountingEditor, begun, chains_of, query

CASES = EVERY[:1]
SPOILED: dict[str, dict[str, Any]] = {
    "cut off": {"cut": True},
    "reset": {"reset": True},
    "no JSON": {"body": b"<html>"},
    "endless": {"body": b" " * (1 << 20), "endless": True},
}


@pytest.fixture
def provider(monkeypatch: pytest.MonkeyPatch) -> XAI:
    one = XAI()
    monkeypatch.setenv(one.variable, SECRET)
    return one


def walked(root: Path, provider: XAI, server: Loopback) -> list[tuple[Any, ...]]:
    """Two editors side by side, the first one's server odd; (outcome, dollars, settled) of its attempts."""
    editor = made(provider, server)
    innocent = CountingEditor("innocent", fingerprint="innocent@1", dollars=0.5)
    retry = RetryPolicy(attempts=2, first_wait=0.001, longest_wait=0.001, randomness=random.Random(1))
    both: dict[str, Editor] = {editor.name: editor, "innocent": innocent}
    with Run.create(root) as run:
        begun(run, IMAGES, CASES)
        run_chains(run, both, [one for name in both for one in chains_of(CASES, 1, name)], retry=retry)
    (finished,) = query(root, "select count(*) from chains where editor = 'innocent' and status = 'finished'")[0]
    assert finished == len(CASES), "the other editor goes on"
    return query(root, f"select outcome, dollars, settled from attempts where editor = '{editor.name}'")


@pytest.mark.parametrize("spoiled", SPOILED)
def test_every_answer_that_did_not_come_whole_counts_at_its_price(tmp_path: Path, provider: XAI, spoiled: str) -> None:
    def answer(asked: Request, server: Loopback) -> Answer:
        fine = provider.success(asked, server, picture(8, 8))
        return Answer(**{"body": fine.body, **SPOILED[spoiled]})

    with serving(answer) as server:
        rows = walked(tmp_path / "run", provider, server)
        asked = len(server.asked)
    price = made(provider, server).capabilities.dollars_per_call
    assert price
    assert len(rows) == asked == 2 * len(CASES)
    assert {(dollars, settled) for _, dollars, settled in rows} == {(price, 0)}


def test_halves_of_characters_from_a_server_cost_no_other_editor_anything(tmp_path: Path, provider: XAI) -> None:
    numbers = itertools.count()

    def answer(asked: Request, server: Loopback) -> Answer:
        if next(numbers) % 2:
            body = b'{"error": {"message": "no \\ud800", "code": "\\ud800", "type": "\\ud800"}}'
            return Answer(400, body, {"Content-Type": "application/json"})
        fine = provider.success(asked, server, picture(8, 8))
        return Answer(fine.status, {**fine.body, "model": "grok\ud800", "\ud800": "\ud800"}, fine.headers)

    with serving(answer) as server:
        rows = walked(tmp_path / "run", provider, server)
        asked = len(server.asked)
    assert len(rows) == asked, "every call is journalled"
    assert {outcome for outcome, _, _ in rows} == {"ok", "error"}
