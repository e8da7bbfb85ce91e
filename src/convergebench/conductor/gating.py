"""Checks for continuous integration: is every editor's score high enough, and no worse than in another run?

What can be known is refused before anything is paid. An editor passes only with a whole result: a chain that failed or
was refused, a round that could not be measured and edits of which nobody knows whether they were done all fail it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import isfinite
from pathlib import Path
from typing import Any

import polars as pl

from convergebench.analysis.adherence import NOT_DONE
from convergebench.analysis.paired import smallest_p
from convergebench.analysis.run_change import RunInput, run_change
from convergebench.conductor.analyse import AnalysedRun, analyse_run
from convergebench.conductor.fairness import meaning_differs, run_input
from convergebench.conductor.running import Plan
from convergebench.errors import StudyError
from convergebench.metrics import load_metric
from convergebench.store.manifest import Manifest, read_manifest
from convergebench.store.run import require_run
from convergebench.studies.analysis_settings import AnalysisSettings, analysis_settings
from convergebench.studies.base import study_of

FEWEST_KNOWN = 0.5
"""Least share of the rounds for which it must be known whether the edit was done."""
BROKEN = ("failed", "refused")
"""Ends of a chain that its editor is to blame for."""


@dataclass(frozen=True)
class GateOptions:
    """What is asked of every editor."""

    fail_under: float | None = None
    no_worse_than: Path | None = None

    @property
    def asked(self) -> bool:
        """Whether anything is."""
        return self.fail_under is not None or self.no_worse_than is not None


@dataclass(frozen=True)
class Check:
    """One question about one editor, and its answer."""

    editor: str
    name: str
    """`delivered`, `fail-under` or `no-worse-than`."""
    outcome: str
    """`passed`, `failed`, or `skipped` for a reference."""
    message: str
    numbers: Mapping[str, Any] = field(default_factory=dict)


def require_gates(planned: Plan, options: GateOptions) -> None:
    """Refuse, before the first call, what could not be answered afterwards."""
    if not options.asked:
        return
    prepared, flag = planned.prepared, "--fail-under" if options.fail_under is not None else "--no-worse-than"
    if options.fail_under is not None and not (isfinite(options.fail_under) and 0 < options.fail_under <= 100):
        raise StudyError(f"--fail-under {options.fail_under:g}: give a score above 0 and up to 100, e.g. 60")
    if "comparison" not in study_of(prepared.study).analyses:
        raise StudyError(f"{flag} needs a score, and the study '{prepared.study}' has none; leave it out")
    settings = analysis_settings(prepared.spec)
    measured = {load_metric(name).facts.name for name in prepared.metrics}
    scored = (*settings.quality, *((settings.semantic,) if settings.semantic else ()))
    if not measured & set(scored):
        raise StudyError(f"{flag} needs a score, and none of its metrics is measured; add -m {scored[0]}")
    if prepared.study == "roundtrip" and settings.adherence[0] not in measured:
        raise StudyError(
            f"{flag}: without the metric '{settings.adherence[0]}' an editor that does nothing would score 100; "
            f"add {' '.join(f'-m {name}' for name in (*prepared.metrics, *settings.adherence))}"
        )
    if options.no_worse_than is not None:
        _require_comparable(planned, options.no_worse_than, settings)


def _require_comparable(planned: Plan, other: Path, settings: AnalysisSettings) -> None:
    prepared = planned.prepared
    if require_run(other).resolve() == planned.root.resolve():
        raise StudyError(f"--no-worse-than {other}: a run cannot be compared with itself; name another --run")
    before = read_manifest(other / "manifest.json")
    if before.study != prepared.study:
        raise StudyError(f"--no-worse-than {other} is a run of the study '{before.study}', not '{prepared.study}'")
    differing = [
        key for key, value in prepared.fixed.items() if key != "seed" and before.fixed.get(key, value) != value
    ]
    if differing:
        raise StudyError(f"--no-worse-than {other}: it was run with another {differing[0]}; compare like with like")
    counterparts(list(prepared.editors), before, other)
    labels = {label for label, words in prepared.edits.items() if before.pairs.get(label) == words}
    hashes = {image.id: image.sha256 for image in prepared.sources}
    known = {str(facts["sha256"]) for facts in before.sources.values()}
    used = {chain.case.source_id for chain in prepared.chains if chain.case.label in labels}
    common = [source for source in used if hashes.get(source) in known]
    if not common:
        raise StudyError(f"--no-worse-than {other}: no case in common, that is, the same image with the same words")
    level = (1 - settings.confidence) / len(prepared.editors)
    least = smallest_p(len(common), exact_up_to=settings.exact_sources, permutations=settings.permutations)
    if least >= level:
        needed = next(n for n in range(1, 100) if 2.0 ** (1 - n) < level)
        raise StudyError(
            f"--no-worse-than {other}: with {len(common)} images in common no loss could be significant (p would be "
            f"{least:.2g} at best), so nothing could fail; use at least {needed} images, or --fail-under"
        )


def counterparts(editors: list[str], before: Manifest, other: Path) -> dict[str, str]:
    """Which editor of the other run each is compared with: that of its name, or the only one if each run has one."""
    if len(editors) == 1 and len(before.editors) == 1:
        return {editors[0]: next(iter(before.editors))}
    missing = [name for name in editors if name not in before.editors]
    if missing:
        raise StudyError(
            f"--no-worse-than {other} has no editor '{missing[0]}' (it has: {', '.join(before.editors)}); leave it out "
            "with --editor, or compare runs of one editor each"
        )
    return {name: name for name in editors}


def check_run(root: Path, editors: list[str], options: GateOptions) -> list[Check]:
    """Every check of every editor of this command; a reference beside rivals is skipped."""
    run = analyse_run(root)
    rows = {row["editor"]: row for row in run.comparison.ranking.to_dicts()}
    rivals = [name for name in editors if not rows.get(name, {}).get("reference")]
    checks: list[Check] = []
    judged: dict[str, str] = {}
    for name in editors:
        row = rows.get(name, {})
        if options.asked and rivals and name not in rivals:
            checks.append(Check(name, "reference", "skipped", f"a reference ({row['reference']}), not checked", row))
            continue
        counts = _counts(run, name)
        lacking = _undelivered(counts)
        said = lacking or f"all {counts['n_chains']} chains are finished"
        checks.append(Check(name, "delivered", "failed" if lacking else "passed", said, {**row, **counts}))
        judged[name] = lacking or (_doubt(run, name, row) if options.asked else "")
        if options.fail_under is not None:
            checks.append(_under(name, row, options.fail_under, run.context.settings.confidence, judged[name]))
    if options.no_worse_than is not None:
        checks += _no_worse(run, judged, options.no_worse_than)
    return checks


def _counts(run: AnalysedRun, name: str) -> dict[str, int]:
    status = run.context.chains.filter(pl.col("editor") == name)["status"].to_list()
    finished = status.count("finished") + status.count("ended")
    return {"n_chains": len(status), "n_finished": finished, **{f"n_{one}": status.count(one) for one in BROKEN}}


def _undelivered(counts: Mapping[str, int]) -> str:
    """Which chains the editor did not finish; empty if it finished all."""
    broken = [f"{counts[f'n_{word}']} {word}" for word in BROKEN if counts[f"n_{word}"]]
    if broken:
        return f"{' and '.join(broken)} of {counts['n_chains']} chains"
    if not counts["n_chains"]:
        return "it has no chain"
    whole = counts["n_finished"] == counts["n_chains"]
    return "" if whole else f"only {counts['n_finished']} of {counts['n_chains']} chains are finished"


def _doubt(run: AnalysedRun, name: str, row: Mapping[str, Any]) -> str:
    """Why a score does not count though every chain was finished; empty if it does."""
    if run.manifest.study == "roundtrip":
        if name in run.context.uninstructed:
            return "it ignores instructions, so its score says nothing of editing"
        known = _known_share(run, name)
        if known < FEWEST_KNOWN:
            return f"whether its edits were done is known for {known:.0%} of the rounds only"
    if row.get("n_missing"):
        return f"{row['n_missing']} rounds lack a value of the score's metrics"
    return ""


def _known_share(run: AnalysedRun, name: str) -> float:
    metric = run.context.settings.adherence[0]
    rows = run.context.measurements.filter((pl.col("editor") == name) & (pl.col("metric") == metric))
    known = rows.filter((pl.col("status") == "ok") | pl.col("status").is_in(list(NOT_DONE)))
    rounds = int(run.context.chains.filter(pl.col("editor") == name)["rounds"].sum())
    return known.select("case", "round").unique().height / rounds if rounds else 0.0


def _under(name: str, row: Mapping[str, Any], least: float, confidence: float, fault: str) -> Check:
    """The point estimate is compared; the interval is shown beside it."""
    score = row.get("score")
    kept = ("low", "high", "n_cases", "n_sources", "n_left_out", "done", "undone", "coverage")
    numbers = {"score": score, "least": least, "confidence": confidence, **{key: row.get(key) for key in kept}}
    if score is None:
        return Check(name, "fail-under", "failed", f"it has no score{f': {fault}' if fault else ''}", numbers)
    ends = "" if row["low"] is None else f" ({100 * confidence:.3g}%: {row['low']:.1f} to {row['high']:.1f})"
    words = "under" if score < least else "at least"
    said = f"score {score:.1f}{ends} over {row['n_cases']} cases from {row['n_sources']} images is {words} {least:g}"
    passed = score >= least and not fault
    return Check(
        name, "fail-under", "passed" if passed else "failed", said + (f", but {fault}" if fault else ""), numbers
    )


def _no_worse(run: AnalysedRun, judged: Mapping[str, str], other: Path) -> list[Check]:
    """Paired over the common cases; an editor fails if its loss is significant after Holm over the editors."""
    before = analyse_run(other)
    settings = run.context.settings
    pairs = [(than, name) for name, than in counterparts(list(judged), before.manifest, other).items()]
    _require_alike(before, run, pairs, settings)
    change = run_change(_side(before, run), _side(run, before), pairs, settings)
    found = {row["editor_second"]: row for row in change.editors.to_dicts() if row["score_second"] is not None}
    for name in judged:
        if name not in found:
            raise StudyError(
                f"{run.root} and {other} have no measured case of {name} in common: the same image, words and replicate"
            )
    return [_change(run, other, found[name], settings.confidence, fault) for name, fault in judged.items()]


def _change(run: AnalysedRun, other: Path, row: Mapping[str, Any], confidence: float, fault: str) -> Check:
    name, p, change = row["editor_second"], row["p_holm"], row["change"]
    worse = change < 0 and p < 1 - confidence
    ends = "" if row["low"] is None else f" ({100 * confidence:.3g}%: {row['low']:+.1f} to {row['high']:+.1f})"
    verdict = "worse" if worse else "not significantly worse"
    left_out = run.context.chains.filter(pl.col("editor") == name).height - row["n_cases"]
    left = f"; {left_out} cases not compared" if left_out else ""
    said = (
        f"score {row['score_second']:.1f}, {row['score_first']:.1f} in {other}: {change:+.1f}{ends}, p = {p:.2g} over "
        f"{row['n_cases']} cases from {row['n_sources']} images: {verdict} (margin 0){left}"
    )
    kept = ("low", "high", "p", "p_holm", "rounds", "n_cases", "n_sources", "formula")
    numbers = {
        **{"now": row["score_second"], "before": row["score_first"], "difference": change, "n_left_out": left_out},
        **{key: row[key] for key in kept},
        **{"confidence": confidence, "margin": 0.0, "than": str(other), "than_editor": row["editor_first"]},
    }
    outcome = "failed" if worse or fault else "passed"
    return Check(name, "no-worse-than", outcome, said + (f", but {fault}" if fault else ""), numbers)


def _side(run: AnalysedRun, other: AnalysedRun) -> RunInput:
    """The chains whose edits have the same words in both runs."""
    words = other.manifest.pairs
    same = [label for label, one in run.manifest.pairs.items() if words.get(label) == one]
    return run_input(run, run.context.chains.filter(pl.col("pair").is_in(same)))


def _require_alike(
    before: AnalysedRun, run: AnalysedRun, pairs: list[tuple[str, str]], settings: AnalysisSettings
) -> None:
    """Every metric of the score was measured in both runs, in one version and under one alignment."""
    differing = meaning_differs((before, run), pairs)
    for metric in (*settings.quality, *((settings.semantic,) if settings.semantic else ()), *settings.adherence):
        there = [metric in set(one.context.measurements["metric"]) for one in (before, run)]
        if there[0] != there[1]:
            lacking = (before, run)[there.index(False)].root
            raise StudyError(
                f"{metric} was measured in one of the runs only; type: cbench measure {lacking} -m {metric}"
            )
        if metric in differing:
            raise StudyError(f"{differing[metric]}; measure both runs alike")
