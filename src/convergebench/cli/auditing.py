"""`cbench audit`: can a quality metric be trusted on pictures that were edited again and again?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from convergebench.cli.flags import MOST_WORKERS, dollars
from convergebench.cli.measuring import TRUST

if TYPE_CHECKING:
    from convergebench.analysis.audit.settings import AuditSettings
    from convergebench.cli.measuring import How
    from convergebench.cli.rating import Wish
    from convergebench.store.manifest import Manifest

KEPT = ("images", "report", "tables", "evidence", "rubrics")
"""Folders of a run that belong to other commands."""


def audit(
    runs: Annotated[list[Path], typer.Argument(help="Run directories, our own or imported ones.")],
    metric: Annotated[
        list[str] | None,
        typer.Option(
            "--metric", "-m", help="No-reference metric or set; repeat [default: as the study says, or audit]"
        ),
    ] = None,
    gaps: Annotated[
        str | None, typer.Option(help="Steps to hold against the baseline, e.g. 5,10,20 [default: what chains reach]")
    ] = None,
    baseline: Annotated[
        int | None, typer.Option(min=0, help="Step that the others are held against [default: 1]")
    ] = None,
    by: Annotated[
        str | None, typer.Option(help="Count whole rounds or every edit: round, step [default: round]")
    ] = None,
    percentile: Annotated[
        list[float] | None, typer.Option(help="Where a filter is set; repeat [default: 5, 25 and 50]")
    ] = None,
    opinions: Annotated[
        Path | None, typer.Option(help="CSV of pictures that people rated: image,mos; paths relative to it.")
    ] = None,
    repeat: Annotated[
        int | None, typer.Option(min=0, help="Pictures scored again to see whether scores repeat [default: 2]")
    ] = None,
    roles: Annotated[Path | None, typer.Option(help="TOML file with [roles.rater]: who answers questions.")] = None,
    trust_roles: Annotated[bool, typer.Option("--trust-roles", help=TRUST)] = False,
    device: Annotated[str, typer.Option(help="Where networks run: auto, cpu, cuda, cuda:1.")] = "auto",
    precision: Annotated[
        str | None, typer.Option(help="Of networks, float32 or bfloat16 [default: as the study says, else float32]")
    ] = None,
    workers: Annotated[int | None, typer.Option(min=1, max=MOST_WORKERS, help="Processes [default: all cores]")] = None,
    max_cost: Annotated[
        float | None,
        typer.Option(min=0, callback=dollars, help="Dollars: stop before the question that would exceed it."),
    ] = None,
    no_measure: Annotated[bool, typer.Option("--no-measure", help="Only what is measured already.")] = False,
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", help="Folder for page, tables and plots [default: RUN/audit, or audit]"),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the findings as JSON.")] = False,
    title: Annotated[str, typer.Option(help="Heading of the page.")] = "",
) -> None:
    """Hold no-reference metrics against pictures whose decay is known: which notice it, and which reward it?"""
    from convergebench.cli.measuring import How
    from convergebench.cli.rating import Wish

    typed = _typed(gaps, baseline, by, percentile)
    wish = Wish(tuple(metric or ()), not no_measure, repeat, opinions, out, title, as_json, typed)
    stopped = make_audit(runs, wish, How(workers, device, precision, roles, max_cost, trust_roles))
    if stopped is not None:
        from convergebench.cli.display import say_beside

        say_beside(f"stopped: {stopped}; nothing is lost, the same command goes on")
        raise typer.Exit(3)


def make_audit(runs: Sequence[Path], wish: Wish, how: How) -> str | None:
    """Measure, judge, write and print; why measuring stopped before its time, or None."""
    import sys
    from contextlib import nullcontext, redirect_stdout

    from convergebench.cli.display import say
    from convergebench.cli.rating import Rating
    from convergebench.engine.audited import wanted_metrics
    from convergebench.report.audit.assemble import require_pictures, run_names
    from convergebench.store.manifest import read_manifest
    from convergebench.store.run import require_run

    for path in runs:
        require_pictures(require_run(path))
    named = run_names(runs)
    manifests = {name: read_manifest(path / "manifest.json") for name, path in named.items()}
    settings = _settings(manifests, wish.typed)
    wanted = wanted_metrics(wish.metrics or _own_metrics(named, manifests))
    target = _target(wish.out, runs)
    work = Rating(named, manifests, settings, wanted, wish, how)
    # with --json, stdout is for the answer alone
    with redirect_stdout(sys.stderr) if wish.as_json else nullcontext():
        page, summary = work.done(target)
    if wish.as_json:
        import json

        say(json.dumps(summary, ensure_ascii=False, indent=1, allow_nan=False))
    else:
        say(f"\naudit   {page}\ntables  {target / 'tables'}\nnext    open the page: can you trust this metric?")
    return work.stopped


def _typed(
    gaps: str | None, baseline: int | None, by: str | None, percentiles: Sequence[float] | None
) -> dict[str, Any]:
    """Constants as they were typed; a bad one is told by its flag, not by its place in a study file."""
    from convergebench.errors import StudyError

    if by not in (None, "round", "step"):
        raise StudyError(f"--by {by}: say round or step")
    for one in percentiles or ():
        if not 0 < one < 100:
            raise StudyError(f"--percentile {one:g}: give a number between 0 and 100, e.g. --percentile 5")
    return {
        "gaps": None if gaps is None else _numbers(gaps),
        "baseline": baseline,
        "by": by,
        "percentiles": percentiles or None,
    }


def _numbers(text: str) -> list[int]:
    from convergebench.errors import StudyError

    try:
        found = [int(word) for word in text.split(",")]
    except ValueError:
        found = []
    if not found or min(found) < 1:
        raise StudyError(f"--gaps {text}: give whole numbers with commas between them, e.g. --gaps 5,10,20")
    return found


def _settings(manifests: Mapping[str, Manifest], typed: Mapping[str, Any]) -> AuditSettings:
    """The first run's constants with what was typed in their place, checked as a study file's."""
    from convergebench.cli.display import say_beside
    from convergebench.documents import check_document
    from convergebench.report.audit.assemble import audit_settings
    from convergebench.studies.spec import AnalysisTable

    tables = {name: manifest.spec.get("analysis", {}).get("audit", {}) for name, manifest in manifests.items()}
    own, *others = tables.items()
    different = [name for name, table in others if table != own[1] and table]
    if different:
        say_beside(f"note: [analysis.audit] of {', '.join(different)} is not that of {own[0]}, which counts here")
    whole = {**own[1], **{key: value for key, value in typed.items() if value is not None}}
    checked = check_document({"audit": whole}, AnalysisTable, where="settings").audit
    return audit_settings({"analysis": {"audit": checked.model_dump()}})


def _own_metrics(named: Mapping[str, Path], manifests: Mapping[str, Manifest]) -> list[str]:
    """What the runs' studies name; a study of another kind names none, and the whole set is audited."""
    from convergebench.engine.audited import WHOLE
    from convergebench.store.rubrics import readable

    found: dict[str, None] = {}
    for run, one in manifests.items():
        own = one.spec.get("audit", {}).get("metrics", [WHOLE]) if one.study == "audit" else [WHOLE]
        found.update(dict.fromkeys(readable(named[run], name) for name in own))
    return list(found)


def _target(out: Path | None, runs: Sequence[Path]) -> Path:
    from convergebench.errors import StudyError
    from convergebench.store.run import is_run

    target = out or (runs[0] / "audit" if len(runs) == 1 else Path("audit"))
    if target.exists() and not target.is_dir():
        raise StudyError(f"--out {target} is a file; name a folder")
    if is_run(target):
        raise StudyError(f"--out {target} is a run; name another folder, e.g. --out {target / 'audit'}")
    kept = {(run / name).resolve(): run for run in runs for name in KEPT}
    inside = next((run for folder, run in kept.items() if target.resolve().is_relative_to(folder)), None)
    if inside is not None:
        raise StudyError(
            f"--out {target}: {inside} keeps other things there; name another folder, e.g. {inside / 'audit'}"
        )
    # an audit writes its data before its page, so a page without data is somebody else's
    if (target / "index.html").exists() and not (target / "audit.json").is_file():
        raise StudyError(f"--out {target} has an index.html that is no audit's; name another folder")
    return target
