"""Keys come from the environment or the keyring, and once seen they are blotted out in every form."""

from __future__ import annotations

import base64
import sys
from collections.abc import Iterator
from contextlib import suppress
from urllib.parse import quote

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from convergebench import keys, redaction
from convergebench.errors import Prerequisite
from convergebench.keys import find_key, lacking_key, missing_key, require_key
from convergebench.redaction import redact, remember_secret

KEY = "sk-proj-0123456789/abc+DEF_the-end"


@pytest.fixture(autouse=True)
def forgetful(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Each test begins without keys."""
    monkeypatch.setattr(redaction, "_remembered", set())
    for name in ("FIRST_KEY", "SECOND_KEY"):
        monkeypatch.delenv(name, raising=False)
    keys._from_keyring.cache_clear()
    yield
    keys._from_keyring.cache_clear()


@pytest.fixture
def keyring() -> Iterator[dict[tuple[str, str], str]]:
    """A keyring of this test's own, through the real library."""
    library = pytest.importorskip("keyring")
    backend = pytest.importorskip("keyring.backend")
    held: dict[tuple[str, str], str] = {}

    class Held(backend.KeyringBackend):  # type: ignore[misc,name-defined]
        priority = 1

        def get_password(self, service: str, username: str) -> str | None:
            return held.get((service, username))

        def set_password(self, service: str, username: str, password: str) -> None:
            held[(service, username)] = password

    before = library.get_keyring()
    library.set_keyring(Held())
    yield held
    library.set_keyring(before)


def test_the_first_name_that_has_a_key_is_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SECOND_KEY", "second-key-value")
    assert find_key(("FIRST_KEY", "SECOND_KEY")) == "second-key-value"
    monkeypatch.setenv("FIRST_KEY", "first-key-value")
    assert find_key(("FIRST_KEY", "SECOND_KEY")) == "first-key-value"


def test_white_space_around_a_key_is_no_part_of_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FIRST_KEY", f"  {KEY}\n")
    assert find_key(("FIRST_KEY",)) == KEY
    monkeypatch.setenv("FIRST_KEY", "  \n")
    assert find_key(("FIRST_KEY",)) == ""


def test_the_keyring_is_asked_after_the_environment(
    monkeypatch: pytest.MonkeyPatch, keyring: dict[tuple[str, str], str]
) -> None:
    keyring[("convergebench", "FIRST_KEY")] = KEY
    assert find_key(("FIRST_KEY",)) == KEY
    monkeypatch.setenv("SECOND_KEY", "second-key-value")
    assert find_key(("FIRST_KEY", "SECOND_KEY")) == "second-key-value"


def test_a_key_of_the_keyring_is_blotted_out_though_no_variable_holds_it(
    keyring: dict[tuple[str, str], str],
) -> None:
    keyring[("convergebench", "FIRST_KEY")] = KEY
    assert redact(f"bad key {KEY}", {}) == f"bad key {KEY}"
    find_key(("FIRST_KEY",))
    assert redact(f"bad key {KEY}", {}) == "bad key …"


def test_a_keyring_that_is_broken_or_missing_holds_no_key(monkeypatch: pytest.MonkeyPatch) -> None:
    library = pytest.importorskip("keyring")

    def broken(service: str, name: str) -> str:
        raise RuntimeError("locked")

    monkeypatch.setattr(library, "get_password", broken)
    assert find_key(("FIRST_KEY",)) == ""
    keys._from_keyring.cache_clear()
    monkeypatch.setitem(sys.modules, "keyring", None)
    assert find_key(("FIRST_KEY",)) == ""


def test_without_a_key_it_says_what_to_type() -> None:
    said = "FIRST_KEY or SECOND_KEY is not set; gemini needs a key: export SECOND_KEY=…"
    assert missing_key(("FIRST_KEY", "SECOND_KEY"), "gemini") == said
    assert lacking_key(("FIRST_KEY", "SECOND_KEY"), "gemini") == [said]
    with pytest.raises(Prerequisite, match="export SECOND_KEY"):
        require_key(("FIRST_KEY", "SECOND_KEY"), "gemini")


@pytest.mark.parametrize("value", ["two words here", "schlüssel-12345", "line\nbreak-1234", "nul\x7fbyte-1234"])
def test_what_cannot_be_a_key_is_refused_without_being_repeated(monkeypatch: pytest.MonkeyPatch, value: str) -> None:
    monkeypatch.setenv("FIRST_KEY", value)
    with pytest.raises(Prerequisite, match="FIRST_KEY contains characters that no key has") as refused:
        find_key(("FIRST_KEY",))
    assert value not in str(refused.value)
    assert lacking_key(("FIRST_KEY",), "gemini") == [str(refused.value)]
    assert value not in redact(f"illegal header {value}", {})


@pytest.mark.parametrize("value", ["hunter2", "elevenchars", "s3cr3t", "Tr0ub4dor&3"])
def test_a_key_that_cannot_be_told_from_words_is_refused_without_being_repeated(
    monkeypatch: pytest.MonkeyPatch, value: str
) -> None:
    monkeypatch.setenv("FIRST_KEY", value)
    with pytest.raises(
        Prerequisite, match=rf"FIRST_KEY holds a key of {len(value)} characters.*at least 12 characters"
    ) as refused:
        find_key(("FIRST_KEY",))
    assert value not in str(refused.value)
    assert "\n" not in str(refused.value)
    assert lacking_key(("FIRST_KEY",), "gemini") == [str(refused.value)]


@pytest.mark.parametrize("value", ["EMPTY", "none", "ollama", "sk-no-key-required", "x"])
def test_what_servers_of_one_s_own_are_given_in_the_place_of_a_key_is_no_secret(
    monkeypatch: pytest.MonkeyPatch, value: str
) -> None:
    monkeypatch.setenv("FIRST_KEY", value)
    assert find_key(("FIRST_KEY",)) == value
    assert redact(f"the server wants {value} here", {}) == f"the server wants {value} here"


def test_a_password_is_a_secret_by_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FIRST_KEY", "somebody:correct-horse-9")
    assert find_key(("FIRST_KEY",), login=True) == "somebody:correct-horse-9"
    assert redact("no password 'correct-horse-9'", {}) == "no password '…'"
    monkeypatch.setenv("FIRST_KEY", "a-long-name-of-somebody:pass1234")
    with pytest.raises(Prerequisite, match="FIRST_KEY holds a password of 8 characters"):
        find_key(("FIRST_KEY",), login=True)
    assert lacking_key(("FIRST_KEY",), "it", login=True)


def test_a_key_that_is_there_is_no_lack(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FIRST_KEY", KEY)
    assert lacking_key(("FIRST_KEY",), "gemini") == []
    assert require_key(("FIRST_KEY",), "gemini") == KEY


FORMS = {
    "as it is": KEY,
    "in a header": f"Bearer {KEY}",
    "in an address": quote(KEY, safe=""),
    "in an address with slashes": quote(KEY),
    "in JSON of a careful writer": KEY.replace("/", "\\/"),
    "in base64": base64.b64encode(KEY.encode()).decode(),
    "in base64 after a name": base64.b64encode(f"api:{KEY}".encode()).decode(),
    "in base64 after a scheme": base64.b64encode(f"Bearer {KEY}".encode()).decode(),
    "in base64 inside more": base64.b64encode(f'{{"authorization": "{KEY}", "a": 1}}'.encode()).decode(),
    "in base64 for addresses": base64.urlsafe_b64encode(f"x{KEY}".encode()).decode(),
    "in hexadecimal": KEY.encode().hex(),
    "its beginning": KEY[:16],
    "its end": KEY[-14:],
    "two halves": f"{KEY[:17]} {KEY[17:]}",
    "masked": f"{KEY[:8]}********{KEY[-4:]}",
    "masked with dots": f"{KEY[:7]}...{KEY[-4:]}",
    "only its end": f"****{KEY[-4:]}",
}


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
def test_a_key_in_use_is_blotted_out_in_every_form(form: str) -> None:
    """No six characters of it are left, in whatever writing."""
    remember_secret(KEY)
    said = redact(f"refused: {form} (401)", {})
    assert said.startswith("refused: ")
    assert said.endswith(" (401)")
    assert "…" in said
    assert not [piece for piece in PIECES if piece in said]
    left = [part for word in said.split() for part in word.split("…")]
    for packed in (part[start:] for part in left for start in range(4)):
        with suppress(ValueError):
            unpacked = base64.b64decode(packed + "=" * (-len(packed) % 4), b"-_").decode("latin-1")
            assert not [piece for piece in PIECES if piece in unpacked]


PIECES = {KEY[start : start + 6] for start in range(len(KEY) - 5)}


def test_ordinary_words_stay_as_they_are() -> None:
    remember_secret(KEY)
    said = "the sk-proj- prefix, wait... then **bold** and 01234 – … done"
    assert redact(said, {"HOME_KEY": "/home/somebody/.ssh/key"}) == said
    assert (
        redact("see /home/somebody/pictures", {"HOME_KEY": "/home/somebody/.ssh/key"}) == "see /home/somebody/pictures"
    )


def test_short_values_are_no_secrets() -> None:
    remember_secret("abc")
    assert redact("abc and xyz", {"A_KEY": "xyz"}) == "abc and xyz"


def test_a_value_that_is_no_text_does_no_harm() -> None:
    assert redact("plain", {"A_KEY": "bytes\udcff-that-are-none"}) == "plain"


@given(st.text(min_size=8, max_size=40, alphabet=st.characters(codec="ascii", categories=("L", "N", "P"))), st.text())
@example("0000000:", "%")
@example("00000000000:", "\\u")
def test_no_key_survives_anywhere(key: str, around: str) -> None:
    for written in (key, base64.b64encode(key.encode()).decode(), quote(key, safe="")):
        assert written not in redact(f"{around}{written}{around}", {"THE_KEY": key}) or written in around * 2
