"""`cbench push`: a dry run first, then a real upload by the real client to a Hub on this machine."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import polars as pl
import pytest

import convergebench.redaction as redaction
from convergebench.datasets import hub_push
from convergebench.datasets.secret_scan import files_with_secrets
from tests.api.parts import quick_run
from tests.cli.in_process import Done, cbench
from tests.datasets.hub_server import TOKEN, HubServer
from tests.editors.providers.loopback import Answer, Loopback, serving

pytest.importorskip("huggingface_hub")
pytest.importorskip("datasets")
pytestmark = pytest.mark.filterwarnings("ignore:Use 'content=<...>':DeprecationWarning")  # of the Hub's own client


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return quick_run(tmp_path_factory.mktemp("pushed") / "run", "sim-blur").root


@pytest.fixture
def hub(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[HubServer, Loopback]]:
    """The server, with a token in the environment and large files by git-lfs."""
    import huggingface_hub.constants as constants

    known = HubServer()
    with serving(known.answer) as server:
        monkeypatch.chdir(tmp_path)
        monkeypatch.setenv("HF_ENDPOINT", server.address)
        monkeypatch.setenv("HF_TOKEN", TOKEN)
        monkeypatch.setattr(constants, "HF_HUB_DISABLE_XET", True)
        monkeypatch.setattr(hub_push, "PAUSES", (0.01, 0.01))
        monkeypatch.setattr(redaction, "_remembered", set())
        yield known, server


def refused(done: Done, *words: str) -> None:
    assert done.code == 2, done.out
    assert "error: " in done.err
    assert len([line for line in done.err.splitlines() if line.startswith("error: ")]) == 1
    assert "Traceback" not in done.err
    assert all(word in done.err for word in words), done.err
    assert TOKEN not in done.err + done.out


def test_without_yes_nothing_is_asked_and_everything_is_listed(run: Path, hub: tuple[HubServer, Loopback]) -> None:
    known, server = hub
    done = cbench("push", run, "me/round-trips")
    assert done.code == 0, done.err
    assert server.asked == []
    for words in ("README.md", "data/train-00000-of-00001.parquet", f"{server.address}/datasets/me/round-trips",
                  "visibility  private", "licence     ", "nothing was sent", "--yes"):  # fmt: skip
        assert words in done.out
    assert known.files == {}


def test_what_was_listed_is_what_arrives_and_it_is_private(run: Path, hub: tuple[HubServer, Loopback]) -> None:
    known, _ = hub
    assert cbench("push", run, "me/round-trips").code == 0
    done = cbench("push", run, "me/round-trips", "--yes")
    assert done.code == 0, done.err
    folder = Path("push/me--round-trips")
    here = {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    assert known.files == here
    assert known.private == {"me/round-trips": True}
    assert pl.read_parquet(folder / "data" / "train-00000-of-00001.parquet").height > 0
    assert all(TOKEN.encode() not in content for content in here.values())
    assert TOKEN not in done.out + done.err


def test_public_only_if_asked_for(run: Path, hub: tuple[HubServer, Loopback]) -> None:
    known, _ = hub
    assert cbench("push", run, "me/open", "--yes", "--public").code == 0
    assert known.private == {"me/open": False}
    known.files.clear()
    refused(cbench("push", run, "me/open", "--yes"), "is public", "--public")
    assert known.files == {}


def test_a_refused_token_is_one_line_without_the_token(
    run: Path, hub: tuple[HubServer, Loopback], monkeypatch: pytest.MonkeyPatch
) -> None:
    known, _ = hub
    wrong = "hf_" + "z" * 34
    monkeypatch.setenv("HF_TOKEN", wrong)
    done = cbench("push", run, "me/round-trips", "--yes")
    refused(done, "refused HF_TOKEN (401)", "may write to me/round-trips")
    assert wrong not in done.err
    monkeypatch.delenv("HF_TOKEN")
    refused(cbench("push", run, "me/round-trips", "--yes"), "HF_TOKEN is not set")
    assert known.files == {}


def test_a_busy_hub_is_asked_again(run: Path, hub: tuple[HubServer, Loopback]) -> None:
    known, _ = hub
    known.failing = {"/commit/": [Answer(503, {"error": "busy"}), Answer(503, {"error": "busy"})]}
    done = cbench("push", run, "me/round-trips", "--yes")
    assert done.code == 0, done.err
    assert "trying again" in done.err
    assert known.files


def test_after_a_failure_the_same_command_sends_only_what_is_missing(
    run: Path, hub: tuple[HubServer, Loopback]
) -> None:
    known, _ = hub
    known.failing = {"/commit/": [Answer(500, {"error": f"crashed with {TOKEN}"})] * 50}
    refused(cbench("push", run, "me/round-trips", "--yes"), "run the same command to continue")
    assert known.files == {}
    sent = known.uploads
    assert sent == len(known.stored) > 0
    known.failing = {}
    assert cbench("push", run, "me/round-trips", "--yes").code == 0
    assert known.uploads == sent, "large files that had arrived were not sent again"
    assert known.files


def test_a_folder_of_another_run_is_not_sent(run: Path, hub: tuple[HubServer, Loopback]) -> None:
    assert cbench("push", run, "me/round-trips").code == 0
    refused(cbench("push", run, "me/round-trips", "--licence", "CC-BY-4.0", "--yes"), "made from something else")
    Path("push/me--round-trips/note.txt").write_text(f"key {TOKEN}")
    refused(cbench("push", run, "me/round-trips", "--yes"), "note.txt", "looks like a key", "nothing was sent")


@pytest.mark.parametrize("name", ["name", "a/b/c", "../x", "a/..", "a b/c", "-a/b", "a--b/c"])
def test_names_that_the_hub_does_not_take_are_refused(run: Path, hub: tuple[HubServer, Loopback], name: str) -> None:
    refused(cbench("push", "--", run, name), "is no repository of the Hub")


def test_a_token_is_not_sent_over_plain_http_to_another_machine(
    run: Path, hub: tuple[HubServer, Loopback], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HF_ENDPOINT", "http://hub.example.org")
    refused(cbench("push", run, "me/round-trips", "--yes"), "unencrypted")


def test_keys_are_found_in_texts_tables_and_pictures(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LAB_API_KEY", "correct-horse-battery")
    (tmp_path / "fine.json").write_text(json.dumps({"sk-": "ask-me-anything", "hf_hub": "hf_hub_download"}))
    assert files_with_secrets(tmp_path) == []
    (tmp_path / "env.txt").write_text("correct-horse-battery")
    (tmp_path / "form.md").write_text(f"use {'sk-' + 'Aa1' * 12} to log in")
    (tmp_path / "picture.png").write_bytes(b"\x89PNG....tEXtComment\0correct-horse-battery....")
    pl.DataFrame({"words": ["fine", f"my key is {TOKEN}"]}).write_parquet(tmp_path / "table.parquet")
    inside = pl.DataFrame({"image": [{"bytes": b"Comment\0" + b"AKIA" + b"ABCDEFGH12345678", "path": "a"}]})
    inside.write_parquet(tmp_path / "images.parquet")
    assert files_with_secrets(tmp_path) == ["env.txt", "form.md", "images.parquet", "picture.png", "table.parquet"]
