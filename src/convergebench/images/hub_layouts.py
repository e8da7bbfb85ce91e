"""Data sets kept as Parquet or Arrow tables with the images inside, as the Hugging Face Hub has them.

Each row of `LAYOUTS` describes the columns of one data set. Selection reads only the small columns; an image is read
when it is examined.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache, partial
from pathlib import Path
from typing import Any

import polars as pl

from convergebench.images.arrow_bounds import require_uncompressed
from convergebench.images.candidates import Candidate, CandidatePool, read_named
from convergebench.images.cells import cell_of, require_small
from convergebench.images.kinds import group_from_instruction, kind_from_instruction
from convergebench.images.parquet_bounds import require_plausible_size
from convergebench.images.table_errors import table_errors

_ARROW_FILE = b"ARROW1"


@dataclass(frozen=True, slots=True)
class TableLayout:
    """The columns of a data set. `keep` filters its rows: column → value."""

    name: str
    image: tuple[str, ...]
    """Columns with the untouched image; the first that exists is used."""
    instruction: str
    id: str | None
    group: str | None
    licence: str
    keep: tuple[tuple[str, object], ...] = ()
    marks: frozenset[str] = frozenset()
    """Columns by which the layout is recognised."""


LAYOUTS = (
    TableLayout(
        name="MagicBrush",
        image=("source_img",),
        instruction="instruction",
        id="img_id",
        group=None,
        licence="CC-BY-4.0",
        # later turns start from an edited image
        keep=(("turn_index", 1),),
        marks=frozenset({"img_id", "turn_index", "source_img", "instruction"}),
    ),
    TableLayout(
        name="GEdit-Bench",
        image=("input_image_raw", "input_image"),
        instruction="instruction",
        id="key",
        group="task_type",
        licence="MIT",
        keep=(("instruction_language", "en"),),
        marks=frozenset({"key", "task_type", "instruction", "instruction_language", "input_image"}),
    ),
    TableLayout(
        name="HumanEdit",
        image=("INPUT_IMG",),
        instruction="EDITING_INSTRUCTION",
        id="IMAGE_ID",
        group="EDITING_TYPE",
        licence="CC-BY-4.0",
        marks=frozenset({"IMAGE_ID", "EDITING_TYPE", "INPUT_IMG", "EDITING_INSTRUCTION"}),
    ),
    TableLayout(
        name="Emu Edit",
        image=("image",),
        instruction="instruction",
        id="hash",
        group="task",
        licence="CC-BY-NC-4.0",
        marks=frozenset({"image", "instruction", "task", "hash"}),
    ),
    TableLayout(
        name="ImgEdit",
        image=("input_images",),
        instruction="prompt",
        id=None,
        group=None,
        licence="not stated",
        marks=frozenset({"input_images", "output_images", "prompt"}),
    ),
)


def read_tables(folder: Path) -> CandidatePool | None:
    """The candidates of a folder of Parquet or Arrow files in a known layout; None when it is not one."""
    files = sorted(path for path in folder.rglob("*") if path.suffix in (".parquet", ".arrow") and path.is_file())
    for path in files:
        with table_errors(path):
            layout = _layout(_scan(path).collect_schema().names())
        if layout is not None:
            found = []
            for file in files:
                with table_errors(file):
                    found += _candidates(file, folder, layout)
            rule = "words of the first instruction: people → face, places → scene, else object"
            return CandidatePool(layout.name, rule, _first_per_image(found))
    return None


def _layout(columns: Iterable[str]) -> TableLayout | None:
    present = set(columns)
    return next((layout for layout in LAYOUTS if layout.marks <= present), None)


def _scan(path: Path) -> pl.LazyFrame:
    if path.suffix == ".parquet":
        return pl.scan_parquet(path)
    require_uncompressed(path)
    with path.open("rb") as stream:
        is_file = stream.read(len(_ARROW_FILE)) == _ARROW_FILE
    return pl.scan_ipc(path) if is_file else pl.read_ipc_stream(path).lazy()


def _candidates(path: Path, folder: Path, layout: TableLayout) -> list[Candidate]:
    table = _scan(path).with_row_index("row_")
    present = table.collect_schema().names()
    if _layout(present) != layout:
        return []
    for column, value in layout.keep:
        table = table.filter(pl.col(column) == value)
    image = next(column for column in layout.image if column in present)
    columns = [column for column in (layout.id, layout.group, layout.instruction) if column]
    part = path.relative_to(folder).as_posix()
    if path.suffix == ".parquet":
        require_plausible_size(path, (*columns, *(column for column, _ in layout.keep)))
    small = require_small(table.select("row_", *columns).collect(), str(path))
    return [
        _candidate(row, layout, part=part, read=partial(_image, path, image, row["row_"]))
        for row in small.iter_rows(named=True)
    ]


def _candidate(row: dict[str, Any], layout: TableLayout, *, part: str, read: partial[bytes]) -> Candidate:
    instruction = str(row[layout.instruction] or "")
    id = str(row[layout.id]) if layout.id else f"{Path(part).stem}-{row['row_']}"
    return Candidate(
        id=id,
        kind=kind_from_instruction(instruction),
        group=str(row[layout.group]) if layout.group else group_from_instruction(instruction),
        licence=layout.licence,
        source=f"{layout.name}: {part}, {layout.id or 'row'} {id}",
        read=read,
    )


def _first_per_image(candidates: list[Candidate]) -> list[Candidate]:
    """The first row of every image id: data sets repeat an image for each of its instructions."""
    first: dict[str, Candidate] = {}
    for candidate in candidates:
        first.setdefault(candidate.id, candidate)
    return list(first.values())


def _image(path: Path, column: str, row: int) -> bytes:
    where = f"{path}, row {row}, {column}"
    with table_errors(path):
        if path.suffix == ".parquet":
            require_plausible_size(path, (column,))
            value = cell_of(pl.scan_parquet(path).select(column).slice(row, 1).collect().get_column(column), 0, where)
        else:
            value = cell_of(_arrow_images(path, column), row, where)
    if isinstance(value, list):
        value = next(iter(value), None)
    if isinstance(value, dict):
        value = value.get("bytes") or value.get("path")
    if isinstance(value, str):
        return read_named(path.parent, value)
    return value if isinstance(value, bytes) else b""


@lru_cache(maxsize=1)
def _arrow_images(path: Path, column: str) -> pl.Series:
    return _scan(path).select(column).collect().get_column(column)
