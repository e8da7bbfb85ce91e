"""Comparing two runs: which cases and metrics mean the same in both, what changed between them, the page about it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from convergebench.analysis.run_change import RunChange, run_change
from convergebench.conductor.alignment import check_alignment
from convergebench.conductor.analyse import AnalysedRun, analyse_run
from convergebench.conductor.fairness import differences, meaning_differs, run_input
from convergebench.errors import StudyError
from convergebench.registry import suggest
from convergebench.report.output import write_files
from convergebench.report.two_runs.input import ComparedRun, TwoRunsInput
from convergebench.report.two_runs.page import PAGE_DATA, render_comparison
from convergebench.store.run import is_run, require_run
from convergebench.studies.base import study_of


@dataclass(frozen=True)
class CompareOptions:
    """What is compared."""

    editor: str | None = None
    """Editor of the first run; None: every editor that both runs have under one name."""
    other: str | None = None
    """Editor of the second run, if it has another name there."""
    align: str | None = None


def compare(first: Path, second: Path, options: CompareOptions) -> TwoRunsInput:
    """What changed from the first run to the second; nothing is written."""
    align = check_alignment(options.align)
    if first.resolve() == second.resolve():
        raise StudyError(f"{first} is named twice; give two runs")
    runs = [analyse_run(require_run(root), align) for root in (first, second)]
    _require_comparable(runs)
    pairs = _pairs(runs, options)
    left_out = meaning_differs(runs, pairs)
    sides = [run_input(run, run.context.chains, left_out) for run in runs]
    older = min(runs, key=lambda run: (run.manifest.created, str(run.root)))  # the same whichever is named first
    change = run_change(sides[0], sides[1], pairs, older.context.settings)
    _require_something(change, runs, left_out)
    shown = [
        ComparedRun(root, run.manifest, run.context.steps) for root, run in zip((first, second), runs, strict=True)
    ]
    return TwoRunsInput(
        first=shown[0],
        second=shown[1],
        change=change,
        settings=older.context.settings,
        warnings=(*(f"{why} and is left out" for why in left_out.values()), *differences(runs, pairs)),
        unit=runs[0].context.unit,
        facts={**runs[0].context.facts, **runs[1].context.facts},
        simulated=frozenset().union(*(run.context.simulated for run in runs)),
    )


def write_comparison(given: TwoRunsInput, out: Path | None) -> Path:
    """Write the page and the numbers behind it; returns the path of the page."""
    target = out or Path("compare") / f"{given.first.root.resolve().name}-{given.second.root.resolve().name}"
    if target.exists() and not target.is_dir():
        raise StudyError(f"--out {target} is a file; name a folder")
    if is_run(target):
        raise StudyError(f"--out {target} is a run; name another folder, e.g. --out {target / 'compare'}")
    if (target / "index.html").exists() and not (target / PAGE_DATA).exists():
        raise StudyError(f"--out {target} has an index.html that is no comparison's; name another folder")
    return write_files(render_comparison(given), target)[-1]


def _require_comparable(runs: Sequence[AnalysedRun]) -> None:
    studies = [run.manifest.study for run in runs]
    if studies[0] != studies[1]:
        raise StudyError(
            f"{runs[0].root} is a run of '{studies[0]}' and {runs[1].root} of '{studies[1]}'; compare runs of one study"
        )
    if "comparison" not in study_of(studies[0]).analyses:
        raise StudyError(
            f"runs of '{studies[0]}' have no score over rounds, so there is none to compare; "
            "their metrics are compared from Python: convergebench.compare"
        )


def _pairs(runs: Sequence[AnalysedRun], options: CompareOptions) -> list[tuple[str, str]]:
    """Editors of one name in both runs, or the two that were asked for."""
    names = [list(run.context.chains["editor"].unique(maintain_order=True)) for run in runs]
    if options.editor is None:
        if options.other is not None:
            raise StudyError("--with needs --editor: the editor of the first run that it is compared with")
        both = [name for name in names[0] if name in names[1]]
        if not both:
            example = f"--editor {_quoted(names[0][0])} --with {_quoted(names[1][0])}" if all(names) else ""
            raise StudyError(
                f"no editor has the same name in both runs ({_listed(names[0])}; {_listed(names[1])}); "
                + (f"pair two of them: {example}" if example else "one of them has no chain yet")
            )
        return [(name, name) for name in both]
    asked = (options.editor, options.other or options.editor)
    for run, known, name in zip(runs, names, asked, strict=True):
        if name not in known:
            raise StudyError(f"{run.root} has no editor '{name}'{suggest(name, known)} (it has: {_listed(known)})")
    return [asked]


def _quoted(name: str) -> str:
    return name if name.replace("-", "").replace("_", "").isalnum() else f"'{name}'"


def _listed(names: Sequence[str]) -> str:
    return ", ".join(names) or "none"


def _require_something(change: RunChange, runs: Sequence[AnalysedRun], left_out: dict[str, str]) -> None:
    names = f"{runs[0].root} and {runs[1].root}"
    if change.metrics.height:
        return
    aligns = [run.manifest.align for run in runs]
    if left_out and aligns[0] != aligns[1]:
        raise StudyError(
            f"{names} were measured under two alignments ({aligns[0]}, {aligns[1]}); type: cbench measure "
            f"{runs[1].root} --align {aligns[0]}, then compare with --align {aligns[0]}"
        )
    if left_out:
        raise StudyError(f"{names} cannot be compared: {next(iter(left_out.values()))}; measure both runs alike")
    if change.editors.height and not change.editors["n_cases"].sum() and _shares_cases(runs):
        raise StudyError(f"{names} have no metric in common; measure both with the same ones (cbench measure)")
    raise StudyError(f"{names} have no case in common: the same image, edit and replicate")


def _shares_cases(runs: Sequence[AnalysedRun]) -> bool:
    keys = []
    for run in runs:
        images = {name: str(facts["sha256"]) for name, facts in run.manifest.sources.items()}
        rows = run.context.chains.select("source", "pair", "replicate").unique().iter_rows()
        keys.append({(images.get(source), pair, replicate) for source, pair, replicate in rows})
    return bool(keys[0] & keys[1])
