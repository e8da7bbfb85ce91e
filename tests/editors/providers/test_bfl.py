"""FLUX at Black Forest Labs: what is sent, what it costs, and that nothing paid for is paid for twice."""

from __future__ import annotations

from typing import Any

import pytest

from convergebench.editors.find import make_editor
from convergebench.editors.models.table import models
from convergebench.editors.providers import download
from convergebench.errors import BadReply, EditorError, Refused, StudyError, Transient
from convergebench.types import Settings
from convergebench.wire import poll
from tests.editors.providers.fakes.bfl import BlackForestLabs
from tests.editors.providers.loopback import Answer, Answerer, Loopback, Request, serving
from tests.editors.providers.provider import SECRET
from tests.editors.providers.trying import BACK, SENT, asked_of, body_of, plain, survives_odd_bodies

SPEAKER = BlackForestLabs()


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BFL_API_KEY", SECRET)
    monkeypatch.setattr(download, "PAUSES", (0.0, 0.0, 0.0))
    monkeypatch.setattr(poll, "FIRST", 0.005)


def well(asked: Request, server: Loopback) -> Answer:
    return SPEAKER.success(asked, server, BACK)


def test_kontext_keeps_the_input_s_aspect_unless_the_study_wants_another() -> None:
    body = body_of(SPEAKER)
    assert body["seed"] == 5
    assert body["output_format"] == "png"
    assert body["prompt_upsampling"] is False
    assert body.keys() == {"prompt", "input_image", "seed", "output_format", "prompt_upsampling"}
    assert body_of(SPEAKER, settings=Settings(aspect="16:9"))["aspect_ratio"] == "16:9"


@pytest.mark.parametrize(
    ("use", "off"),
    [
        ("flux-2-pro", {"disable_pup": True}),
        ("flux-2-pro-preview", {"disable_pup": True}),
        ("flux-2-max", {"disable_pup": True}),
        ("flux-2-flex", {"prompt_upsampling": False}),
        ("flux-2-klein-4b", {}),
        ("flux-2-klein-9b", {}),
    ],
)
def test_flux_2_gets_its_size_as_png_and_nothing_rewrites_the_words(use: str, off: dict[str, Any]) -> None:
    body = body_of(SPEAKER, use)
    assert (body["width"], body["height"], body["output_format"]) == (448, 400, "png")
    assert {key: body[key] for key in ("disable_pup", "prompt_upsampling") if key in body} == off
    assert "aspect_ratio" not in body


@pytest.mark.parametrize(
    ("size", "settings", "expected"),
    [
        ((1000, 750), Settings(), (1008, 752)),
        ((4000, 3000), Settings(), (2352, 1776)),
        ((20, 400), Settings(), (64, 1280)),
        ((448, 400), Settings(resolution="1K", aspect="1:1"), (1024, 1024)),
        ((448, 400), Settings(resolution="2K", aspect="1:1"), (2048, 2048)),
        ((448, 400), Settings(resolution="2K", aspect="16:9"), (2720, 1536)),
    ],
)
def test_sizes_are_multiples_of_16_up_to_four_megapixels(
    size: tuple[int, int], settings: Settings, expected: tuple[int, int]
) -> None:
    body = body_of(SPEAKER, "flux-2-pro", image=plain(*size), settings=settings)
    assert (body["width"], body["height"]) == expected


def test_steps_and_guidance_are_flex_s_alone() -> None:
    body = body_of(SPEAKER, "flux-2-flex", steps=20, guidance=3.5, safety_tolerance=5)
    assert (body["steps"], body["guidance"], body["safety_tolerance"]) == (20, 3.5, 5)
    with pytest.raises(StudyError, match="flux-2-flex does"):
        make_editor("flux-2-pro", steps=20)
    with pytest.raises(StudyError, match="at most 5"):
        make_editor("flux-2-pro", safety_tolerance=6)


def test_the_price_is_what_the_reply_says() -> None:
    edited, _ = asked_of("flux-kontext-pro", well)
    assert edited.dollars == pytest.approx(0.04)
    assert edited.used["seed"] == 5
    assert "prompt" not in edited.used


def silent_about_cost(asked: Request, server: Loopback) -> Answer:
    told = well(asked, server)
    return (
        Answer(told.status, {"id": "t-1", "polling_url": told.body["polling_url"]}) if asked.method == "POST" else told
    )


def test_a_reply_that_names_no_price_costs_what_the_table_says_for_that_many_pixels() -> None:
    assert asked_of("flux-kontext-max", silent_about_cost)[0].dollars == 0.08
    assert asked_of("flux-2-pro", silent_about_cost)[0].dollars == 0.045
    four = asked_of("flux-2-pro", silent_about_cost, image=plain(2048, 2048))[0].dollars
    assert four == pytest.approx(models()["flux-2-pro"].price.resolutions["2K"])  # type: ignore[union-attr]
    assert asked_of("flux-2-pro", silent_about_cost, dollars=0.5)[0].dollars == 0.5


def ending(status: str, **more: Any) -> Answerer:
    def answer(asked: Request, server: Loopback) -> Answer:
        return well(asked, server) if asked.method == "POST" else Answer(body={"id": "t-1", "status": status, **more})

    return answer


@pytest.mark.parametrize("status", ["Request Moderated", "Content Moderated"])
def test_both_filters_are_refusals_with_what_was_paid(status: str) -> None:
    with pytest.raises(Refused, match="Violence") as refusal:
        asked_of("flux-kontext-pro", ending(status, details={"Moderation Reasons": ["Violence"]}))
    assert (refusal.value.reason, refusal.value.dollars) == (status, 0.04)


@pytest.mark.parametrize("status", ["Error", "Task not found"])
def test_a_task_that_failed_or_got_lost_is_a_passing_trouble(status: str) -> None:
    with pytest.raises(Transient, match=status) as trouble:
        asked_of("flux-kontext-pro", ending(status))
    assert trouble.value.dollars == 0.04


def failing_at_first(route: str, *told: Answer) -> tuple[Answerer, list[str]]:
    """Goes well, but the first requests for this route are answered in these ways."""
    left, seen = list(told), []

    def answer(asked: Request, server: Loopback) -> Answer:
        seen.append(asked.method)
        return left.pop(0) if asked.route == route and left else well(asked, server)

    return answer, seen


@pytest.mark.parametrize("route", ["/signed.png", "/v1/get_result"])
def test_a_look_or_download_that_fails_in_passing_is_repeated_and_the_task_is_not(route: str) -> None:
    answer, seen = failing_at_first(route, Answer(503), Answer(body=b"x" * 100, cut=True), Answer(429))
    edited, _ = asked_of("flux-kontext-pro", answer)
    assert edited.image == BACK
    assert seen.count("POST") == 1


def test_a_download_that_never_succeeds_is_given_up_with_what_was_paid() -> None:
    answer, seen = failing_at_first("/signed.png", *[Answer(403)] * 99)
    with pytest.raises(Transient, match="403") as trouble:
        asked_of("flux-kontext-pro", answer)
    assert trouble.value.dollars == 0.04
    assert "sig=x" not in str(trouble.value)
    assert (seen.count("POST"), seen.count("GET")) == (1, 6)


def test_a_look_that_never_succeeds_carries_what_was_paid() -> None:
    answer, seen = failing_at_first("/v1/get_result", *[Answer(500, {"detail": "no"})] * 99)
    with pytest.raises(Transient) as trouble:
        asked_of("flux-kontext-pro", answer)
    assert trouble.value.dollars == 0.04
    assert seen.count("POST") == 1


def test_a_stranger_s_server_is_asked_without_the_key() -> None:
    with serving(well) as other:

        def answer(asked: Request, server: Loopback) -> Answer:
            return Answer(body={"id": "t", "polling_url": f"{other.address}/v1/get_result?id=t", "cost": 4})

        edited, server = asked_of("flux-kontext-pro", answer)
    assert edited.image == BACK
    assert server.first.headers["x-key"] == SECRET
    assert all("x-key" not in asked.headers for asked in other.asked)


def test_a_download_may_be_elsewhere_and_goes_there_without_the_key() -> None:
    with serving(lambda asked, server: Answer(body=BACK)) as other:

        def answer(asked: Request, server: Loopback) -> Answer:
            if asked.route == "/signed.png":
                return Answer(302, headers={"Location": f"{other.address}/there.png"})
            return well(asked, server)

        edited, _ = asked_of("flux-kontext-pro", answer)
    assert edited.image == BACK
    assert "x-key" not in other.first.headers


def test_a_download_that_goes_round_in_circles_ends() -> None:
    def answer(asked: Request, server: Loopback) -> Answer:
        return Answer(302, headers={"Location": "/signed.png"}) if asked.route == "/signed.png" else well(asked, server)

    with pytest.raises(Transient, match="302"):
        asked_of("flux-kontext-pro", answer)


@pytest.mark.parametrize("place", ["file:///etc/hosts", "//[x", "http://[", "javascript:1"])
def test_a_download_is_sent_to_addresses_of_the_web_alone(place: str) -> None:
    def answer(asked: Request, server: Loopback) -> Answer:
        return Answer(302, headers={"Location": place}) if asked.route == "/signed.png" else well(asked, server)

    with pytest.raises(BadReply, match="for the image"):
        asked_of("flux-kontext-pro", answer)


@pytest.mark.parametrize(
    ("address", "trusted"),
    [
        ("https://api.bfl.ai/v1/x", True),
        ("https://gateway-7.eu.bfl.ai/x", True),
        ("http://api.us.bfl.ai/x", False),
        ("https://evilbfl.ai/x", False),
        ("https://api.bfl.ai.example.org/x", False),
        ("https://api.bfl.ai@example.org/x", False),
        ("https://[", False),
    ],
)
def test_only_their_own_servers_may_have_the_key(address: str, trusted: bool) -> None:
    editor: Any = make_editor("flux-kontext-pro")
    assert editor.trusts(address) is trusted


def test_the_larger_kontext_takes_fewer_tasks_at_once() -> None:
    assert make_editor("flux-kontext-max").limits.at_once == 6
    assert make_editor("flux-2-pro").limits.at_once == 24


def test_forecasts_know_what_a_resolution_costs() -> None:
    capabilities = make_editor("flux-2-max").capabilities
    assert capabilities.dollars(Settings()) == 0.10
    assert capabilities.dollars(Settings(resolution="2K")) == 0.28


def test_what_changes_answers_changes_the_fingerprint_and_nothing_else_does() -> None:
    plainly = make_editor("flux-2-flex").fingerprint
    assert make_editor("flux-2-flex", steps=20).fingerprint != plainly
    assert make_editor("flux-2-flex", seconds=5, at_once=1, dollars=1.0).fingerprint == plainly


def test_odd_bodies_are_errors_and_never_tracebacks() -> None:
    survives_odd_bodies(SPEAKER)


def test_an_image_that_is_too_heavy_ends_its_chain_alone_before_anything_is_sent(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    editor: Any = make_editor("flux-kontext-pro")
    light = editor.model.model_copy(update={"bounds": editor.model.bounds.model_copy(update={"megabytes": 0.1})})
    monkeypatch.setattr(editor, "model", light)
    from convergebench.types import EditRequest

    # no StudyError: that would stop every other editor of the run, days into it
    with pytest.raises(EditorError, match=r"at most 0\.1 MB"):
        editor.sendable(EditRequest(SENT, "image/png", "x"))
