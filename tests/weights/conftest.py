"""A catalogue of its own, an empty store, and a package index on this machine."""

from __future__ import annotations

import hashlib
import io
import tarfile
import threading
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from convergebench.weights import catalogue as room


def sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


@dataclass
class Server:
    """Answers what it was told to; counts what it was asked for."""

    address: str = ""
    files: dict[str, bytes] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)
    moved: dict[str, str] = field(default_factory=dict)
    authorised: list[str] = field(default_factory=list)
    """Requests that came with a name and a password."""

    def serve_package(self, name: str, version: str, members: dict[str, bytes], *, wheel: bool) -> None:
        """An index page and one archive."""
        archive = f"{name}-{version}-py3-none-any.whl" if wheel else f"{name}-{version}.tar.gz"
        data = zipped(members) if wheel else tarred(f"{name}-{version}", members)
        self.files[f"/files/{archive}"] = data
        page = self.files.get(f"/simple/{name.replace('_', '-')}/", b"").decode()
        page += f'<a href="../../files/{archive}#sha256={sha256(data)}">{archive}</a><br>'
        self.files[f"/simple/{name.replace('_', '-')}/"] = page.encode()


def zipped(members: dict[str, bytes]) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return file.getvalue()


def tarred(top: str, members: dict[str, bytes]) -> bytes:
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode="w:gz") as archive:
        for name, data in members.items():
            info = tarfile.TarInfo(f"{top}/{name}")
            info.size = len(data)
            archive.addfile(info, io.BytesIO(data))
    return file.getvalue()


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    """An index and a file server on loopback."""
    state = Server()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            state.asked.append(self.path)
            if "authorization" in self.headers:
                state.authorised.append(self.path)
            if self.path in state.moved:
                self.send_response(302)
                self.send_header("location", state.moved[self.path])
                self.send_header("content-length", "0")
                self.end_headers()
                return
            data = state.files.get(self.path)
            self.send_response(200 if data is not None else 404)
            self.send_header("content-length", str(len(data or b"")))
            self.end_headers()
            self.wfile.write(data or b"")

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as running:
        threading.Thread(target=running.serve_forever, args=(0.01,), daemon=True).start()
        state.address = f"http://127.0.0.1:{running.server_port}"
        monkeypatch.setenv("PIP_INDEX_URL", f"{state.address}/simple")
        monkeypatch.setenv("PIP_EXTRA_INDEX_URL", "")
        yield state
        running.shutdown()


@pytest.fixture(autouse=True)
def empty_store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Nothing fetched yet, nothing named, and a catalogue that a test fills itself."""
    monkeypatch.setenv("CONVERGEBENCH_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("CONVERGEBENCH_WEIGHTS", raising=False)
    (tmp_path / "catalogue").mkdir()
    monkeypatch.setattr(room, "DATA", tmp_path / "catalogue")
    room.catalogue.cache_clear()
    yield tmp_path / "cache" / "weights"
    room.catalogue.cache_clear()


@dataclass
class Declared:
    """Writes catalogue entries."""

    folder: Path

    def __call__(self, name: str, files: dict[str, bytes], sources: str = "", **extra: str) -> None:
        """One weight with these files, and its sources as TOML."""
        listed = ", ".join(
            f'{{ path = "{path}", sha256 = "{extra.get("sha256", sha256(data))}", size = {len(data)} }}'
            for path, data in files.items()
        )
        text = f'[[weight]]\nname = "{name}"\nabout = "test"\nlicence = "{extra.get("licence", "MIT")}"\n'
        text += f"noncommercial = {extra.get('noncommercial', 'false')}\nfiles = [{listed}]\n{sources}\n"
        (self.folder / f"{name}.toml").write_text(text, encoding="utf-8")
        room.catalogue.cache_clear()


@pytest.fixture
def declare(tmp_path: Path) -> Declared:
    """Adds to the catalogue."""
    return Declared(tmp_path / "catalogue")
