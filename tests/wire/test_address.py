"""What a study file may say about a server is an address and a name, and a secret in their place is not repeated."""

from __future__ import annotations

import pytest

from convergebench.wire.address import require_no_secret

SECRET = "sk-hush0123456789"


@pytest.mark.parametrize(
    "address", ["", "http://127.0.0.1:8000/v1", "https://api.example/v1/", "http://[::1]:8188", "http://there:1"]
)
def test_an_address_is_taken(address: str) -> None:
    require_no_secret(address, "")


@pytest.mark.parametrize(
    "address",
    [
        SECRET,
        "127.0.0.1:8000",
        "ftp://there",
        "http://",
        "http://there:99999",
        "http://there:0",
        f"http://there:{SECRET}",
        "http://[::1",
        " http://there",
        "http://there\n",
        "http://the re/v1",
        f"http://me:{SECRET}@there",
        f"http://there/?key={SECRET}",
        f"http://there/#{SECRET}",
    ],
)
def test_what_is_no_address_or_holds_a_secret_is_refused(address: str) -> None:
    with pytest.raises(ValueError, match="base_url should") as refused:
        require_no_secret(address, "")
    assert SECRET not in str(refused.value)


@pytest.mark.parametrize("name", ["", "BFL_API_KEY", "my_token", "MY_LOGIN"])
def test_the_name_of_a_variable_is_taken(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CONVERGEBENCH_KEYS", "my_token,MY_LOGIN")
    require_no_secret("", name)


@pytest.mark.parametrize("key", [SECRET, "hush", "a b_KEY", "1_KEY"])
def test_what_is_no_name_is_refused(key: str) -> None:
    with pytest.raises(ValueError, match="name an environment variable") as refused:
        require_no_secret("", key)
    assert key not in str(refused.value)
