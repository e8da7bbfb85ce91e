"""Qwen-Image at DashScope: parameters, sizes, and errors that come as successes."""

from __future__ import annotations

from typing import Any

import pytest

from convergebench.editors.find import make_editor
from convergebench.editors.providers import download
from convergebench.errors import EditorError, Refused, Transient, Unavailable
from convergebench.types import Settings
from tests.editors.providers.fakes.dashscope import DashScope
from tests.editors.providers.loopback import Answer, Loopback, Request
from tests.editors.providers.provider import SECRET
from tests.editors.providers.trying import BACK, asked_of, body_of, plain, survives_odd_bodies

SPEAKER = DashScope()


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DASHSCOPE_API_KEY", SECRET)
    monkeypatch.setattr(download, "PAUSES", (0.0, 0.0, 0.0))


def well(asked: Request, server: Loopback) -> Answer:
    return SPEAKER.success(asked, server, BACK)


def test_the_words_are_left_as_they_are_and_nothing_is_stamped_on_the_picture() -> None:
    body = body_of(SPEAKER, image=plain(640, 600))
    assert body["model"] == "qwen-image-edit-plus"
    assert body["parameters"] == {
        "n": 1,
        "watermark": False,
        "prompt_extend": False,
        "negative_prompt": " ",
        "seed": 5,
        "size": "640*600",
    }


def test_the_first_model_takes_neither_a_size_nor_a_word_about_rewriting() -> None:
    body = body_of(SPEAKER, "qwen-image-edit-api")
    assert body["model"] == "qwen-image-edit"
    assert body["parameters"].keys() == {"n", "watermark", "negative_prompt", "seed"}
    assert make_editor("qwen-image-edit-api").capabilities.resolutions == ()


@pytest.mark.parametrize(
    ("use", "size", "settings", "expected"),
    [
        ("qwen-image-edit-plus", (400, 400), Settings(), "512*512"),
        ("qwen-image-edit-plus", (3000, 1500), Settings(), "2048*1024"),
        ("qwen-image-edit-max", (640, 480), Settings(resolution="1K", aspect="1:1"), "1024*1024"),
        ("qwen-image-edit-max", (640, 640), Settings(resolution="2K"), "2048*2048"),
        ("qwen-image-2.0", (2500, 1000), Settings(), "2500*1000"),
        ("qwen-image-3.0", (2000, 2000), Settings(), "1440*1440"),
    ],
)
def test_sizes_stay_within_what_each_model_takes(
    use: str, size: tuple[int, int], settings: Settings, expected: str
) -> None:
    assert body_of(SPEAKER, use, image=plain(*size), settings=settings)["parameters"]["size"] == expected


def test_what_an_image_costs_is_counted_by_image() -> None:
    edited, _ = asked_of("qwen-image-edit-max", well)
    assert edited.dollars == 0.075
    assert edited.model == "qwen-image-edit-max"


@pytest.mark.parametrize("status", [200, 400])
@pytest.mark.parametrize(
    ("code", "kind"),
    [
        ("DataInspectionFailed", Refused),
        ("data_inspection_failed", Refused),
        ("Throttling", Transient),
        ("Throttling.RateQuota", Transient),
        ("Throttling.AllocationQuota", Transient),
        ("InternalError.Algo", Transient),
        ("Arrearage", Unavailable),
        ("AllocationQuota.FreeTierOnly", Unavailable),
        ("InvalidApiKey", Unavailable),
        ("AccessDenied.Unpurchased", Unavailable),
        ("ModelNotFound", Unavailable),
    ],
)
def test_codes_say_what_is_meant_whatever_the_status(status: int, code: str, kind: type[EditorError]) -> None:
    told = Answer(status, {"code": code, "message": "because of this", "request_id": "q"})
    with pytest.raises(kind):
        asked_of("qwen-image-edit-plus", lambda asked, server: told)


def test_a_wrong_parameter_with_200_is_a_wrong_request() -> None:
    told = Answer(200, {"code": "InvalidParameter", "message": "size is wrong", "request_id": "q"})
    with pytest.raises(EditorError, match="size is wrong") as wrong:
        asked_of("qwen-image-edit-plus", lambda asked, server: told)
    assert not isinstance(wrong.value, Transient | Refused | Unavailable)


def test_a_refusal_has_their_word_for_it() -> None:
    told = Answer(200, {"code": "DataInspectionFailed", "message": "Output data may be inappropriate."})
    with pytest.raises(Refused, match="inappropriate") as refusal:
        asked_of("qwen-image-edit-plus", lambda asked, server: told)
    assert refusal.value.reason == "DataInspectionFailed"


def test_words_in_the_place_of_a_picture_are_a_refusal() -> None:
    told = Answer(body=SPEAKER.reply([{"text": "I would rather not."}]))
    with pytest.raises(Refused, match="I would rather not") as refusal:
        asked_of("qwen-image-edit-plus", lambda asked, server: told)
    assert refusal.value.reason == "no image"


def test_keys_belong_to_a_region_and_an_error_about_them_says_so() -> None:
    editor: Any = make_editor("qwen-image-edit-plus")
    assert editor.base_url == "https://dashscope-intl.aliyuncs.com/api/v1"
    with pytest.raises(Unavailable, match="region"):
        asked_of(
            "qwen-image-edit-plus", lambda asked, server: Answer(401, {"code": "InvalidApiKey", "message": SECRET})
        )


def test_the_picture_is_fetched_again_and_not_paid_for_again() -> None:
    failures = [Answer(503), Answer(body=b"x" * 99, cut=True)]

    def answer(asked: Request, server: Loopback) -> Answer:
        return failures.pop() if asked.method == "GET" and failures else well(asked, server)

    edited, server = asked_of("qwen-image-edit-plus", answer)
    assert edited.image == BACK
    assert sum(asked.method == "POST" for asked in server.asked) == 1


def test_a_picture_that_cannot_be_had_carries_what_was_paid() -> None:
    with pytest.raises(Transient) as trouble:
        asked_of(
            "qwen-image-edit-plus", lambda asked, server: well(asked, server) if asked.method == "POST" else Answer(410)
        )
    assert trouble.value.dollars == 0.03


def test_pictures_that_are_too_small_or_too_large_are_known_before_the_first_call() -> None:
    assert make_editor("qwen-image-edit-plus").capabilities.sides == (384, 3072)


def test_odd_bodies_are_errors_and_never_tracebacks() -> None:
    survives_odd_bodies(SPEAKER)
