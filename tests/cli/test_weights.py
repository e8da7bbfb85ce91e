"""`cbench weights` as a person meets it."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

from convergebench.cli.main import app
from convergebench.errors import Prerequisite
from convergebench.weights import weight_names
from tests.weights.conftest import Declared, Server, declare, empty_store, server

__all__ = ["declare", "empty_store", "server"]

DATA = b"weights" * 1000


def cbench(*words: str) -> str:
    result = CliRunner().invoke(app, list(words))
    if result.exception and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result.output


def test_the_licence_is_shown_before_a_download_and_the_file_is_then_listed(declare: Declared, server: Server) -> None:
    server.files["/net.pth"] = DATA
    declare("net", {"net.pth": DATA}, f'[[weight.sources]]\nurl = "{server.address}/net.pth"', licence="BSD-2-Clause")
    assert "  no  " in cbench("weights", "list")
    shown = cbench("weights", "fetch", "net").splitlines()
    assert shown[0] == "net: test; 7 KB; licence: BSD-2-Clause"
    assert shown[1].startswith("net: /")
    assert "store" in cbench("weights", "list")
    assert "already here" in cbench("weights", "fetch", "net")
    assert server.asked == ["/net.pth"]


def test_a_noncommercial_licence_asks_and_takes_no_silence_for_yes(declare: Declared, server: Server) -> None:
    server.files["/net.pth"] = DATA
    source = f'[[weight.sources]]\nurl = "{server.address}/net.pth"'
    declare("net", {"net.pth": DATA}, source, licence="CC-BY-NC-4.0", noncommercial="true")
    with pytest.raises(Prerequisite, match=r"may not be used commercially \(CC-BY-NC-4\.0\).*--accept-noncommercial"):
        cbench("weights", "fetch", "net")
    assert server.asked == []
    cbench("weights", "fetch", "net", "--accept-noncommercial")
    assert server.asked == ["/net.pth"]


def test_files_at_hand_can_be_added_and_verified(declare: Declared, tmp_path: Path) -> None:
    declare("net", {"net.pth": DATA})
    (tmp_path / "net.pth").write_bytes(DATA)
    path = Path(cbench("weights", "add", "net", str(tmp_path / "net.pth")).removeprefix("net: ").strip())
    assert "net: whole" in cbench("weights", "verify")
    path.write_bytes(DATA[::-1])
    with pytest.raises(Prerequisite, match="does not hold 'net'"):
        cbench("weights", "verify")


def test_the_shipped_catalogue_is_well_formed(monkeypatch: pytest.MonkeyPatch) -> None:
    from convergebench.weights import catalogue as room

    monkeypatch.setattr(room, "DATA", Path(room.__file__).parent / "data")
    room.catalogue.cache_clear()
    assert {"lpips-alex", "augnet", "clip-vit-l14"} <= set(weight_names())
