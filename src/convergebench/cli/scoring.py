"""`cbench measure FILES…`: values of single image files as CSV or JSON."""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from convergebench.cli.terminal import Terminal
from convergebench.conductor.observer import Observer
from convergebench.conductor.scoring import score_files
from convergebench.errors import StudyError
from convergebench.sheets import as_csv

if TYPE_CHECKING:
    from convergebench.conductor.options import MeasureOptions


def print_scores(
    paths: Sequence[Path], metrics: Sequence[str], out: Path | None, options: MeasureOptions, **others: Any
) -> None:
    """Score files and write the table to `out`, or to standard output."""
    if out is not None and out.suffix not in (".csv", ".json"):
        raise StudyError(f"{out}: give --out a name that ends in .csv or .json")
    if out is not None and not out.parent.is_dir():  # said before the work, not after it
        raise StudyError(f"there is no folder {out.parent} for --out {out}")
    shown = Terminal() if out else Observer()  # without --out, standard output is for the table alone
    rows = score_files(paths, metrics, options=options, observer=shown, **others)
    if out is None:
        sys.stdout.write(as_text(rows, "csv"))
        return
    _write(out, as_text(rows, out.suffix.removeprefix(".")))
    images, missing = len({row["path"] for row in rows}), sum(row["value"] is None for row in rows)
    shown.say(
        f"{len(rows):,} values of {images:,} images: {out}" + (f" ({missing:,} without a value)" if missing else "")
    )


def as_text(rows: Sequence[Mapping[str, object]], form: str) -> str:
    """The rows as `csv` or `json`."""
    if form == "json":
        # JSON has no infinity: an unchanged image's PSNR is null with a status of its own
        endless = {"value": None, "status": "infinite"}
        plain = [{**row, **(endless if row["value"] in (math.inf, -math.inf) else {})} for row in rows]
        return json.dumps(plain, ensure_ascii=False, indent=1, allow_nan=False) + "\n"
    return as_csv(list(rows[0]), rows)


def _write(path: Path, text: str) -> None:
    """All of it or nothing: a reader never finds half a table."""
    scratch = path.with_name(f".{path.name}.part")
    scratch.write_text(text, encoding="utf-8")
    scratch.replace(path)
