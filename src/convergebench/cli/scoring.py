"""`cbench measure FILES…`: values of loose files as CSV or JSON."""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING

from convergebench.cli.display import say, watch
from convergebench.cli.measuring import read_roles, where
from convergebench.engine.asker import role_of
from convergebench.engine.asking import ask_files
from convergebench.engine.loose import find_images, references_of, score
from convergebench.engine.measure import sorted_out
from convergebench.engine.progress import Progress
from convergebench.errors import StudyError
from convergebench.metrics import expand
from convergebench.metrics.base import Reading
from convergebench.roles import roles_of
from convergebench.sheets import as_csv

if TYPE_CHECKING:
    from convergebench.cli.measuring import How

Row = Mapping[str, object]


def score_files(
    paths: Sequence[Path],
    metric: Sequence[str],
    align: str,
    reference: Path | None,
    instruction: str,
    out: Path | None,
    how: How,
) -> None:
    """Every metric of every file, in the order in which both were named."""
    images = find_images(paths)
    if not metric:
        raise StudyError("name what to measure, e.g. --metric niqe, or --metric lpips --reference FILE")
    if out is not None and out.suffix not in (".csv", ".json"):
        raise StudyError(f"{out}: give --out a name that ends in .csv or .json")
    if out is not None and not out.parent.is_dir():  # said before the work, not after it
        raise StudyError(f"there is no folder {out.parent} for --out {out}")
    references = references_of(images, reference)
    pixels, questions = sorted_out(expand(metric))
    roles = roles_of({"roles": read_roles(how.roles) if how.roles else {}})
    for question in questions:
        role_of(question, roles)  # whoever has nobody to ask hears of it before the work
    place = where(pixels, how.device, how.precision or "float32")
    found: dict[tuple[str, str], Reading] = {}
    progress = Progress()
    with watch("measuring", progress, unit="values", of="lots") if out else nullcontext():
        if pixels:
            options = {"references": references, "align_mode": align, "workers": how.workers, "place": place}
            for one in score(images, pixels, progress=progress, **options):  # type: ignore[arg-type]
                found[one.path, one.metric] = one.reading
        if questions:
            asked = {
                "references": references,
                "instruction": instruction,
                "max_cost": how.max_cost,
                "progress": progress,
            }
            for path, readings in zip(images, ask_files(images, questions, roles, **asked), strict=True):  # type: ignore[arg-type]
                found.update({(str(path), name): reading for name, reading in readings.items()})
    names = [*pixels, *(one.facts.name for one in questions)]
    rows = [
        {
            "path": str(path),
            "reference": str(references.get(path, "")),
            "metric": name,
            **found[str(path), name]._asdict(),
        }
        for path in images
        for name in names
    ]
    if out is None:
        sys.stdout.write(as_text(rows, "csv"))
        return
    _write(out, as_text(rows, out.suffix.removeprefix(".")))
    missing = sum(row["value"] is None for row in rows)
    say(
        f"{len(rows):,} values of {len(images):,} images: {out}"
        + (f" ({missing:,} without a value)" if missing else "")
    )


def as_text(rows: Sequence[Row], form: str) -> str:
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
