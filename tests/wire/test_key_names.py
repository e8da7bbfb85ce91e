"""Which environment variables may be named as a key: providers' own, this package's own, and those the user lists."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from convergebench.editors.find import make_editor
from convergebench.editors.providers.table import PROVIDERS, provider_class
from convergebench.errors import StudyError
from convergebench.redaction import redact
from convergebench.roles import make_role, roles_of
from convergebench.roles.tables import RoleTable
from convergebench.wire.key_names import LIST, OF_PROVIDERS, how_to_allow, is_allowed

SERVER = {"kind": "served", "base_url": "http://127.0.0.1:9/v1", "model": "m"}
NEVER = [
    "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "GITHUB_TOKEN", "SSH_AUTH_SOCK", "AZURE_CLIENT_SECRET", "PYPI_TOKEN",
    "GOOGLE_APPLICATION_CREDENTIALS", "DATABASE_PASSWORD", "openai_api_key", "OPENAI_API_KEY_2", "X_OPENAI_API_KEY",
    "CONVERGEBENCH_KEYS", "CONVERGEBENCH_CACHE", "CONVERGEBENCH_", "MY_CONVERGEBENCH_KEY", "HOME_PATH",
]  # fmt: skip


@pytest.fixture(autouse=True)
def nothing_listed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(LIST, raising=False)


def test_every_provider_finds_its_own_key() -> None:
    assert {name for provider in PROVIDERS for name in provider_class(provider).keys} <= OF_PROVIDERS


@pytest.mark.parametrize("name", ["OPENAI_API_KEY", "HF_TOKEN", "CONVERGEBENCH_MY_SERVER", "CBENCH_JUDGE_KEY"])
def test_names_of_providers_and_our_own_need_no_list(name: str) -> None:
    make_role("judge", RoleTable.model_validate({**SERVER, "key": name}))
    make_editor("compatible:mine", "mine", base_url="http://127.0.0.1:9/v1", key=name)


@pytest.mark.parametrize("name", NEVER)
def test_any_other_name_is_refused_with_what_to_type(name: str) -> None:
    with pytest.raises(StudyError) as role:
        roles_of({"roles": {"judge": {**SERVER, "key": name}}})
    with pytest.raises(StudyError) as editor:
        make_editor("compatible:mine", "mine", base_url="http://127.0.0.1:9/v1", key=name)
    for caught in (role, editor):
        assert "\n" not in str(caught.value)
        assert "key" in str(caught.value)


def test_the_user_lists_names_of_their_own(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(StudyError, match=r"export CONVERGEBENCH_KEYS=MY_BOX_KEY \("):
        roles_of({"roles": {"judge": {**SERVER, "key": "MY_BOX_KEY"}}})
    monkeypatch.setenv(LIST, " MY_BOX_KEY , AWS_SECRET_ACCESS_KEY,")
    roles_of({"roles": {"judge": {**SERVER, "key": "MY_BOX_KEY"}}})
    roles_of({"roles": {"judge": {**SERVER, "key": "AWS_SECRET_ACCESS_KEY"}}})
    assert not is_allowed("")
    with pytest.raises(StudyError, match=r'export CONVERGEBENCH_KEYS="\$CONVERGEBENCH_KEYS,OTHER_KEY"') as caught:
        roles_of({"roles": {"judge": {**SERVER, "key": "OTHER_KEY"}}})
    assert redact(str(caught.value)) == str(caught.value), "names are no secrets"


@given(st.text(min_size=1, max_size=60))
def test_what_might_be_a_key_is_never_repeated(given: str) -> None:
    if not is_allowed(given):
        said = how_to_allow(given)
        assert "\n" not in said
        assert (
            given not in said
            or all(letter.isupper() or letter.isdigit() or letter == "_" for letter in given)
            or (given in how_to_allow("sk-0"))
        )


@pytest.mark.parametrize("table", [{"key": "MY_BOX_KEY"}, {"key": "AWS_SECRET_ACCESS_KEY"}])
def test_a_table_with_such_a_name_can_still_be_read(table: dict[str, Any]) -> None:
    RoleTable.model_validate({**SERVER, **table})
