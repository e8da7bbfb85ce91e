"""Parquet and Arrow tables of data sets: the readers of their bounds, and the tables themselves."""

from __future__ import annotations

import io
from functools import cache
from pathlib import Path

import polars as pl

from convergebench.datasets.pictures import in_table
from convergebench.datasets.rows import columns_of, read_rows
from convergebench.images.arrow_bounds import require_uncompressed
from convergebench.images.curate import curate
from convergebench.images.parquet_bounds import require_plausible_size
from convergebench.images.thrift import ThriftReader, Unreadable
from tests.fuzz.pictures import picture
from tests.fuzz.target import FuzzTarget, as_folder, of_file


@cache
def frame() -> pl.DataFrame:
    """A table as the Hub has it: texts, numbers, images in a struct, and lists."""
    image = {"bytes": picture("PNG"), "path": "a.png"}
    return pl.DataFrame(
        {
            "img_id": ["1", "2", "3"],
            "turn_index": [1, 2, 1],
            "instruction": ["add a hat", "remove it", None],
            "source_img": [image, image, None],
            "tags": [["a"], [], ["b", "c"]],
        },
        strict=False,
    )


@cache
def parquet() -> tuple[bytes, ...]:
    """The table under several compressions."""
    return tuple(_written("parquet", compression=name) for name in ("uncompressed", "zstd", "snappy", "gzip"))


@cache
def arrow() -> tuple[bytes, ...]:
    """The table as a file, as a stream and compressed."""
    stream = io.BytesIO()
    frame().write_ipc_stream(stream)
    return _written("ipc"), stream.getvalue(), _written("ipc", compression="zstd")


def _written(form: str, **more: object) -> bytes:
    data = io.BytesIO()
    getattr(frame(), f"write_{form}")(data, **more)
    return data.getvalue()


def _thrift(data: bytes) -> None:
    ThriftReader(memoryview(data), 0).read_struct()


def _rows(path: Path) -> None:
    columns_of(path)
    read_rows(path)


def _curate(suffix: str, data: bytes) -> None:
    with as_folder({f"set/part{suffix}": data}) as folder:
        curate(str(folder / "set"), n=1, seed=0, out=folder / "out")


TARGETS = {
    "parquet-bounds": FuzzTarget(of_file(require_plausible_size, ".parquet"), parquet),
    "arrow-bounds": FuzzTarget(of_file(require_uncompressed, ".arrow"), arrow),
    "thrift": FuzzTarget(_thrift, lambda: (b"\x15\x02\x19\x1c\x18\x04root\x15\x02\0\0", b"\0"), (Unreadable,)),
    "parquet-rows": FuzzTarget(of_file(_rows, ".parquet"), parquet),
    "parquet-cell": FuzzTarget(of_file(lambda path: in_table(path, "source_img", 1).read(), ".parquet"), parquet),
    "hub-parquet": FuzzTarget(lambda data: _curate(".parquet", data), parquet),
    "hub-arrow": FuzzTarget(lambda data: _curate(".arrow", data), arrow),
}
