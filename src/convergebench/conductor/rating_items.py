"""Which pictures of a run people can rate: of restorations the result of a round, of round trips the last picture."""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from convergebench.conductor.rating_plan import CLEAN, INPUT, RatedCase
from convergebench.errors import StudyError
from convergebench.failures import suits
from convergebench.registry import names, suggest
from convergebench.store.frames import RunFrames
from convergebench.store.images import identity_of
from convergebench.store.manifest import Manifest, read_manifest
from convergebench.store.queries.examining import cases_by_id
from convergebench.store.rating_book import ShownPicture
from convergebench.store.records import Records
from convergebench.studies.base import study_of

RESTORATION = "restoration"
RETURNING = ("roundtrip", "replicate")
"""Studies whose last picture should show the source again."""
LABELS = ("structure-change", "invented-edges", "invented-texture", "colour-on-grey", "lost-object", "new-object")
"""Failure modes that people label in restorations."""


@dataclass(frozen=True, slots=True)
class Rateable:
    """What a run has for raters."""

    study: str
    methods: tuple[str, ...]
    cases: tuple[RatedCase, ...]
    """Every picture with at least one result."""
    labels: tuple[str, ...]
    """Failure modes to look for."""
    round: int | None
    """The round whose results are shown; None: the last."""


def rateable(root: Path, *, round_number: int | None = None, every_prompt: bool = False) -> Rateable:
    """The finished pictures of a run, of repeat 0 and the unified prompt unless `every_prompt`."""
    frames = RunFrames(root)
    try:
        manifest = read_manifest(root / "manifest.json")
        if manifest.study != RESTORATION and manifest.study not in RETURNING:
            raise StudyError(
                f"{root} is a run of the study '{manifest.study}'; people can rate runs of "
                f"{', '.join((RESTORATION, *RETURNING))} (for a factory: cbench factory rate {root})"
            )
        steps, labels = frames.steps(), frames.labels()
        planned = {(row["editor"], row["case"]): row["planned"] for row in frames.chains().iter_rows(named=True)}
    finally:
        frames.close()
    with closing(Records(root / "run.sqlite")) as records:
        clean = {case: row.clean for case, row in cases_by_id(records).items()}
    restoration = manifest.study == RESTORATION
    prompt = None if every_prompt or not restoration else unified_prompt(manifest, set(steps["pair"].to_list()))
    number = (round_number or 1) if restoration else round_number
    chains = _last_pictures(steps.iter_rows(named=True), planned, number, prompt, every_prompt=every_prompt)
    proposed = {(row["editor"], row["case"]) for row in labels.iter_rows(named=True) if _is_proposal(row)}
    cases = [
        RatedCase(
            *(case, chain.source, chain.kind, chain.input),
            clean=clean.get(case) if restoration else chain.input,
            results=chain.results,
            proposed=frozenset(editor for editor in chain.results if (editor, case) in proposed),
        )
        for case, chain in chains.items()
    ]
    methods = [one for one in manifest.editors if any(one in case.results for case in cases)]
    looked = set(labels["mode"].to_list())
    suitable = study_of(manifest.study).failures
    other = [mode for mode in names("failures") if mode in looked or (not looked and suits(mode, suitable))]
    return Rateable(manifest.study, tuple(methods), tuple(cases), LABELS if restoration else tuple(other), number)


def unified_prompt(manifest: Manifest, used: Collection[str]) -> str:
    """The prompt by which the run's methods are compared: as the study says, or else the first that was used."""
    named = str(manifest.spec.get(RESTORATION, {}).get("unified", ""))
    return next((name for name in (named, *manifest.pairs) if name in used), min(used, default=named))


def chosen_methods(found: Rateable, wanted: Sequence[str]) -> tuple[str, ...]:
    """The methods that a plan has; all of the run if none are named."""
    if not found.methods:
        raise StudyError("this run has no finished image to rate yet; run the command that made it again")
    for name in dict.fromkeys(wanted):
        if name not in found.methods:
            raise StudyError(
                f"--methods: '{name}' has no images here{suggest(name, found.methods)} "
                f"(there are: {', '.join(found.methods)})"
            )
    chosen = tuple(dict.fromkeys(wanted)) or found.methods
    if taken := {CLEAN, INPUT} & set(chosen):
        raise StudyError(f"a method is called '{min(taken)}', which is reserved for control images; leave it out")
    return chosen


def common_cases(found: Rateable, methods: Sequence[str]) -> list[RatedCase]:
    """Pictures that all of these methods have results of."""
    return [case for case in found.cases if all(name in case.results for name in methods)]


def spread_cases(cases: Sequence[RatedCase], count: int | None, seed: int) -> list[RatedCase]:
    """So many pictures, kinds and sources in turn; a larger count has those of a smaller one in it."""
    groups: dict[str, list[RatedCase]] = defaultdict(list)
    for case in sorted(cases, key=lambda one: one.case):
        groups[case.kind].append(case)
    chance = random.Random(f"pictures {seed}")
    turns = [chance.sample(group, len(group)) for _, group in sorted(groups.items())]
    chance.shuffle(turns)
    used: dict[str, int] = defaultdict(int)
    chosen: list[RatedCase] = []
    while any(turns) and (count is None or len(chosen) < count):
        for group in [group for group in turns if group]:
            one = min(group, key=lambda case: used[case.source.partition(".")[0]])
            group.remove(one)
            used[one.source.partition(".")[0]] += 1
            chosen.append(one)
    return chosen[:count]


@dataclass
class _Chain:
    source: str
    kind: str
    input: str
    results: dict[str, ShownPicture]


def _last_pictures(
    rows: Iterable[Mapping[str, Any]],
    planned: Mapping[tuple[str, str], int],
    number: int | None,
    prompt: str | None,
    *,
    every_prompt: bool,
) -> dict[str, _Chain]:
    """By case: the source, and of each editor the last picture of the round, or of the planned rounds."""
    found: dict[str, _Chain] = {}
    for row in rows:  # in the order of the chain, the source first
        if (prompt is not None and row["pair"] != prompt) or (row["replicate"] and not every_prompt):
            continue
        image = identity_of(row["image"]) if row["image"] else None
        if image is None:
            continue
        if row["index"] == 0:
            found.setdefault(row["case"], _Chain(row["source"], row["kind"], image, {}))
        elif row["case"] in found and row["round"] == (number or planned.get((row["editor"], row["case"]))):
            shown = ShownPicture(row["editor"], row["case"], row["index"], image)
            found[row["case"]].results[row["editor"]] = shown
    return {case: chain for case, chain in found.items() if chain.results}


def _is_proposal(row: Mapping[str, Any]) -> bool:
    return row["source"] != "person" and row["present"] is True
