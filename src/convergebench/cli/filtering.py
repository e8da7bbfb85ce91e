"""`cbench filter FOLDER`: a gate for data pipelines, which sorts images by a no-reference metric."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from convergebench.cli.flags import MOST_WORKERS
from convergebench.cli.results import NOT_PASSED

if TYPE_CHECKING:
    from convergebench.conductor.filter_output import FilterPlaces
    from convergebench.conductor.filtering import Filtered


def filter_images(
    folder: Annotated[Path, typer.Argument(help="Folder of images.", show_default=False)],
    metric: Annotated[
        str, typer.Option("--metric", "-m", help="No-reference metric, or your own FILE.py:NAME.")
    ] = "decay",
    highest: Annotated[
        float | None, typer.Option("--max", help="Pass up to this value; for metrics where lower is better.")
    ] = None,
    lowest: Annotated[
        float | None, typer.Option("--min", help="Pass from this value on; for metrics where higher is better.")
    ] = None,
    false_alarms: Annotated[
        float | None,
        typer.Option(
            help="decay: use the limit that refused at most this share of untouched photographs in the test; without "
            "any limit 0.05 is used.",
            metavar="SHARE",
        ),
    ] = None,
    recursive: Annotated[bool, typer.Option("--recursive/--flat", help="Also look in the folders below.")] = True,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="A row for every image: FILE.csv, FILE.jsonl or FILE.parquet.")
    ] = None,
    keep: Annotated[Path | None, typer.Option(help="LIST.txt: paths of the images that pass.")] = None,
    drop: Annotated[
        Path | None, typer.Option(help="LIST.txt: paths of the images that are refused or have no value.")
    ] = None,
    copy_to: Annotated[Path | None, typer.Option(help="New folder for copies of the images that pass.")] = None,
    link_to: Annotated[Path | None, typer.Option(help="New folder for links to the images that pass.")] = None,
    fail_over: Annotated[
        float | None,
        typer.Option(
            min=0, max=1, metavar="SHARE", help="Exit with code 1 if a larger share is refused or has no value."
        ),
    ] = None,
    workers: Annotated[
        int | None, typer.Option(min=1, max=MOST_WORKERS, help="Number of processes [default: all cores]")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the summary as JSON.")] = False,
) -> None:
    """Sort a folder of images into those that pass a limit on a no-reference metric and those that do not.

    By default: how much a picture looks as if a model had remade it many times.
    """
    import json

    from convergebench.cli.display import say
    from convergebench.cli.terminal import Terminal
    from convergebench.conductor.filter_output import FilterPlaces
    from convergebench.conductor.filtering import FilterOptions, filter_folder
    from convergebench.conductor.observer import Observer

    places = FilterPlaces(out, keep, drop, copy_to, link_to)
    options = FilterOptions(metric, highest, lowest, false_alarms, recursive, places, workers)
    done = filter_folder(folder, options, Observer() if as_json else Terminal())
    failed = fail_over is not None and (done.refused_share is None or done.refused_share > fail_over)
    if as_json:
        say(json.dumps(summary(done, places, failed=failed), ensure_ascii=False, indent=1, allow_nan=False))
    else:
        for line in lines(done, places):
            say(line)
        if fail_over is not None:
            say(f"{'failed' if failed else 'passed':<9} --fail-over {fail_over:g}: {_share_words(done)}")
    if failed:
        raise typer.Exit(NOT_PASSED)


def lines(done: Filtered, places: FilterPlaces) -> list[str]:
    """The summary for people."""
    from convergebench.conductor.filtering import PASSED, REFUSED, UNKNOWN

    limit, counts, images = done.limit, done.verdicts, done.images
    share = f"{100 * counts[PASSED] / images:.1f} %"
    chosen = ""
    if limit.share is not None:
        chosen = (
            f", the strictest limit that refused at most {100 * limit.share:g} % of untouched photographs in the test"
        )
    found = [
        f"limit     {limit.words}{chosen}",
        f"passed    {counts[PASSED]:,} of {images:,} image{'s' * (images != 1)} ({share})",
        f"refused   {counts[REFUSED]:,}",
    ]
    if counts[UNKNOWN]:
        found.append(f"unknown   {counts[UNKNOWN]:,}, unlike the pictures of the test: neither passed nor refused")
    if done.statuses:
        reasons = ", ".join(f"{count:,} {status}" for status, count in sorted(done.statuses.items()))
        found.append(f"no value  {done.statuses.total():,} ({reasons})")
    if done.other_files:
        found.append(f"skipped   {done.other_files:,} file{'s' * (done.other_files != 1)} of other kinds")
    asked = [path for path in places if path is not None]
    found += [f"written   {path}" for path in asked]
    if done.unlisted:
        found.append(f"note      {done.unlisted:,} with a line break in the name is in no list")
    if not asked:
        found.append("next      --out FILE.csv lists every image, --copy-to FOLDER copies those that pass")
    return [*found, rates_words(done)]


def rates_words(done: Filtered) -> str:
    """What the test says about the limit."""
    from convergebench.metrics.no_reference.decay_rates import PAGE

    limit = done.limit
    if limit.tested is None:
        return f"Error rates of {limit.metric} at this limit are unknown: only those of decay were tested."
    if limit.rates is None:
        first, last = limit.tested.limits[0].limit, limit.tested.limits[-1].limit
        return f"Not tested at this limit: its error rates are known from {first:g} to {last:g} only. Read {PAGE}."
    invented = " (PLACEHOLDER NUMBERS, not measured.)" if limit.tested.placeholder else ""
    return f"{limit.rates.words}{invented} Read {PAGE}."


def summary(done: Filtered, places: FilterPlaces, *, failed: bool) -> dict[str, Any]:
    """The same for programs."""
    from dataclasses import asdict

    from convergebench.conductor.filter_output import storable
    from convergebench.conductor.filtering import PASSED, REFUSED, UNKNOWN
    from convergebench.metrics.no_reference.decay_rates import PAGE

    limit = done.limit
    files = {name: storable(str(path)) if path is not None else None for name, path in places._asdict().items()}
    return {
        "folder": storable(str(done.folder)),
        "metric": limit.metric,
        "version": limit.version,
        ("max" if limit.upper else "min"): limit.value,
        "limit_of_false_alarms": limit.share,
        "images": done.images,
        "passed": done.verdicts[PASSED],
        "refused": done.verdicts[REFUSED],
        "unknown": done.verdicts[UNKNOWN],
        "no_value": dict(sorted(done.statuses.items())),
        "other_files": done.other_files,
        "refused_share": done.refused_share,
        "rates": asdict(limit.rates) if limit.rates else None,
        "rates_are_placeholders": bool(limit.tested and limit.tested.placeholder),
        "said": rates_words(done),
        "page": PAGE if limit.tested else None,
        "files": files,
        "exit_code": NOT_PASSED if failed else 0,
    }


def _share_words(done: Filtered) -> str:
    from convergebench.conductor.filtering import UNKNOWN

    unknown = done.verdicts[UNKNOWN]
    if done.refused_share is None:
        return "every image is unknown, so nothing was judged"
    left = f" ({unknown:,} unknown not counted)" if unknown else ""
    return f"{100 * done.refused_share:.1f} % refused or without a value{left}"
