"""The question of `--until decided`: from the study's `[until]` table to what is kept with the run."""

from __future__ import annotations

import secrets
from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import ceil
from pathlib import Path

from convergebench.analysis.sequential.question import UntilQuestion, pairs_of, random_order, require_same
from convergebench.engine.prepared import Prepared
from convergebench.errors import StudyError
from convergebench.metrics import load_metric
from convergebench.registry import suggest
from convergebench.store.frames import RunFrames
from convergebench.store.manifest import read_manifest
from convergebench.store.rename import renamed_editors
from convergebench.store.until import read_until
from convergebench.studies.analysis_settings import AnalysisSettings, analysis_settings
from convergebench.studies.base import load_study
from convergebench.studies.until_table import UntilTable

LOOKS = 20
"""Looks between the first and the last, unless the study says otherwise."""


def require_until(until: str | None) -> None:
    """Refuse what a run cannot be made until."""
    if until not in (None, "decided"):
        raise StudyError(f"--until {until}: a run can be made until decided; type --until decided")


def question_for(prepared: Prepared, table: UntilTable, root: Path) -> UntilQuestion:
    """The question that this study asks; that of a run which was begun with one must be the same."""
    if "comparison" not in load_study(prepared.study).analyses:
        raise StudyError(f"the study '{prepared.study}' has no score to decide by; leave out --until")
    before = kept_question(root)
    editors = _editors(prepared, table)
    needs_score(prepared, table.number)
    cases = _cases(prepared, editors)
    images = list(cases)
    seed = table.seed if table.seed is not None else before.seed if before else secrets.randbelow(2**31)
    rounds = {chain.rounds for chain in prepared.chains}
    most = min(table.images or len(images), len(images))
    found = UntilQuestion(
        pairs=pairs_of(editors, table.baseline),
        ask=table.ask,
        number=table.number,
        difference=table.difference,
        error=table.error,
        method=table.method,
        largest=table.largest,
        most=most,
        step=table.step or max(1, ceil(most / LOOKS)),
        rounds=rounds.pop() if len(rounds) == 1 else 0,
        seed=seed,
        order=random_order(images, seed),
        cases=cases,
    )
    if before is not None:
        require_same(before, found, str(root))
    return found


def kept_question(root: Path) -> UntilQuestion | None:
    """The question that a run was begun with; None if it was begun without one."""
    content = read_until(root)
    if content is None:
        return None
    try:
        question = UntilQuestion.from_json(content["question"])
        manifest = root / "manifest.json"
        renamed = renamed_editors(read_manifest(manifest)) if manifest.exists() else {}
        pairs = tuple((renamed.get(one, one), renamed.get(other, other)) for one, other in question.pairs)
        return replace(question, pairs=pairs)
    except (ValueError, TypeError, AttributeError) as error:
        raise StudyError(f"{root}/until.json is damaged ({error}); restore it from a backup") from error


def require_not_stopped(root: Path, what: str) -> None:
    """`StudyError` for a run whose own results decided how many images it has, where that number should be fixed."""
    question = kept_question(root)
    if question is None:
        return
    frames = RunFrames(root)
    try:
        there = set(frames.chains().select("editor", "case").iter_rows())
    finally:
        frames.close()
    asked = {(editor, case) for editor in question.editors for cases in question.cases.values() for case in cases}
    if asked - there:
        raise StudyError(
            f"{root} was stopped when its question was decided, and {what} takes intervals for a number of images "
            "fixed in advance; run the rest of it first: the same command without --until"
        )


def score_metrics(settings: AnalysisSettings, number: str) -> tuple[str, ...]:
    """The metrics that the number is made of, with those of adherence."""
    own = (*settings.quality, *((settings.semantic,) if settings.semantic else ())) if number == "score" else (number,)
    return (*own, *settings.adherence)


def needs_score(prepared: Prepared, number: str) -> list[str]:
    """The metrics of the study to measure at every look; `StudyError` if the number cannot be had from them."""
    wanted = score_metrics(analysis_settings(prepared.spec), number)
    found = [name for name in prepared.metrics if load_metric(name).facts.name in wanted]
    names = {load_metric(name).facts.name for name in found}
    if not names - set(analysis_settings(prepared.spec).adherence):
        lacking = number if number != "score" else wanted[0]
        raise StudyError(f"[until] cannot be decided: the study does not measure {lacking}; add it under [measure]")
    return found


def _editors(prepared: Prepared, table: UntilTable) -> list[str]:
    known = list(prepared.editors)
    asked = list(dict.fromkeys([*table.editors, *([table.baseline] if table.baseline else [])]))
    for name in asked:
        if name not in known:
            raise StudyError(f"[until] names '{name}', which is not an editor of this study{suggest(name, known)}")
    if not table.editors:
        abilities = {name: editor.capabilities for name, editor in prepared.editors.items()}
        real = [name for name, able in abilities.items() if able.instructed and not able.simulated]
        told = [name for name, able in abilities.items() if able.instructed]
        asked = list(dict.fromkeys([*(real or told or known), *asked]))
    if len(asked) < 2:
        raise StudyError("--until decided needs two editors to compare; add one with --editor, or name two in [until]")
    return asked


def _cases(prepared: Prepared, editors: Sequence[str]) -> Mapping[str, tuple[str, ...]]:
    """Per image: the cases that all of these editors have."""
    own: dict[str, set[str]] = {name: set() for name in editors}
    for chain in prepared.chains:
        if chain.editor in own:
            own[chain.editor].add(chain.case.id)
    common = set.intersection(*own.values())
    found: dict[str, dict[str, None]] = {}
    for chain in prepared.chains:
        if chain.case.id in common:
            found.setdefault(chain.case.source_id, {})[chain.case.id] = None
    if not found:
        raise StudyError("the editors have no case in common, so nothing can be decided")
    return {image: tuple(cases) for image, cases in found.items()}
