"""Monochrome: a picture that was requested to be monochrome still has colour.

The rule. The picture is averaged to 64 cells along its longer side, each replaced by the median of its neighbours:
that keeps colour and removes coloured noise. It is not monochrome if the mean chroma (CIELAB) is 1 or more, or if 1
% of the cells or more have a chroma above 4. A tint of one hue (sepia) counts: strict greyscale was asked for, and the
detail says that it is a tint.

Confidence is ½ at the threshold and grows with the larger of the two excesses.

What it cannot see: colour in places smaller than two cells (a 32nd of the width). Coloured noise is left to the noise
detectors on purpose.
"""

from __future__ import annotations

from itertools import groupby

from convergebench.failures._chroma import ONE_HUE, Colour, colour_of
from convergebench.failures._onset import confidence
from convergebench.failures.base import ChainView, Examination, Finding, detector, does_not_apply


@detector(
    "monochrome",
    level="image",
    title="Monochrome with colour left",
    rule="a picture asked to be monochrome has a mean chroma of 1 or more, or 1 % of it has a chroma above 4 "
    "(64 cells along the longer side)",
    paper="Monochrome Failure",
)
def monochrome(chain: ChainView) -> Examination:
    """Keeps colour where strict greyscale was asked for."""
    asked = chain.asks_for("monochrome")
    if not asked:
        return does_not_apply("no step was to be monochrome")
    seen = [(step.index, colour_of(chain.frame(step.index))) for step in asked]
    probes = {
        "chroma": {step: round(colour.mean, 3) for step, colour in seen},
        "coloured": {step: round(colour.share, 4) for step, colour in seen},
    }
    groups = [list(group) for failed, group in groupby(seen, key=lambda each: each[1].score >= 1) if failed]
    failed = sum(len(group) for group in groups)
    rate = f"{len(asked) - failed} of {len(asked)} such steps gave greyscale"
    return Examination(tuple(_finding(group, rate) for group in groups), probes)


def _finding(group: list[tuple[int, Colour]], rate: str) -> Finding:
    shown, worst = max(group, key=lambda each: each[1].score)
    kind = ", all of one hue (a tint)" if worst.one_hue >= ONE_HUE else ""
    return Finding(
        group[0][0],
        confidence(worst.score),
        f"mean chroma {worst.mean:.1f}, and {worst.share:.0%} of the picture shows colour{kind}; {rate}",
        region=worst.region,
        last=group[-1][0],
        shown=shown,
    )
