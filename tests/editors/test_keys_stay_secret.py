"""A provider that repeats the key in all it says: after a whole run, no file and no line holds it, in any writing."""

from __future__ import annotations

import base64
import io
import json
import os
import re
import shutil
import sqlite3
import subprocess
import sys
import zlib
from collections.abc import Iterator
from pathlib import Path
from threading import Lock
from urllib.parse import quote

import numpy as np
import polars as pl
import pytest
from PIL import Image

from convergebench.images.encode import encode_png
from tests.editors.providers.loopback import Answer, Loopback, Request, serving

KEYS = {"BFL_API_KEY": "bfl/0123456789+abcdef==tail", "MY_SERVER_KEY": "sk-live-9876543210/zyx+wvu"}

STUDY = """
study = "roundtrip"
editors = [
  {{ name = "flux", use = "flux-kontext-pro", base_url = "{address}", at_once = 1 }},
  {{ name = "mine", use = "compatible:mine", base_url = "{address}/v1", server = "vllm-omni", key = "MY_SERVER_KEY" }},
  {{ name = "locked", use = "compatible:locked", base_url = "{address}/v1", key = "MY_SERVER_KEY" }},
]
[roundtrip]
rounds = 1
[images]
suite = "pictures"
[edits]
pairs = ["flip-horizontal"]
[measure]
metrics = ["psnr"]
[analysis]
draws = 200
"""

KEYRING = f"""
import keyring.backend

KEYS = {KEYS!r}

class Held(keyring.backend.KeyringBackend):
    priority = 1

    def get_password(self, service, username):
        return KEYS.get(username) if service == "convergebench" else None

    def set_password(self, service, username, password):
        raise NotImplementedError
"""

UNGUARDED = """
import convergebench.redaction
convergebench.redaction.redact = lambda text, environment=None: text
"""


def writings(key: str) -> dict[str, bytes]:
    """How a key may be written. Made without the code that is under test."""
    forms = {
        "plain": key,
        "its first half": key[: len(key) // 2],
        "its second half": key[len(key) // 2 :],
        "quoted": quote(key, safe=""),
        "in JSON": json.dumps(key)[1:-1].replace("/", "\\/"),
        "in base64": base64.b64encode(key.encode()).decode()[:24],
        "in base64 after Bearer": base64.b64encode(f"Bearer {key}".encode()).decode()[12:32],
        "in hexadecimal": key.encode().hex(),
        "in hexadecimal capitals": key.encode().hex().upper(),
        "escaped as in JSON": "".join(f"\\u{ord(one):04X}" for one in key),
        "escaped as in HTML": "".join(f"&#x{ord(one):x};" for one in key),
        "escaped as in an address": "".join(f"%{ord(one):02x}" for one in key),
        "in base64 twice": base64.b64encode(base64.b64encode(key.encode())).decode()[:32],
        "in groups": " ".join(key[start : start + 4] for start in range(0, len(key), 4)),
        "backwards": key[::-1],
    }
    return {name: form.encode() for name, form in forms.items()}


class Parrot:
    """Speaks as Black Forest Labs and as vLLM-Omni, and repeats every key it hears, in every way it can think of."""

    def __init__(self) -> None:
        self.calls: dict[str, int] = {}
        self.counting = Lock()  # requests come at the same time

    def __call__(self, asked: Request, server: Loopback) -> Answer:
        echo = self.echo(asked)
        told = self.flux(asked, server, echo) if "v1/images" not in asked.route else self.mine(asked, echo)
        heard = quote(" ".join(self.heard(asked)), safe="")
        return Answer(told.status, told.body, {**told.headers, "X-Echo": heard, "Set-Cookie": f"k={heard}"})

    def heard(self, asked: Request) -> list[str]:
        values = (asked.headers.get("x-key"), asked.headers.get("authorization", "").removeprefix("Bearer "))
        return [value for value in values if value]

    def echo(self, asked: Request) -> str:
        told = []
        for key in self.heard(asked):
            told += [form.decode() for form in writings(key).values()]
            told += [f"{key[:6]}*****{key[-4:]}", base64.b64encode(f"Bearer {key}".encode()).decode()]
        return "; ".join([*told, *(f"{name}: {value}" for name, value in asked.headers.items())])

    def count(self, name: str) -> int:
        with self.counting:
            self.calls[name] = self.calls.get(name, 0) + 1
            return self.calls[name]

    def flux(self, asked: Request, server: Loopback, echo: str) -> Answer:
        if asked.route.startswith("/signed"):
            return Answer(body=self.picture())
        if asked.method == "POST":
            number = self.count("flux")
            if number == 1:
                return Answer(429, {"detail": f"slow down, {echo}"}, {"Retry-After": "0"})
            polling = f"{server.address}/v1/get_result?id={number}&key={self.heard(asked)[0]}"
            return Answer(body={"id": f"t {echo}", "polling_url": polling, "cost": 4.0, "you": echo})
        if asked.query["id"] == "3":
            details = {"Moderation Reasons": [f"not allowed for {echo}"]}
            return Answer(body={"id": "t", "status": "Content Moderated", "result": None, "details": details})
        sample = f"{server.address}/signed.png?key={quote(self.heard(asked)[0])}"
        return Answer(body={"id": echo, "status": "Ready", "result": {"sample": sample, "prompt": echo}, echo: echo})

    def mine(self, asked: Request, echo: str) -> Answer:
        if asked.form["model"][1] == b"locked":
            return Answer(403, {"error": {"message": f"Incorrect API key provided: {echo}", "code": echo}})
        number = self.count("mine")
        if number == 1:
            return Answer(500, f"<html>{echo}</html>".encode())
        if number == 2:
            return Answer(body={"data": [], "why": echo})
        if number == 5:
            return Answer(400, {"error": {"message": echo, "code": echo, "type": echo}})
        if number == 6:
            return Answer(400, {"error": {"message": echo, "code": "content_policy_violation"}})
        inside = base64.b64encode(self.picture()).decode()
        return Answer(body={"data": [{"b64_json": inside, "revised_prompt": echo}], "cot_output": echo, "model": echo})

    def picture(self) -> bytes:
        pixels = np.random.default_rng(7).integers(0, 256, (48, 48, 3), np.uint8)
        data = io.BytesIO()
        Image.fromarray(pixels).save(data, "PNG")
        return data.getvalue()


def contents(path: Path) -> Iterator[bytes]:
    """A file's bytes, and what is packed in them: rows, tables, streams."""
    data = path.read_bytes()
    yield data
    if data.startswith(b"SQLite format 3"):  # long texts are spread over pages
        connection = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
        yield "\n".join(connection.iterdump()).encode()
        connection.close()
    if path.suffix == ".parquet":
        yield pl.read_parquet(path).write_ndjson().replace("\\\\", "\\").encode()
    for stream in re.findall(rb"stream\r?\n(.*?)endstream", data, re.S) if data.startswith(b"%PDF") else []:
        try:
            yield zlib.decompress(stream)
        except zlib.error:
            continue


def search(root: Path, said: str) -> dict[str, set[str]]:
    """Where which writing of a key is found: file → writings."""
    places = [(path.relative_to(root).as_posix(), piece) for path in files(root) for piece in contents(path)]
    places += [("what was said", said.encode())]
    found: dict[str, set[str]] = {}
    for key in KEYS.values():
        for writing, needle in writings(key).items():
            for place, piece in places:
                if needle in piece:
                    found.setdefault(place, set()).add(writing)
    return found


def files(root: Path) -> list[Path]:
    return sorted(path for path in root.rglob("*") if path.is_file())


@pytest.fixture
def world(tmp_path: Path) -> Path:
    for index in range(2):
        pixels = np.random.default_rng(index).integers(0, 256, (48, 48, 3), np.uint8)
        path = tmp_path / "pictures" / "scene" / f"scene-{index}.png"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(encode_png(pixels))
    return tmp_path


def run(world: Path, *more: str, held: str = "environment", guarded: bool = True) -> str:
    """`cbench run`, and all it said."""
    modules = world / "modules"
    modules.mkdir()
    environment = {name: value for name, value in os.environ.items() if name not in KEYS}
    environment |= {"PYTHONPATH": str(modules), "CONVERGEBENCH_CACHE": str(world / "cache"), "COLUMNS": "200"}
    environment["CONVERGEBENCH_PLOTS"] = "pdf"  # one kind is enough to look into
    if held == "keyring":
        (modules / "held_keys.py").write_text(KEYRING)
        environment["PYTHON_KEYRING_BACKEND"] = "held_keys.Held"
    else:
        environment |= KEYS
    if not guarded:
        (modules / "sitecustomize.py").write_text(UNGUARDED)
    with serving(Parrot()) as server:
        (world / "study.toml").write_text(STUDY.format(address=server.address))
        words = [sys.executable, "-m", "convergebench.cli.main", "run", "study.toml", "--run", "runs/one", *more]
        done = subprocess.run(words, cwd=world, env=environment, capture_output=True, text=True, timeout=180)
        heard = " ".join(str(one.headers) for one in server.asked)
    assert all(key in heard for key in KEYS.values()), f"the keys were never sent\n{done.stdout}{done.stderr}"
    assert "Traceback" not in done.stderr, done.stderr
    shutil.rmtree(modules)  # holds the keys by intent, compiled ones too, and is no file of the run
    return done.stdout + done.stderr


@pytest.mark.parametrize("held", ["environment", "keyring"])
def test_after_a_run_no_file_and_no_line_holds_a_key(world: Path, held: str) -> None:
    report = held == "environment"  # drawing it twice would take long and show nothing new
    said = run(world, *([] if report else ["--no-report"]), held=held)
    runs = world / "runs" / "one"
    kinds = {path.suffix for path in files(runs)}
    wanted = {".sqlite", ".json", ".png"} | ({".html", ".js", ".parquet", ".csv", ".pdf"} if report else set())
    assert wanted <= kinds, "the search has something to look into"
    assert outcomes(runs) >= {"ok", "transient", "bad-reply", "refused", "error"}, f"every kind of answer came\n{said}"
    assert search(world, said) == {}


def test_the_search_would_find_them(world: Path) -> None:
    """The same run with nothing blotted out: what the parrot says does reach the files and the person."""
    said = run(world, "--no-report", guarded=False)
    found = search(world, said)
    assert found["runs/one/run.sqlite"] == set(writings(KEYS["BFL_API_KEY"]))
    assert "what was said" in found, said


@pytest.mark.parametrize("writing", writings("x" * 8))
def test_the_search_looks_into_every_kind_of_file(tmp_path: Path, writing: str) -> None:
    text = writings(KEYS["MY_SERVER_KEY"])[writing].decode()
    connection = sqlite3.connect(tmp_path / "a.sqlite")
    connection.execute("create table t (x)")
    connection.execute("insert into t values (?)", ("." * 9000 + text,))
    connection.commit()
    connection.close()
    pl.DataFrame({"x": ["." * 9000 + text] * 100}).write_parquet(tmp_path / "a.parquet")
    (tmp_path / "a.pdf").write_bytes(b"%PDF-1.4 stream\n" + zlib.compress(text.encode() * 50) + b"endstream")
    (tmp_path / "a.html").write_text(f"<p>{text}</p>")
    found = search(tmp_path, f"error: {text}")
    assert {place for place, seen in found.items() if writing in seen} == {
        "a.sqlite", "a.parquet", "a.pdf", "a.html", "what was said",
    }  # fmt: skip


def outcomes(run: Path) -> set[str]:
    connection = sqlite3.connect(f"file:{run / 'run.sqlite'}?mode=ro", uri=True)
    found = {str(row[0]) for row in connection.execute("select distinct outcome from attempts")}
    connection.close()
    return found
