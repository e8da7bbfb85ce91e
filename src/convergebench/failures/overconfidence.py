"""Overconfidence: the summary claims success while the picture shows that the step was not done.

The rule. The picture refutes a step that was requested to mirror or rotate and did not (`orientation`), to add
something and added nothing (`counting`), to be monochrome and is not (`monochrome`), or to copy and is 20 dB or less
from the original (RMSE 0.1, after undoing crops). It is overconfident if the part of its summary that evaluates the
result claims success without a word of doubt or fault (`_claims`: strict lists); for a copy only a claim that it is
exact counts. Steps in a row are one finding.

Confidence is that of the rule which refutes the claim: ½ at its threshold, more beyond.

What it cannot see: steps without a summary, or with one that never evaluates its result; claims in words that are not
on the lists; a claim about several things of which only one is false. A copy that decays in many small steps is close
to its original at each of them, so no claim about it is refuted.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from convergebench.errors import Unmeasurable
from convergebench.failures._additions import additions
from convergebench.failures._chroma import colour_of
from convergebench.failures._claims import SuccessClaim, claim_in
from convergebench.failures._onset import confidence
from convergebench.failures._turns import turns
from convergebench.failures.base import ChainView, Examination, Finding, cannot_tell, detector, does_not_apply
from convergebench.failures.counting import WEAKEST
from convergebench.images.align import align, fit
from convergebench.images.frame import Frame
from convergebench.metrics.operations import GEOMETRIC

BAD_COPY = 0.1
"""RMSE in [0, 1] of a copy from its original: 20 dB, the project's level for half lost."""
QUOTED = 110
"""Longest quotation of a claim, in characters."""


class _Verdict(NamedTuple):
    """What the picture shows about a step."""

    step: int
    refuted: str
    """What was not done; empty if the step was done."""
    confidence: float


@detector(
    "overconfidence",
    level="object",
    title="Claims what the image denies",
    rule="the summary claims success without doubt, but the step did not mirror or turn, added nothing, is not "
    "monochrome, or is an “exact” copy at an RMSE of 0.1 or more",
    paper="Hallucinated confidence",
)
def overconfidence(chain: ChainView) -> Examination:
    """Says that a step went well that did not."""
    checkable = chain.asks_for("add", "monochrome", "replicate", *GEOMETRIC)
    if not checkable:
        return does_not_apply("no step asked for something that this rule can check")
    summarised = [step.index for step in checkable if step.reasoning and step.reasoning.strip()]
    if not summarised:
        return cannot_tell("no step has a summary of its reasoning")
    claims = {index: claim_in(chain.steps[index].reasoning) for index in summarised}
    exact = {index for index, claim in claims.items() if claim is not None and claim.exact}
    verdicts = {verdict.step: verdict for verdict in _verdicts(chain, exact) if verdict.step in claims}
    false = [
        (verdict, claim)
        for index, verdict in sorted(verdicts.items())
        if verdict.refuted and (claim := claims[index]) is not None
    ]
    probes = {
        "claims": {index: float(claim is not None) for index, claim in claims.items()},
        "denied": {index: float(bool(verdict.refuted)) for index, verdict in verdicts.items()},
    }
    return Examination(tuple(_finding(group, claims) for group in _consecutive(false, summarised)), probes)


def _verdicts(chain: ChainView, exact: set[int]) -> Iterator[_Verdict]:
    """One verdict per checkable step; copies only where they are claimed to be exact."""
    for turn in turns(chain):
        if not turn.unclear:
            refuted = f"{turn.requested} was asked for and not done" if turn.failed else ""
            yield _Verdict(turn.step, refuted, 1 - turn.share)
    for one in additions(chain):
        if one.outcome != "unclear":
            refuted = "nothing was added" if one.outcome == "none" else ""
            yield _Verdict(one.step, refuted, confidence(1 / max(WEAKEST, one.changes.strength)))
    for step in chain.asks_for("monochrome"):
        colour = colour_of(chain.frame(step.index))
        refuted = f"the picture still has colour (mean chroma {colour.mean:.1f})" if colour.score >= 1 else ""
        yield _Verdict(step.index, refuted, confidence(colour.score))
    for step in chain.asks_for("replicate"):
        if step.index not in exact:
            continue
        error = _distance(chain.frame(step.index), chain.frame(step.parent))
        refuted = f"the copy is {-20 * np.log10(error):.1f} dB from what it copied" if error >= BAD_COPY else ""
        yield _Verdict(step.index, refuted, confidence(error / BAD_COPY))


def _distance(copy: Frame, original: Frame) -> float:
    """RMSE over the area that both show; after resizing, if they cannot be registered."""
    try:
        pair = align(copy, original, "crop-aware")
        one, other = pair.subject.pixels, pair.reference.pixels
    except Unmeasurable:
        one, other = fit(copy, original.size).pixels, original.pixels
    return float(np.sqrt(np.mean(np.square(one.astype(np.float32) - other)))) / 255


RefutedClaim = tuple[_Verdict, SuccessClaim]


def _consecutive(false: list[RefutedClaim], summarised: list[int]) -> list[list[RefutedClaim]]:
    """Group claims of consecutive checkable steps."""
    position = {index: number for number, index in enumerate(summarised)}
    runs: list[list[RefutedClaim]] = []
    for one in false:
        if runs and position[one[0].step] - position[runs[-1][-1][0].step] == 1:
            runs[-1].append(one)
        else:
            runs.append([one])
    return runs


def _finding(group: list[RefutedClaim], claims: dict[int, SuccessClaim | None]) -> Finding:
    verdict, claim = max(group, key=lambda each: each[0].confidence)
    quote = claim.sentence if len(claim.sentence) <= QUOTED else claim.sentence[: QUOTED - 1].rstrip() + "…"
    made = sum(one is not None for one in claims.values())
    return Finding(
        group[0][0].step,
        round(verdict.confidence, 3),
        f"says “{quote}”, but {verdict.refuted}; {made} of {len(claims)} summaries claim success",
        last=group[-1][0].step,
        shown=verdict.step,
    )
