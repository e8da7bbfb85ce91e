"""Small audits whose answer can be worked out by hand: chains with their scores written down."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from math import inf

import polars as pl

from convergebench.analysis.audit.analyse import analyse_audit
from convergebench.analysis.audit.result import INPUTS, AuditAnalysis, AuditInput
from convergebench.metrics.base import MetricFacts
from convergebench.studies.analysis_settings import AuditSettings

FACTS = {
    facts.name: facts
    for facts in (
        MetricFacts("brisque", "no-reference", "lower", (-inf, inf), "scenes", typical=(0, 150)),
        MetricFacts("musiq", "no-reference", "higher", (-inf, inf), "patches", typical=(0, 100)),
        MetricFacts("pi", "no-reference", "lower", (0, inf), "both", typical=(0, inf)),
        MetricFacts("share", "no-reference", "higher", (0, 1), "bounded"),
        MetricFacts("endless", "no-reference", "higher", (0, inf), "unbounded"),
        MetricFacts("noise", "diagnostic", "neither", (0, inf), "noise"),
        MetricFacts("lpips", "full-reference", "lower", (0, 1), "distance"),
        MetricFacts("ssim", "full-reference", "higher", (-1, 1), "similarity"),
        MetricFacts("psnr", "full-reference", "higher", (0, inf), "decibels", unit="dB"),
    )
}
QUICK = AuditSettings(gaps=(2, 3), draws=200)
"""Two gaps, for chains of three."""

Values = Sequence[float | None]


@dataclass(frozen=True)
class Chain:
    """One chain: a list of scores per metric, from the untouched picture on."""

    source: str
    scores: Mapping[str, Values]
    damage: Mapping[str, Values] = field(default_factory=dict)
    editor: str = "one"
    run: str = "run"
    pair: str = "copy"
    replicate: int = 0
    role: str = "copies"
    simulated: bool = False
    last: int | None = None

    @property
    def picture(self) -> dict[str, object]:
        case = f"{self.source}/{self.pair}/{self.replicate}"
        names = {"run": self.run, "editor": self.editor, "case": case, "source": self.source, "pair": self.pair}
        return {**names, "replicate": self.replicate}


def world(
    chains: Iterable[Chain],
    *,
    facts: Mapping[str, MetricFacts] = FACTS,
    not_run: Mapping[str, str] | None = None,
    repeats: Sequence[Mapping[str, object]] = (),
    opinions: Sequence[Mapping[str, object]] = (),
) -> AuditInput:
    """The input that these chains make; a score of None has the status `failed`."""
    listed, scores, damage = [], [], []
    for chain in chains:
        last = chain.last if chain.last is not None else max((len(own) for own in chain.scores.values()), default=1) - 1
        listed.append({**chain.picture, "role": chain.role, "simulated": chain.simulated, "last": last})
        for metric, values in chain.scores.items():
            for at, value in enumerate(values):
                status = "failed" if value is None else "ok"
                columns = {
                    "metric": metric,
                    "value": value,
                    "status": status,
                    "detail": "" if value else "out of memory",
                }
                scores.append({**chain.picture, "kind": "photo", "at": at, "step": at, **columns})
        for metric, values in chain.damage.items():
            for at, value in enumerate(values):
                damage.append({**chain.picture, "at": at, "metric": metric, "value": value})
    return AuditInput(
        scores=pl.DataFrame(scores, schema=INPUTS["scores"]),
        damage=pl.DataFrame(damage, schema=INPUTS["damage"]),
        chains=pl.DataFrame(listed, schema=INPUTS["chains"]),
        facts=facts,
        not_run=not_run or {},
        repeats=pl.DataFrame([dict(row) for row in repeats], schema=INPUTS["repeats"]),
        opinions=pl.DataFrame([dict(row) for row in opinions], schema=INPUTS["opinions"]),
    )


def audit(*chains: Chain, settings: AuditSettings = QUICK) -> AuditAnalysis:
    """The audit of these chains."""
    return analyse_audit(world(chains), settings)


def row(frame: pl.DataFrame, **equal: object) -> dict[str, object]:
    """The one row with these values."""
    (found,) = frame.filter(**equal).to_dicts()
    return found
