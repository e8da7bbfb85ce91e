"""Any model on fal: the fields each one wants, the forms of a no, and tasks that nobody waits for any more."""

from __future__ import annotations

import asyncio
import base64
from typing import Any

import pytest

from convergebench.editors.base import close
from convergebench.editors.find import make_editor
from convergebench.editors.models.table import models
from convergebench.editors.providers import download
from convergebench.errors import BadReply, EditorError, Prerequisite, Refused, StudyError, Transient
from convergebench.types import EditRequest, Settings
from convergebench.wire import poll
from tests.editors.providers.fakes.fal import TASK, Fal
from tests.editors.providers.loopback import Answer, Answerer, Loopback, Request, serving
from tests.editors.providers.provider import SECRET
from tests.editors.providers.trying import BACK, SENT, asked_of, body_of, plain, survives_odd_bodies

SPEAKER = Fal()
USE = SPEAKER.use


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FAL_KEY", SECRET)
    monkeypatch.setattr(download, "PAUSES", (0.0, 0.0, 0.0))
    monkeypatch.setattr(poll, "FIRST", 0.005)


def well(asked: Request, server: Loopback) -> Answer:
    return SPEAKER.success(asked, server, BACK)


def giving(result: Any, status: int = 200, **headers: str) -> Answerer:
    """A call whose task is completed and whose result is this."""

    def answer(asked: Request, server: Loopback) -> Answer:
        told = Answer(status, result, {name.replace("_", "-"): value for name, value in headers.items()})
        return told if asked.method == "GET" and asked.route == TASK else well(asked, server)

    return answer


def test_kontext_is_asked_for_png_and_not_to_rewrite_the_words() -> None:
    edited, server = asked_of(USE, well)
    body = server.first.json
    assert server.first.route == "/fal-ai/flux-pro/kontext"
    assert body["image_url"].startswith("data:image/png;base64,")
    assert {key: body[key] for key in body if key not in ("image_url", "prompt")} == {
        "seed": 5,
        "output_format": "png",
        "enhance_prompt": False,
    }
    assert edited.used == {"seed": 5, "output_format": "png", "enhance_prompt": False}
    assert edited.model == "fal-ai/flux-pro/kontext"


def test_settings_reach_the_fields_that_a_model_has_for_them() -> None:
    body = body_of(SPEAKER, "fal-nano-banana-2", settings=Settings(resolution="2K", aspect="16:9"))
    assert (body["resolution"], body["aspect_ratio"], len(body["image_urls"])) == ("2K", "16:9", 1)
    assert body_of(SPEAKER, "fal-grok-imagine-image", settings=Settings(resolution="2K"))["resolution"] == "2k"
    assert body_of(SPEAKER, "fal-seedream-5.0-lite", settings=Settings(resolution="3K"))["image_size"] == "auto_3K"
    assert body_of(SPEAKER, "fal-seedream-5.0-lite")["image_size"] == "auto_2K"


def test_a_model_that_takes_a_size_is_asked_for_the_picture_s_own_as_nearly_as_it_may_be() -> None:
    size = body_of(SPEAKER, "fal-seedream-4.5", image=plain(1500, 1000))["image_size"]
    assert size["width"] * size["height"] >= 3_686_400
    assert size["width"] / size["height"] == pytest.approx(1.5, rel=0.002)
    body = body_of(SPEAKER, "fal-seedream-4.5", settings=Settings(resolution="4K", aspect="1:1"))
    assert body["image_size"] == {"width": 4096, "height": 4096}
    assert "resolution" not in body


def test_models_without_a_seed_are_sent_none() -> None:
    for use in ("fal-gpt-image-2", "fal-grok-imagine-image", "fal-seedream-5.0-lite"):
        assert "seed" not in body_of(SPEAKER, use)
        assert make_editor(use).capabilities.seed is False


def test_the_price_follows_the_resolution() -> None:
    edited, _ = asked_of("fal-nano-banana-2", well, settings=Settings(resolution="4K"))
    assert edited.dollars == 0.16


def test_every_row_says_where_the_image_goes() -> None:
    for model in models().values():
        if model.provider in ("fal", "replicate"):
            assert not [lack for lack in make_editor(model.id).lacks() if "image_field" in lack]  # type: ignore[attr-defined]


def test_any_other_model_works_once_its_fields_are_named() -> None:
    options: dict[str, Any] = {
        "image_field": "pictures[]",
        "prompt_field": "instruction",
        "seed_field": "noise",
        "arguments": {"steps": 4},
        "dollars": 0.25,
    }
    edited, server = asked_of("fal:somebody/new-model/edit", well, **options)
    body = server.first.json
    assert server.first.route == "/somebody/new-model/edit"
    assert base64.b64decode(body["pictures"][0].partition(",")[2]) == SENT
    assert (body["instruction"], body["noise"], body["steps"]) == ("add a red hat", 5, 4)
    assert edited.used == {"steps": 4, "noise": 5, "seed": 5}
    assert edited.dollars == 0.25


def test_a_model_whose_fields_nobody_named_says_what_to_type() -> None:
    editor: Any = make_editor("fal:somebody/new-model/edit")
    assert any('image_field = "image_url"' in lack for lack in editor.lacks())
    with pytest.raises(Prerequisite, match="image_field"):
        asyncio.run(editor.edit(EditRequest(SENT, "image/png", "x")))
    assert editor.capabilities.seed is False


def test_arguments_cannot_take_the_place_of_what_is_filled_in() -> None:
    with pytest.raises(StudyError, match="'prompt' is set for every call"):
        make_editor(USE, arguments={"prompt": "something else"})
    with pytest.raises(StudyError, match="'seed' is set for every call"):
        make_editor(USE, arguments={"seed": 3})


def test_arguments_are_part_of_who_answers() -> None:
    assert make_editor(USE).fingerprint != make_editor(USE, arguments={"guidance_scale": 2}).fingerprint


@pytest.mark.parametrize("odd", ["", "nothing", "../x", "a//b", "a/b?x=1"])
def test_what_is_no_path_is_no_model(odd: str) -> None:
    with pytest.raises(StudyError, match="not a model of fal"):
        make_editor(f"fal:{odd}")


def test_a_picture_that_its_filter_marks_is_a_refusal_that_was_paid() -> None:
    image = {"url": "http://127.0.0.1:1/black.png"}
    with pytest.raises(Refused) as refusal:
        asked_of("fal-flux-kontext-max", giving({"images": [image], "has_nsfw_concepts": [True]}))
    assert (refusal.value.reason, refusal.value.dollars) == ("has_nsfw_concepts", 0.08)


def test_words_in_the_place_of_a_picture_are_a_refusal() -> None:
    with pytest.raises(Refused, match="I cannot do that") as refusal:
        asked_of("fal-nano-banana", giving({"images": [], "description": "I cannot do that."}))
    assert refusal.value.reason == "no image"


def test_a_picture_may_be_in_the_result_itself() -> None:
    inside = f"data:image/png;base64,{base64.b64encode(BACK).decode()}"
    edited, _ = asked_of(USE, giving({"images": [{"url": inside}]}))
    assert edited.image == BACK
    assert len(edited.raw or "") < 2_000


def test_some_models_give_one_image_and_no_list() -> None:
    inside = f"data:image/png;base64,{base64.b64encode(BACK).decode()}"
    assert asked_of(USE, giving({"image": {"url": inside}}))[0].image == BACK


FAULT = {"loc": ["body", "image_urls"], "msg": "Field required", "type": "missing", "input": "x" * 5000}


def test_a_fault_in_the_request_is_named_with_its_place() -> None:
    with pytest.raises(EditorError, match=r"body\.image_urls: Field required.*image_field") as wrong:
        asked_of("fal:a/b", giving({"detail": [FAULT]}, 422), image_field="image_url")
    assert not isinstance(wrong.value, Transient | BadReply | Refused)
    assert len(str(wrong.value)) < 300


def test_their_header_says_whether_to_try_again() -> None:
    fault = {"loc": ["body"], "msg": "The model is loading", "type": "downstream_service_error"}
    with pytest.raises(Transient, match="loading"):
        asked_of(USE, giving({"detail": [fault]}, 422, X_Fal_Retryable="true"))
    with pytest.raises(EditorError) as final:
        asked_of(USE, giving({"detail": [fault]}, 500, X_Fal_Retryable="false"))
    assert not isinstance(final.value, Transient)


def test_a_failing_runner_is_a_passing_trouble() -> None:
    with pytest.raises(Transient, match="timed out"):
        asked_of(USE, giving({"detail": "Request timed out", "error_type": "request_timeout"}, 504))


def test_a_look_that_fails_in_passing_is_repeated_and_the_task_is_not() -> None:
    failures = [Answer(502), Answer(body=b"{" * 50, cut=True)]

    def answer(asked: Request, server: Loopback) -> Answer:
        return failures.pop() if asked.route.endswith("/status") and failures else well(asked, server)

    edited, server = asked_of(USE, answer)
    assert edited.image == BACK
    assert sum(asked.method == "POST" for asked in server.asked) == 1


def test_a_stranger_s_addresses_are_asked_without_the_key() -> None:
    with serving(well) as other:

        def answer(asked: Request, server: Loopback) -> Answer:
            return SPEAKER.success(asked, other, BACK)

        edited, server = asked_of(USE, answer)
    assert edited.image == BACK
    assert server.first.headers["authorization"] == f"Key {SECRET}"
    assert other.asked
    assert all("authorization" not in asked.headers for asked in other.asked)


def test_only_their_own_servers_may_have_the_key() -> None:
    editor: Any = make_editor(USE)
    assert editor.trusts("https://queue.fal.run/x")
    assert editor.trusts("https://rest.fal.ai/x")
    assert not editor.trusts("http://queue.fal.run/x")
    assert not editor.trusts("https://notfal.run/x")


def test_a_call_that_is_called_off_takes_its_task_out_of_the_queue(monkeypatch: pytest.MonkeyPatch) -> None:

    def answer(asked: Request, server: Loopback) -> Answer:
        if asked.route.endswith("/status"):
            return Answer(202, {"status": "IN_QUEUE"})
        return Answer(202, {"status": "CANCELLATION_REQUESTED"}) if asked.method == "PUT" else well(asked, server)

    async def call_off(server: Loopback) -> None:
        editor = make_editor(USE, base_url=server.address)
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.3):
                await editor.edit(EditRequest(SENT, "image/png", "x"))
        await close(editor)

    with serving(answer) as server:
        asyncio.run(call_off(server))
        assert [asked.route for asked in server.asked if asked.method == "PUT"] == [f"{TASK}/cancel"]


def test_a_task_that_is_never_done_is_called_off_too(monkeypatch: pytest.MonkeyPatch) -> None:

    def answer(asked: Request, server: Loopback) -> Answer:
        return Answer(202, {"status": "IN_QUEUE"}) if asked.route.endswith("/status") else well(asked, server)

    async def once(server: Loopback) -> None:
        editor = make_editor(USE, base_url=server.address, seconds=0.3)
        with pytest.raises(Transient, match="not ready"):
            await editor.edit(EditRequest(SENT, "image/png", "x"))
        await close(editor)

    with serving(answer) as server:
        asyncio.run(once(server))
    assert any(asked.method == "PUT" for asked in server.asked)


def test_odd_bodies_are_errors_and_never_tracebacks() -> None:
    survives_odd_bodies(SPEAKER)
