"""`api` in a role's table: addresses and keys that follow from it, and what each protocol has no place for."""

from __future__ import annotations

from typing import Any

import pytest

from convergebench.errors import StudyError
from convergebench.roles import make_role
from convergebench.roles.served import ServedRole
from convergebench.roles.trust import available_roles, describe_role
from tests.roles.test_tables import table

GEMINI: dict[str, Any] = {"kind": "served", "api": "gemini", "model": "gemini-3.8-flash"}
ANTHROPIC: dict[str, Any] = {"kind": "served", "api": "anthropic", "model": "claude-haiku-5-5"}
GOOGLE = "https://generativelanguage.googleapis.com/v1"


def test_a_provider_is_asked_at_its_own_address_with_its_own_key() -> None:
    gemini, anthropic = table(**GEMINI), table(**ANTHROPIC)
    assert (gemini.base_url, gemini.key) == (GOOGLE, "GEMINI_API_KEY")
    assert (anthropic.base_url, anthropic.key) == ("https://api.anthropic.com/v1", "ANTHROPIC_API_KEY")
    kept = gemini.model_dump(mode="json")
    assert (kept["api"], kept["base_url"], kept["key"]) == ("gemini", GOOGLE, "GEMINI_API_KEY"), "the run says so"
    assert table(**kept) == gemini


def test_another_variable_and_another_version_can_be_named() -> None:
    other = table(**GEMINI, base_url="https://generativelanguage.googleapis.com/v1beta/", key="GOOGLE_API_KEY")
    assert (other.base_url[-7:], other.key) == ("/v1beta", "GOOGLE_API_KEY")
    assert table(**GEMINI, base_url="https://generativelanguage.googleapis.com/v1beta").key == "GEMINI_API_KEY"


@pytest.mark.parametrize(
    "base_url",
    [
        "http://127.0.0.1:8000/v1",
        "http://generativelanguage.googleapis.com/v1",
        "https://generativelanguage.googleapis.com:8443/v1",
        "https://generativelanguage.googleapis.com.example.org/v1",
    ],
)
def test_a_provider_s_key_goes_nowhere_else_unless_it_is_named(base_url: str) -> None:
    assert table(**GEMINI, base_url=base_url).key == ""
    assert table(**GEMINI, base_url=base_url, key="GEMINI_API_KEY").key == "GEMINI_API_KEY"


def test_fingerprints_of_older_roles_stay_and_those_of_other_protocols_differ() -> None:
    local: dict[str, Any] = {"kind": "served", "base_url": "http://127.0.0.1:8000/v1"}
    plain = {**local, "model": "Qwen/Qwen3-VL-8B-Instruct"}
    full = {
        **plain, "revision": "bf16", "temperature": 0.7, "seed": 3, "max_tokens": 500, "structured": False,
        "detail": "high", "extra": {"top_k": 50, "chat_template_kwargs": {"add_vision_id": True}},
    }  # fmt: skip
    assert make_role("judge", table(**plain)).fingerprint == "served@1:432fdf5b1e00"
    assert make_role("judge", table(**full)).fingerprint == "served@1:406a40bcb1b2"
    assert "api" not in table(**plain).model_dump(mode="json"), "nor do the manifests of older runs change"
    prints = {make_role("judge", table(**plain, api=api)).fingerprint for api in ("openai", "gemini", "anthropic")}
    assert len(prints) == 3


@pytest.mark.parametrize(
    ("given", "fault"),
    [
        ({**GEMINI, "api": "gemeni"}, "api: Input should be 'openai', 'gemini' or 'anthropic'"),
        ({"kind": "served", "api": "gemini"}, 'kind = "served" needs model'),
        ({"kind": "served", "api": "openai", "model": "m"}, 'kind = "served" needs base_url'),
        ({"api": "gemini"}, "'api' needs kind = \"served\""),
        ({**ANTHROPIC, "temperature": 0.0}, "'temperature' is not supported by api = \"anthropic\""),
        ({**ANTHROPIC, "seed": 0}, "'seed' is not supported"),
        ({**ANTHROPIC, "max_tokens": 0}, "write max_tokens = 2048"),
        ({**ANTHROPIC, "detail": "low"}, 'has no detail = "low" (known: original)'),
        ({**GEMINI, "detail": "original"}, 'has no detail = "original" (known: high, low)'),
        ({**ANTHROPIC, "base_url": "https://api.anthropic.com/v1/messages"}, "should end before /messages"),
        ({**GEMINI, "base_url": f"{GOOGLE}/models"}, "should end before /models"),
        ({**GEMINI, "extra": {"contents": []}}, "'contents' is not allowed in extra"),
        ({**GEMINI, "extra": {"generationConfig": {"seed": 1}}}, "'generationConfig.seed' is not allowed in extra"),
        ({**ANTHROPIC, "extra": {"top_p": 0.9}}, "'top_p' is not allowed in extra"),
        ({**ANTHROPIC, "extra": {"output_config": {"format": {}}}}, "'output_config.format' is not allowed in extra"),
        ({**GEMINI, "extra": {"labels": {"api_key": "0123456789abcdef"}}}, "'labels.api_key' looks like a secret"),
        ({**GEMINI, "key": "AIza0123456789abcdef"}, "key should name an environment variable"),
    ],
)
def test_what_a_protocol_has_no_place_for_is_told_in_one_line(given: dict[str, Any], fault: str) -> None:
    with pytest.raises(StudyError) as caught:
        table(**given)
    assert fault in str(caught.value)
    assert "\n" not in str(caught.value)
    assert "0123456789abcdef" not in str(caught.value)


@pytest.mark.parametrize(
    ("found", "where"),
    [
        (GEMINI, f"gemini-3.8-flash at {GOOGLE}, with the key in GEMINI_API_KEY"),
        (ANTHROPIC, "claude-haiku-5-5 at https://api.anthropic.com/v1, with the key in ANTHROPIC_API_KEY"),
        ({**GEMINI, "base_url": "http://evil/v1"}, "gemini-3.8-flash at http://evil/v1, without a key"),
        ({**GEMINI, "base_url": "http://evil/v1", "key": "GEMINI_API_KEY"}, "http://evil/v1, with the key in GEMINI_"),
    ],
)
def test_a_role_of_a_run_is_not_asked_and_the_line_says_where_pictures_and_which_key_would_go(
    found: dict[str, Any], where: str
) -> None:
    who = available_roles({"judge": found}, {}, trusted=False)
    assert "judge" not in who.roles
    with pytest.raises(StudyError, match="--trust-roles") as caught:
        who.require(["judge"])
    assert where in str(caught.value)
    assert where in describe_role(found)
    assert isinstance(available_roles({"judge": found}, {}, trusted=True).roles["judge"], ServedRole)


def test_the_user_s_own_role_confirms_the_same_one_however_it_is_spelt() -> None:
    given = {"judge": table(**GEMINI).model_dump(mode="json")}
    for same in (GEMINI, given["judge"], {**GEMINI, "key": "GEMINI_API_KEY"}):
        assert "writer" in available_roles({"writer": same}, given, trusted=False).roles
    for other in ({"key": "GOOGLE_API_KEY"}, {"model": "gemini-4-argon"}, {"base_url": "http://evil/v1"}):
        assert "writer" in available_roles({"writer": {**GEMINI, **other}}, given, trusted=False).refused


def test_the_same_address_in_another_protocol_is_another_role() -> None:
    home: dict[str, Any] = {"kind": "served", "base_url": "http://home/v1", "model": "n"}
    given = {"judge": table(**home).model_dump(mode="json")}
    assert "rater" in available_roles({"rater": home}, given, trusted=False).roles
    assert "rater" in available_roles({"rater": {**home, "api": "openai"}}, given, trusted=False).roles
    assert "rater" in available_roles({"rater": {**home, "api": "anthropic"}}, given, trusted=False).refused


def test_a_key_that_may_not_be_sent_is_refused_whatever_the_protocol() -> None:
    with pytest.raises(StudyError, match="export CONVERGEBENCH_KEYS="):
        make_role("judge", table(**GEMINI, base_url="http://home/v1", key="AWS_SECRET_ACCESS_KEY"))
