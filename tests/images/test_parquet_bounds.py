"""An untrusted Parquet file fills no memory, whatever it unpacks to."""

from __future__ import annotations

import resource
import struct
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from convergebench.datasets.pictures import in_table
from convergebench.datasets.rows import read_rows
from convergebench.errors import StudyError
from convergebench.images import cells, parquet_bounds
from convergebench.images.arrow_bounds import require_uncompressed
from convergebench.images.cells import bytes_in, cell_of, require_small
from convergebench.images.hub_layouts import read_tables
from convergebench.images.parquet_bounds import require_plausible_size

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")

MEGABYTE = 1 << 20


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """The limits a hundredth of what they are, so that the tests need not make what they forbid."""
    monkeypatch.setattr(parquet_bounds, "SMALL", 5 * MEGABYTE)
    monkeypatch.setattr(parquet_bounds, "MOST_VALUES", 200_000)
    monkeypatch.setattr(cells, "LARGEST_TABLE", 10 * MEGABYTE)
    monkeypatch.setattr(cells, "LARGEST_CELL", 5 * MEGABYTE)


def written(path: Path, kind: str) -> Path:
    """Tables that unpack to far more than they weigh, each in its own way."""
    zeros = bytes(40 * MEGABYTE)
    plain = {"compression": "zstd", "use_dictionary": False}
    if kind == "one long cell":
        pq.write_table(pa.table({"image": [zeros]}), path, **plain)
    elif kind == "many groups of rows":
        pq.write_table(pa.table({"image": [zeros[:MEGABYTE]] * 40}), path, row_group_size=2, **plain)
    elif kind == "inside a struct":
        pq.write_table(pa.table({"image": [{"bytes": zeros, "path": "x"}]}), path, **plain)
    elif kind == "nothing, many times":
        pq.write_table(pa.table({"image": pa.nulls(3_000_000, pa.binary())}), path)
    elif kind == "beginnings in common":
        encoding = {"image": "DELTA_BYTE_ARRAY"}
        table = pa.table({"image": [zeros[:MEGABYTE]] * 100})
        pq.write_table(table, path, use_dictionary=False, compression="zstd", column_encoding=encoding)
    elif kind == "a wide value in a dictionary":
        wide = pa.array([zeros[:MEGABYTE]], pa.binary(MEGABYTE))
        pq.write_table(pa.table({"image": pa.DictionaryArray.from_arrays(pa.array([0] * 100, pa.int8()), wide)}), path)
    elif kind == "gzip":
        pq.write_table(pa.table({"image": [zeros]}), path, compression="gzip", use_dictionary=False)
    return path


KINDS = [
    "one long cell", "many groups of rows", "inside a struct", "nothing, many times", "beginnings in common",
    "a wide value in a dictionary", "gzip",
]  # fmt: skip


@pytest.mark.parametrize("kind", KINDS)
def test_a_file_that_unpacks_to_more_than_it_has_reason_to_is_refused(tmp_path: Path, kind: str) -> None:
    path = written(tmp_path / "a.parquet", kind)
    assert path.stat().st_size < MEGABYTE
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for read in (
        lambda: require_plausible_size(path),
        lambda: read_rows(path),
        lambda: in_table(path, "image", 0).read(),
    ):
        with pytest.raises(StudyError) as refused:
            read()
        assert "\n" not in str(refused.value)
        assert str(path) in str(refused.value)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 30_000  # KiB


def test_a_value_that_many_rows_share_is_kept_once_and_given_once(tmp_path: Path) -> None:
    """Four megabytes, four hundred times: a cell can be read, all of them together cannot."""
    path = tmp_path / "a.parquet"
    shared = pa.DictionaryArray.from_arrays(pa.array([0] * 400, pa.int32()), pa.array([bytes(4 * MEGABYTE)]))
    pq.write_table(pa.table({"image": shared}), path, compression="zstd")
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    assert len(in_table(path, "image", 399).read()) == 4 * MEGABYTE
    with pytest.raises(StudyError, match="1,600 MiB"):
        read_rows(path)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 100_000  # KiB


def test_a_footer_that_lies_is_not_believed(tmp_path: Path) -> None:
    """The sums in the footer are set to one; the pages themselves tell."""
    path = written(tmp_path / "a.parquet", "one long cell")
    data = bytearray(path.read_bytes())
    size = pq.ParquetFile(path).metadata.row_group(0).column(0).total_uncompressed_size
    encoded = zigzag(size)
    (length,) = struct.unpack("<I", data[-8:-4])
    place = data.index(encoded, len(data) - 8 - length)
    while place >= 0:
        data[place : place + len(encoded)] = b"\x82" + b"\x80" * (len(encoded) - 2) + b"\x00"  # the same length on disk
        place = data.find(encoded, place)
    path.write_bytes(data)
    assert pq.ParquetFile(path).metadata.row_group(0).column(0).total_uncompressed_size == 1
    with pytest.raises(StudyError, match="unpacks from"):
        require_plausible_size(path)


def zigzag(number: int) -> bytes:
    """A number as Thrift writes it."""
    value, written_ = number << 1, bytearray()
    while value > 127:
        written_.append(value & 127 | 128)
        value >>= 7
    return bytes([*written_, value])


def test_a_data_set_of_the_hub_is_looked_at_in_the_same_way(tmp_path: Path) -> None:
    columns = {"image": [bytes(40 * MEGABYTE)], "instruction": ["add a hat"], "task": ["add"], "hash": ["h"]}
    pq.write_table(pa.table(columns), tmp_path / "a.parquet", compression="zstd", use_dictionary=False)
    pool = read_tables(tmp_path)
    assert pool is not None
    with pytest.raises(StudyError, match="unpacks from"):
        pool.candidates[0].read()


@pytest.mark.parametrize("compression", [None, "zstd", "lz4"])
@pytest.mark.parametrize("kind", ["stream", "file"])
@pytest.mark.parametrize("shared", [False, True])
def test_a_compressed_arrow_table_is_refused(tmp_path: Path, compression: str | None, kind: str, shared: bool) -> None:
    words = pa.array(["add a hat"] * 5)
    columns = {"image": [b"x"] * 5, "instruction": words, "task": ["add"] * 5, "hash": list("abcde")}
    table = pa.table(columns | ({"instruction": words.dictionary_encode()} if shared else {}))
    options = pa.ipc.IpcWriteOptions(compression=compression)
    make = pa.ipc.new_stream if kind == "stream" else pa.ipc.new_file
    with pa.OSFile(str(tmp_path / "a.arrow"), "wb") as file, make(file, table.schema, options=options) as writer:
        writer.write_table(table, max_chunksize=2)
    if compression is None:
        pool = read_tables(tmp_path)
        assert pool is not None
        assert pool.candidates[4].read() == b"x"
        return
    with pytest.raises(StudyError, match="rewrite it without compression"):
        read_tables(tmp_path)


VALUES = st.none() | st.text(max_size=20)
ROWS = st.lists(
    st.fixed_dictionaries(
        {
            "image": st.none() | st.fixed_dictionaries({"bytes": st.none() | st.binary(max_size=50), "path": VALUES}),
            "words": VALUES,
            "list": st.none() | st.lists(VALUES, max_size=3),
            "number": st.none() | st.integers(-5, 5),
        }
    ),
    min_size=1,
    max_size=20,
)
SCHEMA: dict[str, Any] = {
    "image": pl.Struct({"bytes": pl.Binary, "path": pl.String}),
    "words": pl.String,
    "list": pl.List(pl.String),
    "number": pl.Int64,
}


@pytest.mark.parametrize("compression", ["zstd", "snappy", "gzip", "uncompressed"])
@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(rows=ROWS)
def test_every_ordinary_table_is_read_as_it_is(tmp_path: Path, rows: list[dict[str, object]], compression: str) -> None:
    path = tmp_path / f"{abs(hash(str(rows)))}.parquet"
    table = pl.DataFrame(rows, schema=SCHEMA)
    table.write_parquet(path, compression=compression)  # type: ignore[arg-type]
    assert read_rows(path) == table.to_dicts()
    assert sum(map(bytes_in, table.get_columns())) < 10_000
    require_small(table, "it")
    assert [cell_of(table["words"], row, "it") for row in range(len(rows))] == table["words"].to_list()


@settings(max_examples=200, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(
    place=st.integers(0, 800), value=st.integers(0, 255), suffix=st.sampled_from(["parquet", "arrow", "stream.arrow"])
)
def test_a_damaged_file_is_told_in_one_line(tmp_path: Path, place: int, value: int, suffix: str) -> None:
    path = tmp_path / f"{place}-{value}.{suffix}"
    table = pl.DataFrame({"a": ["x", "y"], "b": [b"1", b"2"]})
    if suffix == "parquet":
        table.write_parquet(path)
    elif suffix == "arrow":
        table.write_ipc(path)
    else:
        table.write_ipc_stream(path)
    data = bytearray(path.read_bytes())
    data[-1 - place % len(data)] = value
    path.write_bytes(data)
    fault = ""
    try:
        (require_plausible_size if suffix == "parquet" else require_uncompressed)(path)
    except StudyError as error:
        fault = str(error)
    assert "\n" not in fault
