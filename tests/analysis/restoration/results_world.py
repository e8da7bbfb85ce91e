"""Hand-made restoration runs: chains with their values, as the analysis part gets them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from math import inf
from typing import Any

import polars as pl

from convergebench.analysis.parts import AnalysisContext
from convergebench.analysis.restoration.analyse import restoration
from convergebench.analysis.restoration.result import RestorationAnalysis
from convergebench.edits.restoration_prompts import shipped_prompts
from convergebench.metrics.base import MetricFacts
from convergebench.store.frames import CHAINS, LABELS, MEASUREMENTS

Values = Mapping[str, float | str | None]
"""Metric → its value, or the status that says why there is none."""

FACTS = {
    one.name: one
    for one in (
        MetricFacts("piqe", "no-reference", "lower", (0, 100), "looks"),
        MetricFacts("psnr", "full-reference", "higher", (0, inf), "closeness", unit="dB"),
        MetricFacts("lpips", "full-reference", "lower", (0, 1), "distance"),
        MetricFacts("musiq", "no-reference", "higher", (0, 100), "looks"),
        MetricFacts("cast-a", "diagnostic", "neither", (-100, 100), "colour"),
    )
}
PROMPTS = {
    one.id: {"group": one.group, "length": one.length, "fidelity": one.fidelity, "instructions": [one.words]}
    for one in shipped_prompts()
}


def chain(
    editor: str,
    source: str,
    *rounds: Values,
    prompt: str = "LF3",
    repeat: int = 0,
    status: str = "finished",
    planned: int | None = None,
) -> dict[str, Any]:
    """One chain: the values of its results, round by round."""
    damage = source.partition(".")[2] or "mixed"
    facts = {
        **{"editor": editor, "case": f"{source}/{prompt}/{repeat}", "source": source, "pair": prompt},
        **{"kind": "text" if damage == "mixed" else damage, "category": PROMPTS.get(prompt, {}).get("group", prompt)},
        **{"replicate": repeat, "status": status, "detail": "", "rounds": 0, "steps": len(rounds)},
    }
    return {**facts, "planned": planned or max(len(rounds), 1), "dollars": 0.0, "seconds": 0.0, "values": rounds}


def run(
    chains: Iterable[Mapping[str, Any]], inputs: Mapping[str, Values] | Values | None = None, **more: Any
) -> AnalysisContext:
    """The run of these chains; `inputs` are the values of the degraded pictures, of each or of all."""
    chains = list(chains)
    shared = ("editor", "case", "source", "kind", "pair", "category", "replicate")
    rows = []
    for one in chains:
        before = {} if inputs is None else inputs.get(one["source"], inputs)
        for number, values in enumerate((before, *one["values"])):
            for metric, value in values.items():
                known = not isinstance(value, str)
                rows.append(
                    {
                        **{name: one[name] for name in shared},
                        **{"round": number, "step": number, **_series(metric)},
                        **{"value": value if known else None, "status": "ok" if known else value},
                    }
                )
    sources = {one["source"]: {"clean": one["source"].partition(".")[0]} for one in chains if "." in one["source"]}
    measurements = pl.DataFrame(rows, schema={name: kind for name, kind in MEASUREMENTS.items() if name != "lag"})
    asked = {one["pair"] for one in chains}
    given = {
        **{"facts": FACTS, "simulated": frozenset(), "deterministic": frozenset(), "sources": sources},
        **{"pairs": {name: facts for name, facts in PROMPTS.items() if name in asked}},
        **{"labels": pl.DataFrame(schema=LABELS), **more},
    }
    return AnalysisContext(
        measurements=measurements,
        chains=pl.DataFrame([{name: one[name] for name in CHAINS} for one in chains], schema=CHAINS),
        **given,
    )


def analysed(
    chains: Iterable[Mapping[str, Any]], inputs: Mapping[str, Values] | Values | None = None, **more: Any
) -> RestorationAnalysis:
    """What the analysis says of such a run."""
    return restoration(run(chains, inputs, **more))


def only(frame: pl.DataFrame, **equal: object) -> dict[str, Any]:
    """The one row with these values."""
    (row,) = frame.filter(**equal).to_dicts()
    return row


def label(
    editor: str, case: str, mode: str, present: bool | None, *, source: str = "rule", by: str = "x"
) -> dict[str, Any]:
    """One failure label."""
    image, prompt, repeat = case.split("/")
    facts = {"id": f"{editor}{case}{mode}{by}", "editor": editor, "case": case, "source_image": image, "pair": prompt}
    more = {"replicate": int(repeat), "mode": mode, "level": "clear", "present": present, "source": source, "by": by}
    return {**dict.fromkeys(LABELS), **facts, **more, "made": "2026-01-01"}


def labels(*rows: Mapping[str, Any]) -> pl.DataFrame:
    """The table of labels."""
    return pl.DataFrame([dict(row) for row in rows], schema=LABELS)


def _series(metric: str) -> dict[str, str]:
    """Diagnostics are measured beside the input, all others beside the clean picture."""
    if FACTS[metric].kind == "diagnostic":
        return {"metric": metric, "role": "step"}
    return {"metric": f"{metric}-restored", "role": "restored"}
