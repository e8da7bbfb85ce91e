"""OpenAI-compatible servers of one's own: what each accent sends, and what is made of odd answers."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from convergebench.editors.base import lacks, notices
from convergebench.editors.find import make_editor
from convergebench.editors.providers import download
from convergebench.editors.providers.compatible import SERVERS
from convergebench.errors import BadReply, EditorError, StudyError, Transient
from tests.editors.providers.asking import edited_by, one_edit, request
from tests.editors.providers.loopback import Answer, Loopback, Request, serving
from tests.editors.providers.test_contract import picture

USE = "compatible:Qwen/Qwen-Image-Edit"
IMAGE, BACK = picture(70, 50), picture(80, 48)
GOOD = {"created": 1, "data": [{"b64_json": base64.b64encode(BACK).decode()}]}


def replying(body: Any) -> Callable[[Request, Loopback], Answer]:
    return lambda asked, server: Answer(body=body)


def form(server: str, **options: Any) -> dict[str, str]:
    """The fields of one call, the image by the length of its bytes."""
    _, loopback = one_edit(USE, replying(GOOD), IMAGE, path="/v1", server=server, **options)
    assert loopback.first.path == "/v1/images/edits"
    return {
        name: f"({len(content)} bytes)" if file else content.decode()
        for name, (file, content) in loopback.first.form.items()
    }


def test_vllm_omni_is_sent_its_own_fields() -> None:
    sent = form("vllm-omni", steps=8, guidance=1.0, true_cfg=4.0, negative_prompt="blurry", strength=0.5)
    assert sent == {
        "prompt": "add a hat",
        "model": "Qwen/Qwen-Image-Edit",
        "n": "1",
        "size": "64x48",
        "response_format": "b64_json",
        "output_format": "png",
        "seed": "5",
        "num_inference_steps": "8",
        "guidance_scale": "1.0",
        "true_cfg_scale": "4.0",
        "negative_prompt": "blurry",
        "strength": "0.5",
        "image": f"({len(IMAGE)} bytes)",
    }


def test_sglang_is_told_to_leave_the_words_alone() -> None:
    sent = form("sglang", steps=8)
    assert sent["enhance_prompt"] == "false"
    assert sent["seed"] == "5"
    assert sent["num_inference_steps"] == "8"


def test_xinference_is_asked_for_the_image_itself_in_its_own_size() -> None:
    sent = form("xinference")
    assert sent["response_format"] == "b64_json"
    assert sent["size"] == "original"
    assert "seed" not in sent


def test_stable_diffusion_cpp_reads_its_options_out_of_the_prompt() -> None:
    sent = form("stable-diffusion.cpp", steps=8, guidance=3.5, true_cfg=1.0, strength=0.5)
    words, _, rest = sent["prompt"].partition("<sd_cpp_extra_args>")
    assert words == "add a hat "
    assert json.loads(rest.removesuffix("</sd_cpp_extra_args>")) == {
        "seed": 5,
        "strength": 0.5,
        "sample_params": {"sample_steps": 8, "guidance": {"distilled_guidance": 3.5, "txt_cfg": 1.0}},
    }
    assert {"image[]", "size", "output_format", "n", "model", "prompt"} == set(sent)


def test_a_plain_server_is_sent_nothing_that_openai_would_not_take() -> None:
    assert set(form("plain")) == {"prompt", "model", "n", "size", "image"}


@pytest.mark.parametrize(
    ("server", "size", "sent"),
    [
        ("vllm-omni", "auto", "auto"),
        ("vllm-omni", "512x768", "512x768"),
        ("plain", None, "auto"),
        ("plain", "input", "64x48"),
        ("sglang", None, "64x48"),
    ],
)
def test_the_size_is_the_input_s_unless_the_server_or_the_study_knows_better(
    server: str, size: str | None, sent: str
) -> None:
    assert form(server, size=size)["size"] == sent


def test_further_fields_are_sent_as_they_are() -> None:
    assert form("plain", extra={"quality": "high", "layers": 2}) | {"quality": "high", "layers": "2"} == form(
        "plain", extra={"quality": "high", "layers": 2}
    )
    with pytest.raises(StudyError, match="'seed' is already set"):
        make_editor(USE, base_url="http://127.0.0.1:1", server="vllm-omni", extra={"seed": 1})


@pytest.mark.parametrize("server", SERVERS)
def test_a_seed_is_claimed_only_where_the_server_honours_it(server: str) -> None:
    editor = make_editor(USE, base_url="http://127.0.0.1:1", server=server)
    assert editor.capabilities.seed == (server in ("vllm-omni", "sglang", "stable-diffusion.cpp"))


@pytest.mark.parametrize("option", ["steps", "guidance", "true_cfg", "negative_prompt", "strength"])
def test_an_option_that_the_server_would_ignore_is_refused_before_any_call(option: str) -> None:
    chosen: dict[str, Any] = {option: "blurry" if option == "negative_prompt" else 1}
    with pytest.raises(StudyError, match=f"server 'xinference' takes no {option}"):
        make_editor(USE, base_url="http://127.0.0.1:1", server="xinference", **chosen)


@pytest.mark.parametrize(
    ("base_url", "said"),
    [
        ("", r'use = "compatible:Qwen/Qwen-Image-Edit", base_url = "http://127\.0\.0\.1:8091/v1"'),
        ("my-box:8091", "base_url should be an address such as"),
        ("ftp://my-box/v1", "base_url should be an address such as"),
        ("http://[::1/v1", "base_url should be an address such as"),
        ("http://me:secret-word@my-box/v1", "base_url should contain no user name, password"),
    ],
)
def test_without_a_whole_address_it_says_what_to_type(base_url: str, said: str) -> None:
    with pytest.raises(StudyError, match=said) as wrong:
        make_editor(USE, base_url=base_url)
    assert "secret-word" not in str(wrong.value)


def test_a_model_must_be_named() -> None:
    with pytest.raises(StudyError, match="write compatible:NAME"):
        make_editor("compatible:", base_url="http://127.0.0.1:1")


def test_it_costs_nothing_unless_its_owner_says_so() -> None:
    free = make_editor(USE, base_url="http://127.0.0.1:1")
    assert free.capabilities.dollars_per_call == 0
    assert notices(free) == []
    assert make_editor(USE, base_url="http://127.0.0.1:1", dollars=0.02).capabilities.dollars_per_call == 0.02
    edited, _ = one_edit(USE, replying(GOOD), IMAGE, dollars=0.02)
    assert edited.dollars == 0.02


def test_a_key_that_is_named_is_wanted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("MY_SERVER_KEY", raising=False)
    editor = make_editor(USE, "mine", base_url="http://127.0.0.1:1", key="MY_SERVER_KEY")
    assert lacks(editor) == ["MY_SERVER_KEY is not set; mine needs a key: export MY_SERVER_KEY=…"]
    monkeypatch.setenv("MY_SERVER_KEY", "white space within")
    assert "set it again" in lacks(editor)[0]


def test_what_is_sent_beside_the_words_is_what_is_told() -> None:
    edited, _ = one_edit(USE, replying(GOOD), IMAGE, server="vllm-omni", steps=8, extra={"layers": 2})
    assert edited.used == {"server": "vllm-omni", "size": "64x48", "seed": 5, "steps": 8, "layers": 2}


def test_vllm_omni_s_thoughts_are_the_reasoning() -> None:
    edited, _ = one_edit(
        USE, replying({**GOOD, "cot_output": "**Planning**\nA hat. \ud83d"}), IMAGE, server="vllm-omni"
    )
    assert edited.reasoning == "**Planning**\nA hat. ?"
    assert one_edit(USE, replying({**GOOD, "cot_output": "  "}), IMAGE)[0].reasoning is None


def test_a_picture_at_an_address_is_fetched_and_the_key_goes_to_its_own_server_alone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("MY_SERVER_KEY", "sk-my-server-0123456789")
    with serving(lambda asked, server: Answer(body=BACK)) as elsewhere:

        def answer(asked: Request, server: Loopback) -> Answer:
            if asked.method == "GET":
                return Answer(body=BACK)
            where = "/files/1.png" if b"at home" in asked.body else f"{elsewhere.address}/1.png"
            return Answer(body={"data": [{"url": where}]})

        edited, server = one_edit(USE, answer, IMAGE, path="/v1", words="at home", key="MY_SERVER_KEY")
        assert edited.image == BACK
        assert [(one.method, one.path) for one in server.asked] == [
            ("POST", "/v1/images/edits"),
            ("GET", "/files/1.png"),
        ]
        assert all(one.headers["authorization"] == "Bearer sk-my-server-0123456789" for one in server.asked)
        edited, server = one_edit(USE, answer, IMAGE, path="/v1", words="elsewhere", key="MY_SERVER_KEY")
        assert edited.image == BACK
        assert "authorization" not in elsewhere.first.headers


def test_a_picture_inside_an_address_is_read() -> None:
    inside = "data:image/png;base64," + base64.b64encode(BACK).decode()
    assert one_edit(USE, replying({"data": [{"url": inside}]}), IMAGE)[0].image == BACK


def test_a_picture_that_cannot_be_fetched_is_tried_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(download, "PAUSES", (0.0,))

    def answer(asked: Request, server: Loopback) -> Answer:
        return Answer(404) if asked.method == "GET" else Answer(body={"data": [{"url": "/gone.png"}]})

    with pytest.raises(Transient, match=r"cannot be fetched: .* answers 404"):
        one_edit(USE, answer, IMAGE, dollars=0.02)


ODD: list[Any] = [
    None,
    [],
    "image",
    3,
    {},
    {"data": None},
    {"data": {}},
    {"data": ["x"]},
    {"data": [None]},
    {"data": [{}]},
    {"data": [{"b64_json": None, "url": None}]},
    {"data": [{"b64_json": 7}]},
    {"data": [{"b64_json": "%%%"}]},
    {"data": [{"b64_json": "aGVsbG8="}]},
    {"data": [{"url": 7}]},
    {"data": [{"url": "file:///etc/passwd"}]},
    {"data": [{"url": "http://[::1/x"}]},
    {"data": [{"url": "data:image/png,%00"}]},
    b"not json",
    b"[" * 100_000,
]


@pytest.mark.parametrize("body", ODD, ids=lambda body: repr(body)[:30])
def test_an_odd_answer_is_a_bad_reply_that_was_paid_for(body: Any) -> None:
    with pytest.raises(BadReply) as bad:
        one_edit(USE, replying(body), IMAGE, dollars=0.02)
    assert bad.value.dollars == 0.02


JSON = st.recursive(
    st.none() | st.booleans() | st.floats() | st.text(max_size=9) | st.just(GOOD["data"]),
    lambda part: (
        st.lists(part, max_size=3)
        | st.dictionaries(st.sampled_from(["data", "b64_json", "url", "cot_output", "error"]), part, max_size=3)
    ),
    max_leaves=8,
)


def test_no_answer_of_any_shape_is_a_traceback() -> None:
    said: Any = None
    with serving(lambda asked, server: Answer(body=said)) as server:
        editor = make_editor(USE, base_url=server.address, server="vllm-omni")

        @settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))
        @given(JSON)
        def ask(body: Any) -> None:
            nonlocal said
            said = body
            try:
                (edited,) = edited_by(editor, request(IMAGE))
            except EditorError:
                return
            assert edited.image

        ask()


def test_the_server_s_kind_is_part_of_who_answers_and_its_address_and_key_are_not() -> None:
    def fingerprint(**options: Any) -> str:
        return make_editor(USE, **{"base_url": "http://127.0.0.1:1", **options}).fingerprint

    assert fingerprint() == fingerprint(base_url="http://my-box/v1", key="A_KEY", at_once=1, dollars=1)
    assert len({fingerprint(), fingerprint(server="vllm-omni"), fingerprint(server="vllm-omni", steps=8)}) == 3


def test_a_fault_in_a_field_is_told_in_the_server_s_words() -> None:
    body = {"detail": [{"loc": ["body", "size"], "msg": "Input should be a valid string", "type": "string_type"}]}
    with pytest.raises(EditorError, match=r"answers 422: body\.size: Input should be a valid string"):
        one_edit(USE, lambda asked, server: Answer(422, body), IMAGE)
