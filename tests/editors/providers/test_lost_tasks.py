"""A task that its provider does not find again is one lost task: it is looked for, and the editor goes on."""

from __future__ import annotations

import pytest

from convergebench.editors.providers import download
from convergebench.errors import Transient
from convergebench.wire import poll
from tests.editors.providers.loopback import Asked, Loopback, Told
from tests.editors.providers.speaker import SECRET, Speaker
from tests.editors.providers.speakers.bfl import BlackForestLabs
from tests.editors.providers.speakers.fal import Fal
from tests.editors.providers.speakers.replicate import Replicate
from tests.editors.providers.trying import BACK, asked_of

SPEAKERS = [BlackForestLabs(), Fal(), Replicate()]


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    for speaker in SPEAKERS:
        monkeypatch.setenv(speaker.variable, SECRET)
    monkeypatch.setattr(download, "PAUSES", (0.0, 0.0, 0.0))
    monkeypatch.setattr(poll, "FIRST", 0.005)


@pytest.mark.parametrize("speaker", SPEAKERS, ids=lambda one: type(one).__name__)
def test_a_lost_task_is_handed_in_again_and_does_not_end_its_editor(speaker: Speaker) -> None:
    def answer(asked: Asked, server: Loopback) -> Told:
        return (
            Told(404, {"detail": "Task not found"}) if asked.method == "GET" else speaker.success(asked, server, BACK)
        )

    with pytest.raises(Transient, match="does not find its task again"):
        asked_of(speaker.use, answer, path=speaker.path)


@pytest.mark.parametrize("speaker", SPEAKERS, ids=lambda one: type(one).__name__)
def test_a_task_that_is_not_there_at_once_is_looked_for_again(speaker: Speaker) -> None:
    def answer(asked: Asked, server: Loopback) -> Told:
        early = asked.method == "GET" and sum(one.method == "GET" for one in server.asked) == 1
        return Told(404, {"detail": "Task not found"}) if early else speaker.success(asked, server, BACK)

    edited, server = asked_of(speaker.use, answer, path=speaker.path)
    assert edited.image == BACK
    assert sum(one.method == "POST" for one in server.asked) == 1
