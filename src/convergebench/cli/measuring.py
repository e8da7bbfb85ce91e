"""`cbench measure`: fill in metrics over the images a run has stored."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from convergebench.store.manifest import Manifest


def _wanted(manifest: Manifest, metric: list[str] | None, align: str | None) -> list[str]:
    """The metrics asked for; under another alignment all of the run's too, or the report would lose them."""
    from convergebench.metrics import expand

    asked = expand(metric) if metric else []
    changed = align is not None and align != manifest.spec.get("measure", {}).get("align", "strict")
    return list(dict.fromkeys([*asked, *(manifest.metrics if changed or not asked else [])]))


def measure(
    run: Annotated[Path, typer.Argument(help="Run directory.")],
    metric: Annotated[
        list[str] | None,
        typer.Option("--metric", "-m", help="Metric or set to add; repeat [default: those of the run's study]"),
    ] = None,
    align: Annotated[
        str | None, typer.Option(help="strict, fit or crop-aware [default: as the run's study says]")
    ] = None,
    workers: Annotated[int | None, typer.Option(min=1, help="Processes [default: all cores]")] = None,
) -> None:
    """Measure what is missing and write the tables; metrics can be added long after the run."""
    from dataclasses import replace
    from typing import get_args

    from convergebench.cli.display import say, watch
    from convergebench.engine.measure import measure as fill_in
    from convergebench.engine.measure import metric_fingerprint
    from convergebench.engine.progress import Progress
    from convergebench.errors import StudyError
    from convergebench.images.align import AlignMode
    from convergebench.metrics import load_metric
    from convergebench.registry import suggest
    from convergebench.store.manifest import command_line, session
    from convergebench.store.run import Run

    if align is not None and align not in get_args(AlignMode):
        raise StudyError(f"unknown alignment '{align}'{suggest(align, get_args(AlignMode))}")
    with Run.existing(run) as opened:
        manifest = opened.manifest
        wanted = _wanted(manifest, metric, align)
        if not wanted:
            raise StudyError("this run names no metric yet; add --metric default (cbench list metrics)")
        spec = dict(manifest.spec)
        spec["measure"] = {**spec.get("measure", {}), **({"align": align} if align else {})}
        mode = spec["measure"].setdefault("align", "strict")
        opened.extend(
            replace(
                manifest,
                spec=spec,
                metrics={name: metric_fingerprint(load_metric(name)) for name in wanted},
                sessions=[session(command_line())],
            )
        )
        progress = Progress()
        with watch("measuring", progress, unit="values"):
            added = fill_in(opened, wanted, align_mode=mode, workers=workers, progress=progress)
    from convergebench.cli.reporting import write_measurements

    path, missing = write_measurements(run, list(wanted))
    say(f"{added:,} values added; {path} (next: cbench report {run})")
    if missing:
        say("no value for " + ", ".join(f"{count:,} ({reason})" for reason, count in missing.items()))
    if "size" in missing and mode == "strict":
        say("sizes differ; to measure those too, choose how they are made equal: --align fit or --align crop-aware")
