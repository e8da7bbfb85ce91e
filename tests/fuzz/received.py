"""A run that somebody else made: its manifest, its journal, its tables, and what browsers send to its pages."""

from __future__ import annotations

import asyncio
import tempfile
from contextlib import closing
from functools import cache
from pathlib import Path
from typing import Any

import polars as pl
from starlette.datastructures import QueryParams
from starlette.requests import Request

from convergebench.reasoning import rounds, sections
from convergebench.serve.guard import Refusal
from convergebench.serve.rating.answers import checked_values, read_answer
from convergebench.serve.view.analysed import read_analysed
from convergebench.serve.view.queries import answer, read_query
from convergebench.serve.view.trying import read_upload
from convergebench.store.manifest import read_manifest
from convergebench.store.queries.viewing import ViewingReader
from convergebench.store.verify import problems
from tests.cli.damage import make_run
from tests.fuzz.tables import parquet
from tests.fuzz.target import FuzzTarget, as_folder, of_file

BOUNDARY = "xYzZY"
FORM = "".join(
    f'--{BOUNDARY}\r\ncontent-disposition: form-data; name="{name}"{more}\r\n\r\n{value}\r\n'
    for name, more, value in (
        ("picture", '; filename="a.png"', "PNG"),
        *(("editor", "", "sim-jpeg"), ("pair", "", "flip-horizontal"), ("rounds", "", "3")),
    )
)
ANSWER = b'{"item":"0123456789abcdef0123456789abcdef","values":{"score":4,"overall":null},"seconds":1.5}'
QUERY = b"sort=-psnr,case&where=editor:is:sim-jpeg&where=psnr:above:20&find=a&offset=0&limit=5"
COLUMNS = [
    {"name": "case", "label": "case", "kind": "text"},
    {"name": "editor", "label": "editor", "kind": "text"},
    {"name": "psnr", "label": "psnr", "kind": "number"},
    {"name": "spark", "label": "spark", "kind": "series"},
]


@cache
def _run() -> dict[str, bytes]:
    with tempfile.TemporaryDirectory() as name:
        root = make_run(Path(name))
        return {str(path.relative_to(root)): path.read_bytes() for path in root.rglob("*") if path.is_file()}


def _journal(data: bytes) -> None:
    with as_folder({**_run(), "run.sqlite": data}) as root:
        for line in problems(root):
            assert "\n" not in line, line
        with closing(ViewingReader(root)) as reader:
            reader.progress()
            reader.states()


@cache
def _frame() -> pl.DataFrame:
    rows = {"case": ["a", "b", None], "editor": ["x", "y", "x"], "psnr": [1.0, None, float("inf")]}
    return pl.DataFrame(rows).with_columns(pl.Series("spark", [[1.0], [], None], pl.List(pl.Float64)))


def _query(data: bytes) -> None:
    answer(_frame(), COLUMNS, read_query(QueryParams(data.decode("latin-1")), COLUMNS))


def _request(data: bytes, kind: str) -> Request:
    sent = iter([{"type": "http.request", "body": data, "more_body": False}])

    async def receive() -> Any:
        return next(sent)

    headers = [(b"content-type", kind.encode("latin-1"))]
    return Request({"type": "http", "method": "POST", "path": "/", "headers": headers, "query_string": b""}, receive)


def _answer(data: bytes) -> None:
    found = asyncio.run(read_answer(_request(data, "application/json")))
    checked_values(found, {"score": (1.0, 2.0, 3.0, 4.0), "overall": (1.0, 2.0)})


def _upload(data: bytes) -> None:
    kind, _, body = data.partition(b"\n")
    asyncio.run(read_upload(_request(body, kind.decode("latin-1"))))


def _analysed(data: bytes) -> None:
    with as_folder({f"tables/{name}.parquet": data for name in ("chains", "curves")}) as root:
        read_analysed(root)


def _thoughts(data: bytes) -> None:
    rounds(sections(data.decode("utf-8", "replace")))


TARGETS = {
    "run-manifest": FuzzTarget(of_file(read_manifest, ".json"), lambda: (_run()["manifest.json"],)),
    "run-journal": FuzzTarget(_journal, lambda: (_run()["run.sqlite"],)),
    "run-tables": FuzzTarget(_analysed, parquet),
    "web-query": FuzzTarget(_query, lambda: (QUERY,), (Refusal,)),
    "web-answer": FuzzTarget(_answer, lambda: (ANSWER,), (Refusal,)),
    "web-upload": FuzzTarget(
        _upload,
        lambda: (f"multipart/form-data; boundary={BOUNDARY}\n{FORM}--{BOUNDARY}--\r\n".encode(),),
        (Refusal,),
    ),
    "reasoning": FuzzTarget(_thoughts, lambda: (b"**Plan**\n\nAdd a hat.\n\n**Checking**\n\nThe hat is red.",)),
}
