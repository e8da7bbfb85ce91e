"""Two judges of the same edits: how far their scores and their decisions agree."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import polars as pl

from convergebench.analysis.bootstrap import Bootstrap
from convergebench.analysis.factory.calibration import between_judges
from convergebench.analysis.factory.decided import attempts_table, decided_chains
from convergebench.analysis.factory.judge_decisions import decision_table
from convergebench.conductor.factory_rating import factory_manifest
from convergebench.errors import StudyError
from convergebench.store.frames import RunFrames
from convergebench.store.manifest import Manifest
from convergebench.studies.analysis_settings import analysis_settings

RULE = ("threshold", "weights")
"""What makes a decision out of a judge's scores."""


@dataclass(frozen=True)
class JudgesCompared:
    """Two runs' judges, held against each other on the edits that both judged."""

    judges: tuple[str, str]
    edits: int
    alone: tuple[int, int]
    """Judged edits that only the one run has."""
    agreement: pl.DataFrame
    """Like the table `judge_agreement` of an analysis."""
    decisions: pl.DataFrame
    notes: tuple[str, ...]


def compare_judges(first: Path, second: Path) -> JudgesCompared:
    """How far the judges of two runs agree on the pictures that both runs have: the same step id and the same file."""
    manifests = factory_manifest(first), factory_manifest(second)
    one, other = _judged(first), _judged(second)
    states = [dict(frame.select("state", "picture").iter_rows()) for frame in (one, other)]
    shared = states[0].keys() & states[1].keys()
    # an editor without a seed gives another picture for the same words: that is not the same edit
    common = {state for state in shared if states[0][state] == states[1][state]}
    if not common:
        raise StudyError(
            f"{first} and {second} have no judged edit in common; give the second judge the same edits with: "
            f"cbench run STUDY.toml --run NEW --reuse {first}"
        )
    bootstrap = Bootstrap.of(analysis_settings(manifests[0].spec))
    judges = _judge(manifests[0]), _judge(manifests[1])
    both = _only(one, common), _only(other, common)
    return JudgesCompared(
        judges,
        len(common),
        (len(states[0].keys() - common), len(states[1].keys() - common)),
        between_judges(*both, bootstrap, rater=judges[1]),
        decision_table(*both, bootstrap),
        tuple(_notes(manifests, judges, len(shared) - len(common))),
    )


def _judged(root: Path) -> pl.DataFrame:
    """The attempts that have a score, each with its picture."""
    frames = RunFrames(root)
    try:
        steps = frames.steps()
        attempts = attempts_table(decided_chains(frames.chains(), frames.decisions()), steps, frames.answers())
    finally:
        frames.close()
    pictures = steps.select(pl.col("id").alias("state"), pl.col("image").alias("picture")).unique("state")
    return attempts.drop_nulls(["state", "score"]).join(pictures, on="state", how="left", maintain_order="left")


def _only(attempts: pl.DataFrame, states: set[str]) -> pl.DataFrame:
    return attempts.filter(pl.col("state").is_in(list(states)))


def _judge(manifest: Manifest) -> str:
    return str(manifest.roles.get("judge", {}).get("fingerprint", "unknown"))


def _notes(manifests: tuple[Manifest, Manifest], judges: tuple[str, str], other_pictures: int) -> list[str]:
    notes = []
    if other_pictures:
        notes.append(
            f"{other_pictures:,} edits were made again with a different result and are left out (--reuse keeps them)"
        )
    if judges[0] == judges[1]:
        notes.append("both runs have the same judge: this shows how consistent it is, unless its answers were reused")
    rules = [manifest.spec.get("factory", {}) for manifest in manifests]
    for name in RULE:
        if rules[0].get(name) != rules[1].get(name):
            notes.append(f"the runs differ in their {name}, so decisions differ for that reason too")
    if len({str(manifest.fixed.get("rubrics", {}).get("judge-edit")) for manifest in manifests}) > 1:
        notes.append("the judges used two different versions of the rubric judge-edit")
    return notes
