"""Hostile names and texts in a run that somebody else made, and keys in one's own: every kind of output."""

from __future__ import annotations

import base64
import csv
import io
import json
import re
import sqlite3
import tarfile
import zipfile
from collections.abc import Iterator
from contextlib import closing
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from urllib.parse import quote

import polars as pl
import pytest
from starlette.testclient import TestClient

from convergebench.serve.view.app import ViewSite, view_app
from convergebench.serve.view.shelf import RunShelf
from tests.cli.in_process import Done, cbench
from tests.serve.view.drawn_runs import drawn_run

EVIL = (
    "=1+1<xevil onerror=alert(1)>\"'</script>\\input{/etc/xevil}$x$ "
    "[a](javascript:xevil) ![b](//xevil/) `c` ../../xevil"
)
"""A formula, an element, ends of attributes and scripts, a command of TeX, links of Markdown, and a path."""
KEY = "sk-live-9876543210/zyx+wvu"
SPELT = {
    "plain": KEY,
    "quoted": quote(KEY, safe=""),
    "base64": base64.b64encode(KEY.encode()).decode(),
    "base64 of a header": base64.b64encode(f"Bearer {KEY}".encode()).decode(),
    "hexadecimal": KEY.encode().hex(),
}
FORMS = ("banana100", "imagefolder", "parquet", "webdataset", "hf")


def planted(root: Path, names: dict[str, str]) -> Path:
    """The run with these words in place of others, in every text of its journal and manifest."""
    with closing(sqlite3.connect(root / "run.sqlite")) as database:
        for (table,) in database.execute("select name from sqlite_master where type = 'table'").fetchall():
            for column in database.execute(f"pragma table_info({table})").fetchall():
                for old, new in names.items() if column[2].upper() == "TEXT" else ():
                    database.execute(f'update {table} set "{column[1]}" = replace("{column[1]}", ?, ?)', (old, new))
        database.commit()
    manifest = root / "manifest.json"
    manifest.write_text(json.dumps(_replaced(json.loads(manifest.read_text()), names)))
    return root


def _replaced(value: Any, names: dict[str, str]) -> Any:
    if isinstance(value, str):
        for old, new in names.items():
            value = value.replace(old, new)
        return value
    if isinstance(value, dict):
        return {_replaced(key, names): _replaced(one, names) for key, one in value.items()}
    return [_replaced(one, names) for one in value] if isinstance(value, list) else value


def everything(folder: Path, editor: str) -> dict[str, Done]:
    """Every command that writes something for others, into `out`."""
    out = folder / "out"
    out.mkdir()
    words: dict[str, tuple[object, ...]] = {
        "report": ("report", folder / "run", "--plots", "svg"),
        "paper": ("paper", folder / "run", "--into", out / "paper"),
        "html": ("export", folder / "run", "--as", "html", "--out", out / "one.html"),
        **{
            form: (
                "export",
                folder / "run",
                "--as",
                form,
                "--out",
                out / form,
                "--licence",
                "CC0-1.0",
            )
            for form in FORMS
        },
        "badge": ("badge", folder / "run", "--editor", editor, "--into", out / "badge.svg"),
        "submit": ("submit", folder / "run", "--by", "Example Lab", "--into", out / "bundle.zip"),
        "compare": ("compare", folder / "run", folder / "other", "--out", out / "compared"),
        "show": ("show", folder / "run", "--json"),
    }
    return {name: cbench(*one) for name, one in words.items()}


def viewed(folder: Path) -> dict[str, bytes]:
    """What the viewer says of the run, by address."""
    app = view_app(ViewSite(RunShelf([folder])))
    client = TestClient(app, base_url="http://127.0.0.1:8017", raise_server_exceptions=False)
    chains = client.get("/api/runs/run/chains").json()
    paths = [
        "/",
        "/run/run",
        "/api/runs",
        *(f"/api/runs/run{end}" for end in ("", "/live", "/chains", "/images", "/curves")),
    ]
    paths += [f"/api/runs/run/chains/{row[0]}" for row in chains["rows"]]
    return {path: client.get(path).content for path in paths}


def pieces(root: Path) -> Iterator[tuple[str, bytes]]:
    """Every file below a folder, and what is packed in it."""
    for path in sorted(path for path in root.rglob("*") if path.is_file()):
        name, data = path.relative_to(root).as_posix(), path.read_bytes()
        yield name, data
        yield f"name of {name}", name.encode()
        if path.suffix == ".parquet":
            yield name, str(pl.read_parquet(path).to_dicts()).encode()
        if data.startswith(b"SQLite format 3"):
            with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as database:
                yield name, "\n".join(database.iterdump()).encode()
        if data.startswith(b"PK\x03\x04"):
            with zipfile.ZipFile(io.BytesIO(data)) as archive:
                yield from ((f"{name}: {one}", archive.read(one)) for one in archive.namelist())
        if path.suffix == ".tar":
            with tarfile.open(fileobj=io.BytesIO(data)) as packed:
                for one in packed:
                    file = packed.extractfile(one)
                    yield f"{name}: {one.name}", file.read() if file else b""


class Page(HTMLParser):
    """Elements and attributes that no page of ours has."""

    def __init__(self) -> None:
        super().__init__()
        self.bad: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "xevil":
            self.bad.append(tag)
        for name, value in attrs:
            if name.startswith("on") or (name in ("href", "src") and "xevil" in (value or "").split("#")[0][:40]):
                self.bad.append(f"{tag} {name}={value}")


def faults(name: str, data: bytes) -> list[str]:
    """What in a file would act when it is opened, compiled or rendered."""
    text = data.decode("utf-8", "replace")
    if name.endswith((".html", ".svg")):
        page = Page()
        page.feed(text)
        return [f"{name}: {one}" for one in page.bad]
    if name.endswith(".csv"):
        acting = [cell for row in csv.reader(io.StringIO(text, newline="")) for cell in row if cell[:4] == "=1+1"]
        return [f"{name}: a formula"] if acting else []
    if name.endswith((".tex", ".bib", ".sty")):
        return [f"{name}: TeX"] if re.search(r"\\input\{/etc|\\input *\{?/etc", text) else []
    if name.endswith(".md"):
        plain = re.sub(r"(?<!\\)(`+)(?!`).*?(?<!`)\1(?!`)", "", text)
        return [f"{name}: Markdown"] if re.search(r"(?<!\\)\]\((javascript:|//xevil)|<xevil", plain) else []
    if name.endswith(".js"):
        return [f"{name}: the end of a script"] if "</script" in text.lower() else []
    return []


@pytest.fixture(scope="module")
def received(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run with hostile names, one without, and all that is made of them."""
    folder = tmp_path_factory.mktemp("received")
    editors = {"copy": 0, "darker": 30, "balks": 5}
    drawn_run(folder / "other", rounds=2, editors=editors, report=False)
    drawn_run(folder / "run", rounds=2, editors=editors, report=False)
    words = ("darker", "Less <light>", "Drawn pictures")
    planted(folder / "run", {**dict.fromkeys(words, EVIL), "picture-0": f"picture-0{EVIL}"})
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        done = everything(folder, EVIL)
    assert {name: one.err for name, one in done.items() if one.code and name != "submit"} == {}
    assert done["submit"].code == 2, "such an editor is no name that others could use"
    assert all("Traceback" not in one.err for one in done.values())
    return folder


def test_no_output_of_a_hostile_run_acts(received: Path) -> None:
    found: list[str] = []
    kinds: set[str] = set()
    for root in (received / "out", received / "run"):
        for name, data in pieces(root):
            found += faults(name, data)
            kinds.add(name.rpartition(".")[2])
    assert {"html", "svg", "csv", "tex", "md", "js", "json", "parquet", "tar"} <= kinds, kinds
    assert found == []


def test_no_name_of_a_run_becomes_a_path(received: Path) -> None:
    assert sorted(path.name for path in received.iterdir()) == ["other", "out", "run"]
    assert not [path for path in received.parent.rglob("*") if path.name == "xevil"]
    for path in (received / "out").rglob("*"):
        assert path.resolve().is_relative_to((received / "out").resolve())
        assert path.name.isprintable()


def test_the_viewer_tells_hostile_texts_as_data_only(received: Path) -> None:
    seen = 0
    for path, data in viewed(received).items():
        if path.startswith("/api/"):
            json.loads(data)
            seen += b"xevil" in data
        else:
            assert b"xevil" not in data, "the page holds no text of a run"
    assert seen > 3


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.html", f"<p>{EVIL}</p>"),
        ("a.html", '<a href="javascript:xevil">'),
        ("a.csv", f"a,b\n1,{EVIL}\n"),
        ("a.tex", EVIL),
        ("a.md", EVIL),
        ("a.js", "'</SCRIPT>'"),
    ],
)
def test_the_search_finds_what_acts(name: str, text: str) -> None:
    assert faults(name, text.encode())


def test_a_key_that_an_old_journal_holds_leaves_with_no_output(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As a provider might have repeated it before this variable was set: outputs are looked through again."""
    drawn_run(tmp_path / "other", count=1, rounds=1, editors={"darker": 30}, report=False)
    drawn_run(tmp_path / "run", count=1, rounds=1, editors={"darker": 30}, report=False)
    planted(tmp_path / "run", {"Less <light>": " ".join(SPELT.values())})
    monkeypatch.setenv("MY_SERVER_KEY", KEY)
    monkeypatch.chdir(tmp_path)
    done = everything(tmp_path, "darker")
    told = "".join(one.out + one.err for one in done.values())
    found = {
        f"{place}: {name}"
        for place, data in (*pieces(tmp_path / "out"), *viewed(tmp_path).items(), ("said", told.encode()))
        for name, text in SPELT.items()
        if text.encode() in data
    }
    assert found == set()
