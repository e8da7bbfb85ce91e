"""A task that its provider does not find again is one lost task: it is looked for, and the editor goes on."""

from __future__ import annotations

import pytest

from convergebench.editors.providers import download
from convergebench.errors import Transient
from convergebench.wire import poll
from tests.editors.providers.fakes.bfl import BlackForestLabs
from tests.editors.providers.fakes.fal import Fal
from tests.editors.providers.fakes.replicate import Replicate
from tests.editors.providers.loopback import Answer, Loopback, Request
from tests.editors.providers.provider import SECRET, Provider
from tests.editors.providers.trying import BACK, asked_of

FAKES = [BlackForestLabs(), Fal(), Replicate()]


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    for provider in FAKES:
        monkeypatch.setenv(provider.variable, SECRET)
    monkeypatch.setattr(download, "PAUSES", (0.0, 0.0, 0.0))
    monkeypatch.setattr(poll, "FIRST", 0.005)


@pytest.mark.parametrize("provider", FAKES, ids=lambda one: type(one).__name__)
def test_a_lost_task_is_handed_in_again_and_does_not_end_its_editor(provider: Provider) -> None:
    def answer(asked: Request, server: Loopback) -> Answer:
        return (
            Answer(404, {"detail": "Task not found"})
            if asked.method == "GET"
            else provider.success(asked, server, BACK)
        )

    with pytest.raises(Transient, match="cannot find its task again"):
        asked_of(provider.use, answer, path=provider.path)


@pytest.mark.parametrize("provider", FAKES, ids=lambda one: type(one).__name__)
def test_a_task_that_is_not_there_at_once_is_looked_for_again(provider: Provider) -> None:
    def answer(asked: Request, server: Loopback) -> Answer:
        early = asked.method == "GET" and sum(one.method == "GET" for one in server.asked) == 1
        return Answer(404, {"detail": "Task not found"}) if early else provider.success(asked, server, BACK)

    edited, server = asked_of(provider.use, answer, path=provider.path)
    assert edited.image == BACK
    assert sum(one.method == "POST" for one in server.asked) == 1
