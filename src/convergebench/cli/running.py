"""`cbench run`: edit, measure, report."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from convergebench.cli.flags import ALL_PLOTS, MOST_WORKERS, dollars, kinds_of, require_names
from convergebench.cli.reporting import Plots

if TYPE_CHECKING:
    from convergebench.engine.session import Prepared
    from convergebench.metrics.place import Place
    from convergebench.store.run import Run
    from convergebench.studies.spec import StudySpec


EDITOR = (
    "Editor to use instead of the study's: a name of `cbench list editors`, a nickname, PROVIDER:MODEL, "
    "module:Class or an expression such as 'paste-back(sim-jpeg)'; repeat for more."
)


def run(
    study: Annotated[Path, typer.Argument(help="Study file, e.g. studies/roundtrip.toml.")],
    run: Annotated[
        Path | None, typer.Option("--run", help="Run directory, new or to go on with [default: runs/STUDY]")
    ] = None,
    editor: Annotated[list[str] | None, typer.Option("--editor", "-e", help=EDITOR)] = None,
    suite: Annotated[str | None, typer.Option(help="Suite, folder or manifest instead of the study's.")] = None,
    rounds: Annotated[
        int | None, typer.Option("--rounds", "--steps", min=1, help="Rounds, or steps, instead of the study's.")
    ] = None,
    limit: Annotated[int | None, typer.Option(min=1, help="At most so many images, evenly by kind.")] = None,
    metric: Annotated[list[str] | None, typer.Option("--metric", "-m", help="Metrics instead of the study's.")] = None,
    align: Annotated[
        str | None,
        typer.Option(
            help="How sizes are made comparable: auto, strict, fit or crop-aware [default: as the study says, else as "
            "the run was begun, else auto]"
        ),
    ] = None,
    max_cost: Annotated[
        float | None, typer.Option(min=0, callback=dollars, help="Dollars: stop before the call that would exceed it.")
    ] = None,
    reuse: Annotated[list[Path] | None, typer.Option(help="Answer from this other run where it can; repeat.")] = None,
    workers: Annotated[
        int | None, typer.Option(min=1, max=MOST_WORKERS, help="Processes for measuring [default: all cores]")
    ] = None,
    device: Annotated[str, typer.Option(help="Where networks that measure run: auto, cpu, cuda, cuda:1.")] = "auto",
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Print cases, calls, dollars, hours; do nothing.")] = False,
    no_report: Annotated[bool, typer.Option("--no-report", help="Edit and measure only.")] = False,
    plots: Plots = ALL_PLOTS,
) -> None:
    """Run a study; run the same command again to go on after a stop, or with more rounds, images or editors to grow."""
    from convergebench.cli.aligning import checked, of_run
    from convergebench.cli.display import say, say_beside
    from convergebench.cli.forecasting import print_forecast
    from convergebench.cli.planned import audited_metrics, require_analysable
    from convergebench.engine.session import prepare
    from convergebench.studies.spec import read_spec

    root = run or Path("runs") / study.stem
    require_names(root, study)
    written = read_spec(study)
    mode = of_run(written, checked(align), root)
    flags = {"editor": editor, "suite": suite, "rounds": rounds, "limit": limit, "metric": metric}
    spec = _with_flags(written, align=mode, **flags)  # type: ignore[arg-type]
    prepared = prepare(spec)
    worth_knowing = require_analysable(prepared)
    audited = audited_metrics(prepared) if prepared.study == "audit" else ""
    if dry_run:
        print_forecast(root, prepared)
        for line in [*([audited] if audited else []), *(f"note: {line}" for line in worth_knowing)]:
            say(line)
        return
    for line in worth_knowing:
        say_beside(f"note: {line}")
    place = _ready(prepared, device)
    _execute(
        root,
        prepared,
        spec,
        max_cost=max_cost,
        reuse=reuse or [],
        workers=workers,
        place=place,
        device=device,
        report=not no_report,
        plots=kinds_of(plots),
    )


def _ready(prepared: Prepared, device: str) -> Place:
    """Whether every editor and metric can run is found out before the first call is paid for."""
    from convergebench.cli.display import say_beside
    from convergebench.cli.measuring import where
    from convergebench.editors.base import lacks, notices
    from convergebench.errors import Prerequisite
    from convergebench.metrics import load_metric
    from convergebench.metrics.readiness import require

    for notice in dict.fromkeys(notice for editor in prepared.editors.values() for notice in notices(editor)):
        say_beside(f"note: {notice}")
    for reason in prepared.left_out:
        say_beside(f"note: left out: {reason}")
    for name, editor in prepared.editors.items():
        missing = lacks(editor)
        if missing:
            raise Prerequisite(f"{name} cannot run here: {'; '.join(missing)}")
    require(load_metric(name).facts for name in prepared.metrics)
    asked = {load_metric(name).facts.asks for name in prepared.metrics} - {""}
    for name, role in prepared.roles.items():
        if name in asked:
            role.ready()
    return where(prepared.metrics, device, prepared.precision)


def _with_flags(
    spec: StudySpec,
    *,
    editor: list[str] | None,
    suite: str | None,
    rounds: int | None,
    limit: int | None,
    metric: list[str] | None,
    align: str | None = None,
) -> StudySpec:
    """The study with the flags that were given in place of its own words."""
    from convergebench.editors.find import canonical
    from convergebench.errors import StudyError
    from convergebench.studies.spec import parse_spec

    content: dict[str, Any] = spec.model_dump(mode="json", by_alias=True)
    if editor:
        # an editor of the study keeps its options and settings, by whichever of its names it is called
        own = {canonical(entry["name"]): entry for entry in content["editors"]}
        own |= {entry["name"]: entry for entry in content["editors"]}
        content["editors"] = [own.get(name) or own.get(canonical(name), name) for name in editor]
    if suite is not None:
        content["images"]["suite"] = suite
    if limit is not None:
        content["images"]["limit"] = limit
    if rounds is not None:
        word = next((word for word in ("rounds", "steps") if word in content[spec.study]), None)
        if word is None:
            raise StudyError(f"the study '{spec.study}' has no rounds to set; leave out --rounds")
        content[spec.study][word] = rounds
    if metric:
        content["measure"]["metrics"] = metric
    if align:
        content["measure"]["align"] = align
    return parse_spec(content, where="flags")


def _execute(
    root: Path,
    prepared: Prepared,
    spec: StudySpec,
    *,
    max_cost: float | None,
    reuse: list[Path],
    workers: int | None,
    place: Place,
    device: str,
    report: bool,
    plots: Sequence[str],
) -> None:
    from convergebench.cli.aligning import tell_sizes
    from convergebench.cli.display import say, say_beside, watch
    from convergebench.cli.growing import metrics_to_fill
    from convergebench.cli.interrupt import run_engine
    from convergebench.cli.measuring import fill
    from convergebench.cli.spending import tell_unsettled
    from convergebench.engine.progress import Progress
    from convergebench.engine.session import begin, compare_replicates
    from convergebench.store.asked import kept
    from convergebench.store.run import Run

    with Run.create(root) as opened:
        manifest = begin(opened, prepared)
        more = kept(prepared.spec, manifest.spec)
        if more:
            say_beside(f"note: {root} keeps what it was asked for before: {', '.join(more)}; nothing is taken away")
        progress = Progress()
        with watch("editing", progress, unit="steps"):
            summary = run_engine(opened, prepared, progress, max_cost=max_cost, reuse=reuse)
        if any(chain.case.replicate for chain in prepared.chains):
            compare_replicates(opened)
        tell_failures(opened)
        tell_unsettled(opened.journal)
        in_vain = _all_failed(opened, prepared)
        if summary.interrupted:
            say(f"stopped: {summary.stopped}. Nothing is lost; the same command goes on")
            raise typer.Exit(130)
        _, halted = fill(
            opened,
            metrics_to_fill(opened, prepared),
            spec.measure.align,
            place,
            prepared.roles,
            workers=workers,
            max_cost=max_cost,
        )
        if spec.examine.detectors:
            from convergebench.cli.examining import look_for, slips

            slipped = slips(look_for(opened, list(spec.examine.detectors), workers=workers))
            if slipped:  # a detector of a third party must not keep anybody from the report
                say_beside(slipped)
    if report:
        from convergebench.cli.reporting import write_and_print

        write_and_print(root, plots=plots)
    else:
        tell_sizes(root, spec.measure.align)
    stopped = summary.stopped or halted
    if in_vain and stopped is None:
        say_beside(f"error: {in_vain}")
        raise typer.Exit(1)
    if report and spec.study == "audit":
        from convergebench.cli.auditing import make_audit
        from convergebench.cli.measuring import How
        from convergebench.cli.rating import Wish

        own = prepared.spec.get("roles", {})
        halted = make_audit([root], Wish(), How(workers, device, None, None, max_cost, own_roles=own))
        stopped = stopped or halted
    if stopped is not None:
        say(f"stopped: {stopped}")
        say("what was measured so far is kept; to go on, run the same command with a higher --max-cost"
            if "--max-cost" in stopped else "to go on, run the same command again")  # fmt: skip
        raise typer.Exit(3)


def _all_failed(opened: Run, prepared: Prepared) -> str:
    """One line if no chain of the study was finished and some failed; else nothing."""
    asked = {(chain.editor, chain.case.id) for chain in prepared.chains}
    rows = opened.journal.rows('select editor, "case", status from chains')
    found = [status for editor, case, status in rows if (editor, case) in asked]
    if "failed" not in found or {"finished", "ended"} & set(found):
        return ""
    return f"no chain was finished: {found.count('failed'):,} of {len(asked):,} failed; see the reason above"


def tell_failures(opened: Run, of: Collection[tuple[str, str]] | None = None) -> set[tuple[str, str]]:
    """Which chains broke off (of these, by editor and case), and why the first one did: a person need not look."""
    from convergebench.cli.display import say_beside

    rows = opened.journal.rows("select editor, \"case\", detail from chains where status = 'failed' order by 1, 2")
    failed = [row for row in rows if of is None or row[:2] in of]
    if failed:
        chains = "chain" if len(failed) == 1 else "chains"
        say_beside(
            f"{len(failed):,} {chains} failed; the same command tries again. {', '.join(failed[0][:2])}: {failed[0][2]}"
        )
    return {(row[0], row[1]) for row in failed}
