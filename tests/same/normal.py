"""The texts of a run without what differs between two runs of the same code: times, versions, paths, image bytes."""

from __future__ import annotations

import io
import re
from pathlib import Path

import polars as pl

_TIMED = ("seconds", "started", "created", "date")
"""Columns and keys whose values are times."""

_EVERYWHERE = (
    (r"(?<![\w.])(\d+\.\d{10})\d+", r"\1"),  # noise of the last bits would be most of the goldens
    (r"data:image/[a-z+]+;base64,[A-Za-z0-9+/=]+", "data:image"),
    (r"(images|thumbs|evidence)/[0-9a-f]{2}/[0-9a-f]+", r"\1/#"),
    (r"\d{4}-\d\d-\d\d(T[\d:.]+(\+00:00|Z)?)?", "DATE"),
    (r"(\| DATE \|) [\d.]+ \| [0-9a-f]+\+? \| [^|]+ \|", r"\1 …"),  # versions, in the card of a data set
    (r'(seconds|started|created)("*:? )?("*:"*)?[\d.]+(e-?\d+)?', r"\1 TIME"),
    (r"(?<![\w.])(?=[0-9a-f]*[a-f])[0-9a-f]{16,}\+?", "#"),
    (r"(@\d+):[0-9a-f]{8,12}\b", r"\1:#"),
    (r'(download_size: |contentSize": ")\d+', r"\1SIZE"),
    (r"(<dt>(?:version of [^<]*|command|git|machine|platform)</dt><dd>)[^<]*", r"\1…"),
)
_COSTS = re.compile(r'(?<=<th class="num">seconds<br>a step</th></tr></thead><tbody>).*?(?=</tbody>)', re.DOTALL)
_COST = re.compile(r'(<td class="num">[^<]*</td>\s*){2}</tr>')
_PROGRESS = re.compile(
    r"^(editing|measuring|asking|examining|exporting|importing|reading|reporting|scoring) +\d.*\n", re.MULTILINE
)
_LEFT_OUT = {".sqlite", ".sqlite-shm", ".sqlite-wal", ".lock", ".png", ".jpg", ".webp", ".svg", ".pdf"}


def normal_file(path: Path) -> str | None:
    """What is compared of a file: all its text, of Parquet the columns; None for images, the journal and figures."""
    if path.suffix in _LEFT_OUT or path.name in ("study.toml", "manifest.json", "vega.js"):
        return None
    if path.suffix == ".parquet":
        frame = pl.read_parquet(path)
        columns = "".join(f"{name}: {kind}\n" for name, kind in frame.schema.items())
        return f"{frame.height} rows\n{columns}"
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".csv":
        text = _without_times(text)
    return _everywhere(text)


def normal_terminal(text: str) -> str:
    """What a command said, without its progress."""
    return _everywhere(_PROGRESS.sub("", text))


def _without_times(text: str) -> str:
    frame = pl.read_csv(io.StringIO(text), infer_schema=False)
    blank = [pl.lit("TIME").alias(name) for name in _TIMED if name in frame.columns]
    return frame.with_columns(blank).write_csv()


def _everywhere(text: str) -> str:
    for pattern, replacement in _EVERYWHERE:
        text = re.sub(pattern, replacement, text)
    return _COSTS.sub(lambda table: _COST.sub("TIME</tr>", table[0]), text)
