"""What holds for both providers that are reached through their own libraries."""

from __future__ import annotations

import pytest

from convergebench.editors.providers import sdk
from convergebench.errors import BadReply
from tests.editors.providers.fakes.gemini import Gemini
from tests.editors.providers.fakes.openai_images import OpenAIImages
from tests.editors.providers.fakes.openai_responses import OpenAIResponses
from tests.editors.providers.loopback import Answer, Loopback, Request
from tests.editors.providers.provider import SECRET, Provider
from tests.editors.providers.trying import asked_of


@pytest.mark.parametrize("kind", [Gemini, OpenAIImages, OpenAIResponses])
def test_a_reply_that_does_not_end_is_given_up(kind: type[Provider], monkeypatch: pytest.MonkeyPatch) -> None:
    provider = kind()
    monkeypatch.setenv(provider.variable, SECRET)
    monkeypatch.setattr(sdk, "LONGEST_REPLY", 10_000)

    def answer(asked: Request, server: Loopback) -> Answer:
        return Answer(body={"much": "x" * 50_000})

    with pytest.raises(BadReply, match="does not end"):
        asked_of(provider.use, answer, path=provider.path, **provider.options)
