"""A restoration run with its analysis: real pictures and numbers, and what a small run lacks added by hand."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from convergebench.analysis.restoration.analyse import restoration
from convergebench.analysis.restoration.result import INPUT, SCHEMAS, RestorationAnalysis, frame
from convergebench.conductor.analyse import analyse_run, report_input
from convergebench.conductor.options import RunOptions
from convergebench.conductor.running import plan, run
from convergebench.report.input import ReportInput
from convergebench.studies.spec import parse_spec
from tests.restoration_run import InstantRestorer, sources

SECTIONS = (
    *("restoration-methods", "restoration-panels", "restoration-tradeoff", "restoration-categories"),
    *("restoration-prompts", "restoration-factors", "restoration-stability", "restoration-refinement"),
    *("restoration-infidelity", "chains", "cost", "made", "terms"),
)
OWN = tuple(name for name in SECTIONS if name.startswith("restoration-"))
HOSTILE = "<img src=x onerror=alert(1)> \"quoted\" & 'so on'"


def make_restored(root: Path) -> ReportInput:
    """Three editors (one ignores words, one has a hostile name), five prompts, three repeats, two rounds."""
    editors = (
        InstantRestorer(),
        InstantRestorer("gentle", amount=0.2, instructed=False),
        InstantRestorer(HOSTILE, amount=0.9, noise=4.0),
    )
    parameters = {"prompts": ["S1", "S2", "SF1", "L1", "LF3"], "repeats": 3, "rounds": 2, "per_degradation": 1}
    spec = parse_spec(
        {
            "study": "restoration",
            "editors": [{"name": one.name, "use": "sim-identity"} for one in editors],
            "restoration": {**parameters, "degradations": ["motion-blur", "old-film"]},
            "measure": {"metrics": ["psnr", "ssim", "piqe"]},
            "examine": {"detectors": ["aspect-ratio"]},  # the others take their time, and labels are added below
        }
    )
    run(
        plan(spec, root, editors={one.name: one for one in editors}, sources=sources(3)),
        RunOptions(report=False, workers=1),
    )
    given = report_input(root)
    found = restoration(analyse_run(root).context)
    return with_analysis(given, replace(found, **_by_hand(found)))


def with_analysis(given: ReportInput, found: RestorationAnalysis) -> ReportInput:
    """The input of a report with this analysis alone, and every section."""
    analysis = replace(given.analysis, headline=found.headline)
    return replace(given, analysis=analysis, results={"restoration": found}, sections=SECTIONS)


def _by_hand(found: RestorationAnalysis) -> dict[str, Any]:
    """Labels, an outlier and a published number: a small run has none."""
    case = found.restored.filter(editor="instant", metric="psnr", prompt="SF1", replicate=1, round=1).row(0, named=True)
    outlier = {
        **{name: case[name] for name in ("editor", "case", "source", "kind", "prompt", "replicate", "metric", "value")},
        **{"median": case["value"] + 9, "deviation": -9.0, "usual": 0.5, "times": 18.0},
    }
    shares = [
        {
            **{"editor": "instant", "prompt": prompt, "group": group, "fidelity": fidelity, "mode": mode},
            **{"said_by": voice, "cases": cases, "n": 5, "share": cases / 5, "low": 0.1, "high": 0.9},
            **{"n_sources": 5, "n_unknown": 1, "per_prompt": float(cases)},
        }
        for prompt, group, fidelity, cases in (
            *(("S1", "S", False, 4), ("SF1", "SF", True, 1)),
            *(("all", "all", False, 4), ("all", "all", True, 1)),
        )
        for mode in ("any", "invented-texture")
        for voice in ("rule", "person")
    ]
    published = found.prompt_results.with_columns(paper=found.prompt_results["mean"] + 1.5)
    return {
        "outlier_repeats": frame("outlier_repeats", [outlier]),
        "infidelity": frame("infidelity", shares),
        "prompt_results": published,
    }


def nothing(found: RestorationAnalysis) -> RestorationAnalysis:
    """An analysis without a row."""
    empty: dict[str, Any] = {name: frame(name, []) for name in SCHEMAS}
    return replace(found, **empty)


def method_rows(editors: Sequence[str], *, metric: str = "psnr") -> list[dict[str, Any]]:
    """Rows of `method_results`: the input and methods whose gains fall from 2 by a half each."""
    rows: list[dict[str, Any]] = [
        {"editor": INPUT, "metric": metric, "mean": 20.0, "low": 19.0, "high": 21.0, "n_cases": 9, "n_sources": 9}
    ]
    for place, editor in enumerate(editors):
        gain = 2.0 - place / 2
        rows.append(
            {
                **{"editor": editor, "metric": metric, "mean": 20.0 + gain, "low": 19.0, "high": 23.0, "n_cases": 9},
                **{"n_sources": 9, "n_missing": 0, "gain": gain, "gain_low": gain - 0.3, "gain_high": gain + 0.3},
                **{"improved": 0.5, "coverage": 1.0 if place else 0.5, "best": place == 1, "note": ""},
            }
        )
    return rows
