"""A very small real run, and hundreds of ways to damage a copy of it, each the same every time."""

from __future__ import annotations

import json
import random
import shutil
import sqlite3
import tomllib
from collections.abc import Callable, Iterator
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from convergebench.conductor import run_chains
from convergebench.conductor.begin import begin
from convergebench.conductor.prepare import prepare
from convergebench.images.encode import encode_png
from convergebench.measuring.measure import measure
from convergebench.store.run import Run
from convergebench.store.tables import LabelRow
from convergebench.studies.spec import parse_spec

Damage = Callable[[Path], None]
PAGE = 4096
WRONG: tuple[Any, ...] = (None, [], [1, [2, {"a": None}]], 7, -1, 1e300, "text", "", {"deep": {"deeper": [0]}}, True)
CELLS: tuple[Any, ...] = (None, b"\xff\xfe\x00", "not a number", "{broken", -7, 1e308, "\x00")
NOT_TEXT = "cast(x'ff' as text)"
"""A text cell that is no UTF-8."""

STUDY = """
study = "roundtrip"
editors = ["sim-tint"]
[roundtrip]
rounds = 2
[images]
suite = "{suite}"
[edits]
pairs = ["flip-horizontal"]
[measure]
metrics = ["rmse", "returned-width"]
[analysis]
draws = 100
chain_draws = 50
permutations = 99
"""


def make_run(folder: Path) -> Path:
    """Two pictures, one pair, two rounds."""
    for index in range(2):
        pixels = np.random.default_rng(index).integers(0, 256, (4, 4, 3), np.uint8).repeat(8, 0).repeat(8, 1)
        path = folder / "pictures" / "scene" / f"scene-{index}.png"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(encode_png(pixels))
    (folder / "study.toml").write_text(STUDY.format(suite=folder / "pictures"), encoding="utf-8")
    study = prepare(parse_spec(tomllib.loads((folder / "study.toml").read_text(encoding="utf-8"))))
    with Run.create(folder / "small") as run:
        begin(run, study)
        run_chains(run, study.editors, study.chains)
        measure(run, study.metrics, align_mode="auto", workers=1)
        label = ("l1:0", "sim-tint", _case(run), "colour-cast", "image", 1, 1, None, 1, "[0, 0, 1, 1]", None, 0.5)
        run.journal.commit_now([LabelRow(*label, "rule", "rule-1", "", "2026-01-01T00:00:00+00:00")])
    return folder / "small"


def _case(run: Run) -> str:
    ((case,), *_) = run.journal.query("select id from cases order by id")
    return str(case)


def damages(run: Path) -> Iterator[tuple[str, Damage]]:
    """Every damage by its name."""
    yield from _of_manifest(run)
    yield from _of_pages(run)
    yield from _of_tables(run)
    yield from _of_files(run)


def damaged_copy(run: Path, target: Path, damage: Damage) -> Path:
    """A copy with this damage."""
    shutil.copytree(run, target)
    damage(target)
    return target


def _of_manifest(run: Path) -> Iterator[tuple[str, Damage]]:
    content = json.loads((run / "manifest.json").read_text(encoding="utf-8"))
    for place in _places(content):
        for wrong in WRONG:
            yield f"manifest {'.'.join(map(str, place))} = {wrong!r}", _replacing(place, wrong)
    text = (run / "manifest.json").read_bytes()
    for name, data in {
        "empty": b"",
        "cut": text[: len(text) // 2],
        "no utf-8": text.replace(b"scene", b"sc\xff\xfene", 1),
        "deep": b"[" * 100_000,
        "deep tables": b'{"a":' * 100_000,
        "nan": text.replace(b'"draws": 100', b'"draws": NaN', 1),
        "infinite": text.replace(b'"draws": 100', b'"draws": 1e999', 1),
        "endless number": text.replace(b'"draws": 100', b'"draws": ' + b"9" * 5000, 1),
        "half a character": text.replace(b"sim-tint", b"sim\\ud800tint", 1),
        "a list": b"[]",
        "null": b"null",
        "zeros": bytes(len(text)),
    }.items():
        yield f"manifest {name}", _writing("manifest.json", data)


def _places(value: Any, place: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    if place:
        yield place
    parts = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, part in parts:
        yield from _places(part, (*place, key))


def _replacing(place: tuple[Any, ...], wrong: Any) -> Damage:
    def damage(run: Path) -> None:
        path = run / "manifest.json"
        content = json.loads(path.read_text(encoding="utf-8"))
        part = content
        for key in place[:-1]:
            part = part[key]
        part[place[-1]] = wrong
        path.write_text(json.dumps(content), encoding="utf-8")

    return damage


def _writing(file: str, data: bytes) -> Damage:
    def damage(run: Path) -> None:
        (run / file).write_bytes(data)

    return damage


def _of_pages(run: Path) -> Iterator[tuple[str, Damage]]:
    size = (run / "run.sqlite").stat().st_size
    for page in range(size // PAGE):
        yield f"page {page} zeroed", _changing(partial(_zero, start=page * PAGE))
    for seed in range(60):
        yield f"bytes flipped, {seed}", _changing(partial(_flip, seed=seed))
    for share in (0.1, 0.5, 0.9, 0.999):
        yield f"database cut at {share}", _changing(partial(_cut, share=share))
    yield "database empty", _writing("run.sqlite", b"")
    yield "database garbage", _writing("run.sqlite", b"garbage" * 3000)
    yield "a log of garbage", _writing("run.sqlite-wal", b"garbage" * 3000)


def _changing(change: Callable[[bytearray], None]) -> Damage:
    def damage(run: Path) -> None:
        data = bytearray((run / "run.sqlite").read_bytes())
        change(data)
        (run / "run.sqlite").write_bytes(data)

    return damage


def _zero(data: bytearray, *, start: int) -> None:
    data[start : start + PAGE] = bytes(PAGE)


def _cut(data: bytearray, *, share: float) -> None:
    del data[int(len(data) * share) :]


def _flip(data: bytearray, *, seed: int) -> None:
    draw = random.Random(seed)
    for _ in range(draw.choice((1, 3, 30, 300))):
        data[draw.randrange(len(data))] ^= 1 << draw.randrange(8)


def _of_tables(run: Path) -> Iterator[tuple[str, Damage]]:
    with closing(sqlite3.connect(run / "run.sqlite")) as connection:
        tables = [name for (name,) in connection.execute("select name from sqlite_master where type = 'table'")]
        columns = {table: [row[1] for row in connection.execute(f"pragma table_info({table})")] for table in tables}
    for table in tables:
        yield f"no table {table}", _executing(f"drop table {table}")
        yield f"table {table} empty", _executing(f"delete from {table}")
        for column in columns[table]:
            yield f"no column {table}.{column}", _executing(f'alter table {table} rename column "{column}" to gone')
            yield f"{table}.{column} is no utf-8", _executing(_everywhere(table, f'"{column}" = {NOT_TEXT}'))
            for cell in CELLS:
                yield f"{table}.{column} = {cell!r}", _executing(_everywhere(table, f'"{column}" = ?'), cell)
    yield "a version of nobody", _executing("pragma user_version = -3")


def _everywhere(table: str, change: str) -> str:
    return f"update or replace {table} set {change}"


def _executing(statement: str, *values: Any) -> Damage:
    """Against the rules of the schema, as a damaged page is: they are taken out of it first."""

    def damage(run: Path) -> None:
        with closing(sqlite3.connect(run / "run.sqlite", isolation_level=None)) as connection:
            connection.execute("pragma writable_schema = on")
            connection.execute("update sqlite_master set sql = replace(sql, ' not null', '') where type = 'table'")
            connection.execute("pragma writable_schema = reset")
            connection.execute("pragma foreign_keys = off")
            try:
                connection.execute(statement, values)
            except sqlite3.Error:  # a key cannot be empty: then it is not damaged in this way
                return

    return damage


def _of_files(run: Path) -> Iterator[tuple[str, Damage]]:
    def without(file: str) -> Damage:
        return lambda root: (root / file).unlink()

    def folder(file: str) -> Damage:
        def damage(root: Path) -> None:
            (root / file).unlink(missing_ok=True)
            (root / file).mkdir()

        return damage

    images = sorted(path.relative_to(run).as_posix() for path in (run / "images").rglob("*.*"))
    for file in ("manifest.json", "run.sqlite", *images[:3]):
        yield f"no {file}", without(file)
        yield f"a folder at {file}", folder(file)
    yield "a folder at run.lock", folder("run.lock")
    yield "no images", lambda root: shutil.rmtree(root / "images")
    for file in images[:3]:
        yield f"{file} cut", _writing(file, (run / file).read_bytes()[:40])
        yield f"{file} empty", _writing(file, b"")
