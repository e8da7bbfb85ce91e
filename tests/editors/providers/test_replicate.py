"""Any model on Replicate: versions, forms of output, forms of a no."""

from __future__ import annotations

import asyncio
import base64
from typing import Any

import pytest

from convergebench.editors.base import close
from convergebench.editors.find import make_editor
from convergebench.editors.providers import download
from convergebench.errors import BadReply, EditorError, Refused, StudyError, Transient, Unavailable
from convergebench.types import EditRequest, Settings
from convergebench.wire import poll
from tests.editors.providers.fakes.replicate import Replicate
from tests.editors.providers.loopback import Answer, Answerer, Loopback, Request, serving
from tests.editors.providers.provider import SECRET
from tests.editors.providers.trying import BACK, SENT, asked_of, body_of, survives_odd_bodies

SPEAKER = Replicate()
USE = SPEAKER.use
INSIDE = f"data:image/png;base64,{base64.b64encode(BACK).decode()}"


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REPLICATE_API_TOKEN", SECRET)
    monkeypatch.setattr(download, "PAUSES", (0.0, 0.0, 0.0))
    monkeypatch.setattr(poll, "FIRST", 0.005)


def well(asked: Request, server: Loopback) -> Answer:
    return SPEAKER.success(asked, server, BACK)


def at_once(status: str = "succeeded", **more: Any) -> Answerer:
    """The prediction is over when the first answer comes."""
    return lambda asked, server: Answer(201, SPEAKER.prediction(server, status, **more))


def ask(use: str, answer: Answerer, **more: Any) -> Any:
    return asked_of(use, answer, path="/v1", **more)


def test_an_official_model_is_asked_by_its_name_and_waited_for() -> None:
    edited, server = ask(USE, well)
    assert server.first.route == "/v1/models/black-forest-labs/flux-kontext-pro/predictions"
    assert server.first.headers["prefer"] == "wait=5"
    body = server.first.json
    assert body.keys() == {"input"}
    assert body["input"]["aspect_ratio"] == "match_input_image"
    assert body["input"]["output_format"] == "png"
    assert body["input"]["prompt_upsampling"] is False
    assert (body["input"]["seed"], edited.used["seed"]) == (5, 5)
    assert edited.model == "black-forest-labs/flux-kontext-pro"


def test_a_version_is_asked_for_by_its_number_and_told() -> None:
    version = "ab" * 32
    edited, server = ask(f"replicate:somebody/model:{version}", well, image_field="image")
    assert server.first.route == "/v1/predictions"
    assert server.first.json["version"] == version
    assert "seed" not in server.first.json["input"]
    assert edited.model == f"somebody/model:{version}"


def test_the_version_that_answered_is_told() -> None:
    edited, _ = ask(USE, at_once(output=INSIDE, version="cd" * 32))
    assert edited.model == f"black-forest-labs/flux-kontext-pro:{'cd' * 32}"


def test_settings_go_over_what_the_row_says() -> None:
    assert body_of(SPEAKER, settings=Settings(aspect="16:9"))["input"]["aspect_ratio"] == "16:9"
    body = body_of(SPEAKER, "replicate-seedream-4.5", settings=Settings(resolution="4K"))["input"]
    assert (body["size"], len(body["image_input"])) == ("4K", 1)


@pytest.mark.parametrize(
    "output", [INSIDE, [INSIDE], {"image": INSIDE}, {"images": [{"url": INSIDE}]}, ["note", INSIDE]]
)
def test_an_output_has_many_forms(output: Any) -> None:
    assert ask(USE, at_once(output=output))[0].image == BACK


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        ("NSFW content detected. Try running it again, or try a different prompt.", "nsfw"),
        ("The input or output was flagged as sensitive. Please try again with different inputs. (E005)", "E005"),
        ("Your request was blocked by the moderation system", "moderat"),
        ("Prompt violates our content policy", "content polic"),
    ],
)
def test_a_filter_s_no_is_a_failure_in_words(error: str, reason: str) -> None:
    with pytest.raises(Refused) as refusal:
        ask(USE, at_once("failed", error=error))
    assert refusal.value.reason == reason
    assert error[:20] in str(refusal.value)


@pytest.mark.parametrize(("status", "error"), [("failed", "CUDA error"), ("canceled", None), ("aborted", None)])
def test_any_other_end_is_a_passing_trouble(status: str, error: str | None) -> None:
    with pytest.raises(Transient, match=status):
        ask(USE, at_once(status, error=error))


def test_a_state_nobody_knows_is_a_bad_reply() -> None:
    with pytest.raises(BadReply, match="dreaming"):
        ask(USE, lambda asked, server: Answer(body=SPEAKER.prediction(server, "dreaming")))


@pytest.mark.parametrize(
    "body",
    [
        {"detail": "Request was throttled. Your rate limit resets in ~30s.", "status": 429},
        {"title": "Too many requests", "detail": "throttled", "status": 429, "retry_after": 30},
    ],
)
def test_when_to_come_back_stands_in_the_body(body: dict[str, Any]) -> None:
    with pytest.raises(Transient) as busy:
        ask(USE, lambda asked, server: Answer(429, body))
    assert busy.value.retry_after == 30


def test_a_model_that_is_not_official_is_said_to_want_a_version() -> None:
    with pytest.raises(Unavailable, match="OWNER/MODEL:VERSION"):
        ask("replicate:somebody/model", lambda asked, server: Answer(404, {"detail": "not found"}), image_field="image")


def test_a_wrong_field_of_an_unlisted_model_says_which_options_there_are() -> None:
    wrong = {"title": "Input validation failed", "detail": "- input: picture is required", "status": 422}
    with pytest.raises(EditorError, match=r"picture is required.*image_field"):
        ask("replicate:somebody/model", lambda asked, server: Answer(422, wrong), image_field="image")


@pytest.mark.parametrize("odd", ["model", "a/b/c", "a/b:latest!", "a/b:", "../b"])
def test_what_is_no_name_is_no_model(odd: str) -> None:
    with pytest.raises(StudyError, match="not a model of Replicate"):
        make_editor(f"replicate:{odd}")


def test_a_call_that_is_called_off_is_called_off_there_too() -> None:
    def answer(asked: Request, server: Loopback) -> Answer:
        return Answer(201 if asked.method == "POST" else 200, SPEAKER.prediction(server, "processing"))

    async def call_off(server: Loopback) -> None:
        editor = make_editor(USE, base_url=f"{server.address}/v1")
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.3):
                await editor.edit(EditRequest(SENT, "image/png", "x"))
        await close(editor)

    with serving(answer) as server:
        asyncio.run(call_off(server))
        assert [asked.route for asked in server.asked if asked.method == "POST"][1:] == ["/v1/predictions/p-1/cancel"]


def test_an_output_that_cannot_be_fetched_at_first_is_fetched_again() -> None:
    failures = [Answer(404), Answer(500)]

    def answer(asked: Request, server: Loopback) -> Answer:
        return failures.pop() if asked.route.startswith("/delivery/") and failures else well(asked, server)

    edited, server = ask(USE, answer)
    assert edited.image == BACK
    assert sum(asked.method == "POST" for asked in server.asked) == 1


def test_odd_bodies_are_errors_and_never_tracebacks() -> None:
    survives_odd_bodies(SPEAKER)
