"""AUTOMATIC1111 and its kin: what is sent, what the server says was used, and odd answers."""

from __future__ import annotations

import base64
import json
from typing import Any

import pytest

from convergebench.editors.base import lacks, notices
from convergebench.editors.find import make_editor
from convergebench.errors import BadReply, EditorError, Prerequisite, StudyError, Unavailable
from tests.editors.providers.asking import one_edit
from tests.editors.providers.fakes.automatic1111 import Automatic1111
from tests.editors.providers.loopback import Answer, Loopback, Request
from tests.editors.providers.test_contract import picture

USE = "automatic1111:webui"
IMAGE, BACK = picture(70, 50), picture(72, 48)
INSIDE = base64.b64encode(BACK).decode()


def well(asked: Request, server: Loopback) -> Answer:
    return Automatic1111().success(asked, server, BACK)


def test_only_what_was_chosen_is_sent_and_the_size_is_the_input_s() -> None:
    _, server = one_edit(USE, well, IMAGE)
    sent = server.first.json
    assert sent.pop("init_images") == [base64.b64encode(IMAGE).decode()]
    assert sent == {
        "prompt": "add a hat",
        "seed": 5,
        "width": 72,
        "height": 48,
        "batch_size": 1,
        "n_iter": 1,
        "send_images": True,
        "save_images": False,
        "include_init_images": False,
    }


def test_options_go_by_the_server_s_names() -> None:
    edited, server = one_edit(
        USE, well, IMAGE, denoising=0.9, steps=20, guidance=7.5, image_guidance=1.5, sampler="Euler a",
        negative_prompt="blurry", checkpoint="ip2p.ckpt",
    )  # fmt: skip
    sent = server.first.json
    assert sent["denoising_strength"] == 0.9
    assert sent["steps"] == 20
    assert sent["cfg_scale"] == 7.5
    assert sent["image_cfg_scale"] == 1.5
    assert sent["sampler_name"] == "Euler a"
    assert sent["negative_prompt"] == "blurry"
    assert sent["override_settings"] == {"sd_model_checkpoint": "ip2p.ckpt"}
    assert sent["override_settings_restore_afterwards"] is False
    assert edited.used["denoising"] == 0.9


def test_what_the_server_says_was_used_is_recorded() -> None:
    edited, _ = one_edit(USE, well, IMAGE)
    assert edited.model == "instruct-pix2pix-00-22000"
    assert edited.used == {
        "seed": 5,
        "width": 72,
        "height": 48,
        "steps": 50,
        "sampler": "Euler",
        "checkpoint": "instruct-pix2pix-00-22000",
        "checkpoint_hash": "fbc31a67aa",
    }


def test_a_seed_that_the_server_chose_itself_is_the_one_recorded() -> None:
    told = {"images": [INSIDE], "info": json.dumps({"seed": 77})}
    assert one_edit(USE, lambda asked, server: Answer(body=told), IMAGE)[0].used["seed"] == 77


@pytest.mark.parametrize("info", ["", "no json", None, 3, [], "[]", {"seed": None, "steps": True}, "[" * 100_000])
def test_a_server_without_facts_still_gives_its_picture(info: Any) -> None:
    edited, _ = one_edit(USE, lambda asked, server: Answer(body={"images": [INSIDE], "info": info}), IMAGE)
    assert edited.image == BACK
    assert edited.model == "webui"
    assert edited.used == {"seed": 5, "width": 72, "height": 48}


ODD: list[Any] = [
    None, [], "x", 3, {}, {"images": None}, {"images": []}, {"images": INSIDE}, {"images": [None]}, {"images": [3]},
    {"images": ["%%%"]}, {"images": [""]}, {"images": ["aGVsbG8="]}, {"images": {"0": INSIDE}}, b"<html>",
    b"[" * 100_000,
]  # fmt: skip


@pytest.mark.parametrize("body", ODD, ids=lambda body: repr(body)[:30])
def test_an_odd_answer_is_a_bad_reply(body: Any) -> None:
    with pytest.raises(BadReply):
        one_edit(USE, lambda asked, server: Answer(body=body), IMAGE)


def test_a_picture_with_its_type_before_it_is_read() -> None:
    body = {"images": [f"data:image/png;base64,{INSIDE}"], "info": ""}
    assert one_edit(USE, lambda asked, server: Answer(body=body), IMAGE)[0].image == BACK


def test_name_and_password_travel_as_basic_authentication(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WEBUI_LOGIN", "me:a-long-password")
    _, server = one_edit(USE, well, IMAGE, key="WEBUI_LOGIN")
    scheme, _, value = server.first.headers["authorization"].partition(" ")
    assert (scheme, base64.b64decode(value)) == ("Basic", b"me:a-long-password")


def test_a_login_that_is_sent_back_is_not_repeated(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WEBUI_LOGIN", "me:a-long-password")

    def answer(asked: Request, server: Loopback) -> Answer:
        return Answer(403, {"detail": f"no entry for {asked.headers['authorization']}"})

    with pytest.raises(Unavailable, match="no entry for Basic …") as refused:
        one_edit(USE, answer, IMAGE, key="WEBUI_LOGIN")
    told = f"{refused.value} {refused.value.raw}"
    assert base64.b64encode(b"me:a-long-password").decode()[:12] not in told


def test_a_login_without_a_password_says_what_to_type(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WEBUI_LOGIN", "only-a-name")
    wanted = "WEBUI_LOGIN is not NAME:PASSWORD; set it again: export WEBUI_LOGIN=NAME:PASSWORD"
    assert lacks(make_editor(USE, key="WEBUI_LOGIN")) == [wanted]
    with pytest.raises(Prerequisite, match="is not NAME:PASSWORD"):
        one_edit(USE, well, IMAGE, key="WEBUI_LOGIN")
    monkeypatch.delenv("WEBUI_LOGIN")
    assert "WEBUI_LOGIN is not set" in lacks(make_editor(USE, key="WEBUI_LOGIN"))[0]


def test_it_says_what_img2img_is_not() -> None:
    assert "only if an InstructPix2Pix checkpoint is loaded" in notices(make_editor(USE))[0]


def test_it_is_looked_for_where_it_usually_is() -> None:
    assert getattr(make_editor(USE), "base_url", "") == "http://127.0.0.1:7860"


def test_options_out_of_range_are_refused() -> None:
    with pytest.raises(StudyError, match="denoising"):
        make_editor(USE, denoising=1.5)


def test_a_validation_error_is_told_in_the_server_s_words() -> None:
    body = {"detail": [{"loc": ["body", "steps"], "msg": "value is not a valid integer", "type": "type_error"}]}
    with pytest.raises(EditorError, match=r"body\.steps: value is not a valid integer"):
        one_edit(USE, lambda asked, server: Answer(422, body), IMAGE)
