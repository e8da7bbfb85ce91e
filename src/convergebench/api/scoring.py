"""`score`: metrics of single images, files or not."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from convergebench.api.calling import call, call_async, metric_names, options_of, several
from convergebench.api.pictures import is_picture
from convergebench.conductor.options import MeasureOptions
from convergebench.conductor.scoring import score_files
from convergebench.errors import StudyError, Unmeasurable
from convergebench.images.pictures import picture_bytes
from convergebench.metrics import SETS
from convergebench.registry import names

if TYPE_CHECKING:
    from convergebench.images.pictures import Picture

    AnyMetric = str | Callable[..., float]
    """A name, or a function `f(image) -> float` or `f(image, reference) -> float` with `better` and `range`."""
    Pictures = Picture | Sequence[Picture] | Mapping[str, Picture]

SCHEMA = {
    "image": pl.String,
    "reference": pl.String,
    "metric": pl.String,
    "value": pl.Float64,
    "status": pl.String,
    "detail": pl.String,
}


def score(
    images: Pictures,
    reference: Picture | None = None,
    metric: AnyMetric | Sequence[AnyMetric] | None = None,
    *,
    align: str | None = None,
    instruction: str = "",
    **options: Any,
) -> float | pl.DataFrame:
    """Metrics of one or several images, each alone or compared with one reference.

    One image (path, PIL image or array) and one metric give a number, or raise `Unmeasurable` with the status that says
    why there is none. Everything else gives a frame: image, reference, metric, value, status, detail. A folder stands
    for the images below it. `options` are those of `MeasureOptions` (device, workers, roles, max_cost).
    """
    return call(_work(images, reference, metric, align, instruction, options))


async def score_async(
    images: Pictures,
    reference: Picture | None = None,
    metric: AnyMetric | Sequence[AnyMetric] | None = None,
    *,
    align: str | None = None,
    instruction: str = "",
    **options: Any,
) -> float | pl.DataFrame:
    """The same as `score`, as a coroutine."""
    return await call_async(_work(images, reference, metric, align, instruction, options))


def _work(
    images: Pictures,
    reference: Picture | None,
    metric: AnyMetric | Sequence[AnyMetric] | None,
    align: str | None,
    instruction: str,
    options: Mapping[str, Any],
) -> Callable[[], float | pl.DataFrame]:
    def work() -> float | pl.DataFrame:
        metrics = metric_names(metric, "metric")
        if not metrics:
            named = isinstance(reference, str) and reference in (*names("metrics"), *SETS)
            hint = f'metric="{reference}"' if named else 'metric="niqe", or reference=IMAGE, metric="lpips"'
            raise StudyError(f"name what to measure: score(images, {hint})")
        if reference is not None and not is_picture(reference):
            raise StudyError("reference is one image for all images; call score() once for each pair")
        measuring = options_of(MeasureOptions, options, "score()")
        with tempfile.TemporaryDirectory() as folder:
            files = _files(images, Path(folder) / "images")
            beside = _files(reference, Path(folder) / "reference") if is_picture(reference) else {}
            rows = score_files(
                list(files),
                metrics,
                align=align,
                reference=next(iter(beside), None),
                instruction=instruction,
                options=measuring,
            )
        shown = {str(path): name for path, name in (*files.items(), *beside.items())}
        table = [
            {**row, "image": shown.get(str(row["path"]), str(row["path"])),
             "reference": shown.get(str(row["reference"]), str(row["reference"])),
             "detail": _named(str(row["detail"] or ""), shown)}
            for row in rows
        ]  # fmt: skip
        if (
            is_picture(images)
            and len(table) == 1
            and (callable(metric) or (isinstance(metric, str) and metric not in SETS))
        ):
            return _number(table[0])
        return pl.DataFrame([[row[column] for column in SCHEMA] for row in table], schema=SCHEMA, orient="row")

    return work


def _named(detail: str, shown: Mapping[str, str]) -> str:
    """The detail with the names of pictures in place of their files."""
    for path, name in shown.items():
        detail = detail.replace(path, name)
    return detail


def _number(row: Mapping[str, Any]) -> float:
    if row["value"] is None:
        raise Unmeasurable(str(row["status"]), f"{row['metric']} has no value: {row['detail'] or row['status']}")
    return float(row["value"])


def _files(images: Any, folder: Path) -> dict[Path, str]:
    """Every picture as a file, with its name; what is in memory is written below `folder`."""
    if isinstance(images, Mapping):
        named = [(str(name), one) for name, one in images.items()]
    else:
        given = [images] if is_picture(images) else several(images, "images")
        named = [
            (str(one) if isinstance(one, str | Path) else f"image-{index}", one) for index, one in enumerate(given)
        ]
    found: dict[Path, str] = {}
    for index, (name, one) in enumerate(named):
        if isinstance(one, str | Path):
            path = Path(one).expanduser()
        else:
            folder.mkdir(parents=True, exist_ok=True)
            path = folder / f"{index}.png"
            path.write_bytes(picture_bytes(one))
        if path in found:
            raise StudyError(f"{path} is given twice; name each file once")
        found[path] = name
    if not found:
        raise StudyError("there is no image to score; give at least one")
    return found
