"""What holds for both providers that are reached through their own libraries."""

from __future__ import annotations

import pytest

from convergebench.editors.providers import sdk
from convergebench.errors import BadReply
from tests.editors.providers.loopback import Asked, Loopback, Told
from tests.editors.providers.speaker import SECRET, Speaker
from tests.editors.providers.speakers.gemini import Gemini
from tests.editors.providers.speakers.openai_images import OpenAIImages
from tests.editors.providers.speakers.openai_responses import OpenAIResponses
from tests.editors.providers.trying import asked_of


@pytest.mark.parametrize("kind", [Gemini, OpenAIImages, OpenAIResponses])
def test_a_reply_that_does_not_end_is_given_up(kind: type[Speaker], monkeypatch: pytest.MonkeyPatch) -> None:
    speaker = kind()
    monkeypatch.setenv(speaker.variable, SECRET)
    monkeypatch.setattr(sdk, "MOST", 10_000)

    def answer(asked: Asked, server: Loopback) -> Told:
        return Told(body={"much": "x" * 50_000})

    with pytest.raises(BadReply, match="does not come to an end"):
        asked_of(speaker.use, answer, path=speaker.path, **speaker.options)
