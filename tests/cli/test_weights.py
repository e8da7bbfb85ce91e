"""`cbench weights` as a person meets it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from convergebench.cli.main import app
from convergebench.errors import Prerequisite
from convergebench.weights import weight_names
from tests.weights.conftest import Declared, Server, declare, empty_store, server, sha256

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
    with pytest.raises(Prerequisite, match="is not 'net'"):
        cbench("weights", "verify")


def test_the_shipped_catalogue_is_well_formed(monkeypatch: pytest.MonkeyPatch) -> None:
    from convergebench.weights import catalogue as room

    monkeypatch.setattr(room, "DATA", Path(room.__file__).parent / "data")
    room.catalogue.cache_clear()
    assert {"lpips-alex", "augnet", "clip-vit-l14"} <= set(weight_names())


def test_a_name_that_is_a_metric_s_and_a_weight_s_stands_for_all_that_the_metric_needs(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from convergebench.cli.weights import chosen_weights
    from convergebench.metrics import load_metric
    from convergebench.registry import names
    from convergebench.weights import catalogue as room

    monkeypatch.setattr(room, "DATA", Path(room.__file__).parent / "data")
    room.catalogue.cache_clear()
    assert {weight.name for weight in chosen_weights(["dists"])} == {"dists", "lpips-vgg"}
    for name in set(weight_names()) & set(names("metrics")):
        assert set(load_metric(name).facts.weights) <= {weight.name for weight in chosen_weights([name])}


def test_an_editor_stands_for_all_weights_that_it_loads(monkeypatch: pytest.MonkeyPatch) -> None:
    from convergebench.cli.weights import chosen_weights
    from convergebench.weights import catalogue as room

    monkeypatch.setattr(room, "DATA", Path(room.__file__).parent / "data")
    room.catalogue.cache_clear()

    assert {"human-models", "isnet", "mi-gan", "face-parts"} < {weight.name for weight in chosen_weights(["inpaint"])}
    assert [weight.name for weight in chosen_weights(["remake-realesr-anime"])] == ["realesr-anime"]
    assert chosen_weights(["sim-jpeg"]) == []


def test_a_metric_without_weights_needs_none(declare: Declared) -> None:
    assert cbench("weights", "fetch", "psnr") == "psnr: no weights are needed\n"
    assert cbench("weights", "verify", "psnr") == ""


def test_a_file_that_is_gone_from_its_folder_is_missed(declare: Declared, tmp_path: Path) -> None:
    declare("pair", {"a.bin": DATA, "b.bin": DATA})
    for name in ("a.bin", "b.bin"):
        (tmp_path / name).write_bytes(DATA)
    folder = Path(cbench("weights", "add", "pair", str(tmp_path)).removeprefix("pair: ").strip())
    (folder / "b.bin").unlink()
    with pytest.raises(Prerequisite, match=r"b\.bin of 'pair' is gone; type: cbench weights add pair PATH"):
        cbench("weights", "verify")


def test_verify_reads_files_again_whatever_was_noted(
    declare: Declared, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from convergebench.weights import checksums

    monkeypatch.setattr(checksums, "LARGE", 1)
    declare("net", {"net.pth": DATA})
    (tmp_path / "net.pth").write_bytes(DATA)
    cbench("weights", "add", "net", str(tmp_path / "net.pth"))
    notes = tmp_path / "cache" / checksums.NOTES
    notes.write_text(notes.read_text().replace(sha256(DATA), sha256(b"other")))
    checksums._sha256.cache_clear()
    assert "  no  " in cbench("weights", "list")
    assert "net: whole" in cbench("weights", "verify")


def test_the_list_as_json_has_numbers_paths_and_licences_as_they_are(declare: Declared, tmp_path: Path) -> None:
    declare("net", {"net.pth": DATA}, licence="CC-BY-NC-4.0", noncommercial="true")
    (row,) = json.loads(cbench("weights", "list", "--json"))
    assert (row["name"], row["size"], row["licence"], row["noncommercial"]) == ("net", 7000, "CC-BY-NC-4.0", True)
    assert (row["here"], row["path"]) == (None, None)
    (tmp_path / "net.pth").write_bytes(DATA)
    cbench("weights", "add", "net", str(tmp_path / "net.pth"))
    (row,) = json.loads(cbench("weights", "list", "--json"))
    assert row["here"] == "store"
    assert Path(row["path"]).read_bytes() == DATA
