"""Seedream at Ark: sizes it will not go below, two clouds, and errors in the place of images."""

from __future__ import annotations

import base64
from typing import Any

import pytest

from convergebench.editors.find import make_editor
from convergebench.errors import BadReply, EditorError, Refused, Transient, Unavailable
from convergebench.types import Settings
from tests.editors.providers.fakes.ark import Ark
from tests.editors.providers.loopback import Answer, Loopback, Request
from tests.editors.providers.provider import SECRET
from tests.editors.providers.trying import BACK, asked_of, body_of, plain, survives_odd_bodies

SPEAKER = Ark()


@pytest.fixture(autouse=True)
def _key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ARK_API_KEY", SECRET)


def test_one_unmarked_picture_is_asked_for_in_the_reply_itself() -> None:
    body = body_of(SPEAKER, image=plain(1600, 1600))
    assert {key: value for key, value in body.items() if key not in ("image", "prompt")} == {
        "model": "seedream-4-5-251128",
        "response_format": "b64_json",
        "watermark": False,
        "sequential_image_generation": "disabled",
        "seed": 5,
        "size": "1920x1920",
    }
    assert body["image"].startswith("data:image/png;base64,")


@pytest.mark.parametrize(
    ("use", "least", "most"),
    [
        ("seedream-4.0", 921_600, 16_777_216),
        ("seedream-4.5", 3_686_400, 16_777_216),
        ("seedream-5.0", 3_686_400, 10_404_496),
        ("seedream-5.0-pro", 921_600, 4_194_304),
    ],
)
@pytest.mark.parametrize("size", [(300, 200), (1200, 900), (4000, 3000)])
def test_sizes_keep_the_aspect_and_what_the_model_takes(use: str, least: int, most: int, size: tuple[int, int]) -> None:
    width, height = map(int, body_of(SPEAKER, use, image=plain(*size))["size"].split("x"))
    assert least <= width * height <= most
    assert width / height == pytest.approx(size[0] / size[1], rel=0.003)


def test_a_picture_of_an_allowed_size_is_asked_for_in_that_size() -> None:
    assert body_of(SPEAKER, "seedream-4.0", image=plain(1200, 900))["size"] == "1200x900"


def test_resolution_and_aspect_are_turned_into_a_size() -> None:
    settings = Settings(resolution="4K", aspect="1:1")
    assert body_of(SPEAKER, settings=settings)["size"] == "4096x4096"
    assert make_editor("seedream-4.5").capabilities.resolutions == ("2K", "4K")


def test_png_where_the_model_can_and_no_argument_that_it_would_turn_down() -> None:
    assert body_of(SPEAKER, "seedream-5.0")["output_format"] == "png"
    assert "output_format" not in body_of(SPEAKER, "seedream-4.0")
    assert "sequential_image_generation" not in body_of(SPEAKER, "seedream-5.0-pro")


def test_a_model_that_the_table_does_not_know_is_asked_for_2k_and_for_nothing_that_it_might_not_know() -> None:
    body = body_of(SPEAKER, "ark:ep-20260101-abc")
    assert body.keys() == {"model", "prompt", "image", "response_format", "watermark", "size"}
    assert body["size"] == "2K"


def test_chinese_ids_live_in_china() -> None:
    here: Any = make_editor("seedream-4.5")
    there: Any = make_editor("doubao-seedream-4.5")
    assert here.base_url == "https://ark.ap-southeast.bytepluses.com/api/v3"
    assert there.base_url == "https://ark.cn-beijing.volces.com/api/v3"
    assert there.wire.base_url == there.base_url


def reply(*data: Any, **more: Any) -> Any:
    told = Answer(body={**SPEAKER.reply(*data), **more})
    return lambda asked, server: told


def test_what_was_made_is_what_is_paid() -> None:
    edited, _ = asked_of("seedream-4.5", reply({"b64_json": base64.b64encode(BACK).decode()}))
    assert (edited.dollars, edited.model) == (0.04, "seedream-4-5-251128")


@pytest.mark.parametrize(
    "code", ["OutputImageSensitiveContentDetected", "SensitiveContentDetected.Violence", "OutputImageRiskDetection"]
)
def test_a_filter_s_no_may_stand_where_the_image_should(code: str) -> None:
    error = {"code": code, "message": "The output image may contain something."}
    with pytest.raises(Refused, match="may contain") as refusal:
        asked_of("seedream-4.5", reply({"error": error}))
    assert (refusal.value.reason, refusal.value.dollars) == (code, 0.0)
    with pytest.raises(Refused):
        asked_of("seedream-4.5", lambda asked, server: Answer(400, {"error": error}))


def test_any_other_error_in_its_place_is_a_bad_reply() -> None:
    with pytest.raises(BadReply, match="went wrong"):
        asked_of("seedream-4.5", reply({"error": {"code": "InternalServiceError", "message": "it went wrong"}}))
    with pytest.raises(BadReply, match="went wrong"):
        asked_of("seedream-4.5", reply(error={"code": "InternalServiceError", "message": "it went wrong"}))


@pytest.mark.parametrize(
    ("status", "code", "kind"),
    [
        (429, "RateLimitExceeded.EndpointRPMExceeded", Transient),
        (429, "ServerOverloaded", Transient),
        (429, "SetLimitExceeded", Unavailable),
        (429, "QuotaExceeded", Unavailable),
        (403, "AccountOverdueError", Unavailable),
        (404, "ModelNotOpen", Unavailable),
        (400, "InputTextSensitiveContentDetected", Refused),
        (500, "InternalServiceError", Transient),
    ],
)
def test_codes_that_pass_and_codes_that_do_not(status: int, code: str, kind: type[EditorError]) -> None:
    with pytest.raises(kind):
        asked_of("seedream-4.5", lambda asked, server: Answer(status, SPEAKER.failure(status, "because", code)))


def test_an_address_in_the_place_of_the_image_is_fetched() -> None:
    def answer(asked: Request, server: Loopback) -> Answer:
        if asked.method == "GET":
            return Answer(body=BACK)
        return Answer(body=SPEAKER.reply({"url": f"{server.address}/out.jpeg"}))

    assert asked_of("seedream-4.5", answer)[0].image == BACK


def test_odd_bodies_are_errors_and_never_tracebacks() -> None:
    survives_odd_bodies(SPEAKER)
