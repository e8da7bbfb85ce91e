"""Keys never reach a log, a file or a page."""

from __future__ import annotations

import sqlite3
import sys
import time
from pathlib import Path

import pytest

from convergebench import redaction
from convergebench.errors import Refused, Transient
from convergebench.redaction import redact
from convergebench.store.manifest import command_line
from convergebench.types import Edited, EditRequest
from tests.engine.parts import CASES, CountingEditor, walk

KEY = "sk-0123456789abcdef"


def test_values_of_secret_variables_are_blotted_out() -> None:
    environment = {"OPENAI_API_KEY": KEY, "HOME": "/home/somebody", "SHORT_KEY": "abc"}
    said = f"401 for https://api.example/v1?key={KEY} in /home/somebody, abc"
    assert redact(said, environment) == "401 for https://api.example/v1?key=… in /home/somebody, abc"


@pytest.mark.parametrize(
    "address",
    [
        "http://bob:correcthorse9@proxy.example:3128",
        "bob:correcthorse9@proxy.example",
        "postgres://bob:correct%68orse9@db.example/runs?x=1",
        "https://:correcthorse9@example.org",
    ],
)
def test_the_password_in_an_address_is_blotted_out_and_its_host_is_not(address: str) -> None:
    said = redact("login correcthorse9 and Ym9iOmNvcnJlY3Rob3JzZTk= at example.org", {"HTTPS_PROXY": address})
    assert "correcthorse9" not in said
    assert "Ym9iOmNvcnJlY3Rob3JzZTk" not in said
    assert said.endswith(" at example.org")


@pytest.mark.parametrize(
    "value", ["git@github.com:owner/name", "a@b.example", "/home/me@work:/usr/bin", "x://y/@z:1234567"]
)
def test_an_address_without_a_password_is_no_secret(value: str) -> None:
    assert redact(f"see {value}", {"PLACE": value}) == f"see {value}"


@pytest.mark.parametrize("kind", ["transient", "refused", "bug", "raw"])
def test_a_key_in_a_providers_words_is_in_no_file_of_the_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    monkeypatch.setenv("PROVIDER_API_KEY", KEY)

    class Leaky(CountingEditor):
        async def edit(self, request: EditRequest) -> Edited:
            if kind == "transient":
                raise Transient(f"429 for ?key={KEY}", raw=f"header {KEY}")
            if kind == "refused":
                raise Refused(f"no, {KEY}", raw=KEY)
            if kind == "bug":
                raise KeyError(KEY)
            edited = await super().edit(request)
            return Edited(edited.image, edited.mime, edited.model, raw=f"Authorization: {KEY}")

    _, _, progress = walk(tmp_path / "run", Leaky(), rounds=1, cases=CASES[:1])
    connection = sqlite3.connect(tmp_path / "run" / "run.sqlite")
    text = "\n".join(connection.iterdump())
    connection.close()
    assert "…" in text
    assert KEY not in text
    assert KEY not in progress.note
    assert all(KEY.encode() not in path.read_bytes() for path in (tmp_path / "run").rglob("*") if path.is_file())


def test_a_word_of_a_million_characters_takes_no_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(redaction, "_remembered", {KEY})
    begun = time.monotonic()
    assert redact("a" * 1_000_000, {}) == "a" * 1_000_000
    assert time.monotonic() - begun < 5


@pytest.mark.parametrize(
    ("said", "left"),
    [
        ("key sk-01****", "key …"),
        ("key ****cdef!", "key …!"),
        ("sk-01...cdef and sk-9999...7777", "… and sk-9999...7777"),
        ("sk-01****more sk-0…", "… …"),
        (f"{'a' * 40}sk-01****", f"{'a' * 40}sk-01****"),
        ("wait ... what", "wait ... what"),
        ("sk-0****xxxx****cdef", "……"),
    ],
)
def test_ends_beside_stars_are_blotted_out(monkeypatch: pytest.MonkeyPatch, said: str, left: str) -> None:
    monkeypatch.setattr(redaction, "_remembered", {KEY})
    assert redact(said, {}) == left


def test_a_key_on_the_command_line_is_not_recorded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_TOKEN", KEY)
    monkeypatch.setattr(sys, "argv", ["/usr/bin/cbench", "run", "s.toml", f"--suite=//x/?t={KEY}", "--api-key=abc"])
    assert command_line() == "cbench run s.toml '--suite=//x/?t=…' --api-key=…"


def test_a_file_name_on_the_command_line_need_not_be_unicode(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.argv", ["cbench", "audit", "run", "--out", "\udcff"])
    assert command_line() == r"cbench audit run --out \udcff"
