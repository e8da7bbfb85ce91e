"""A small run that looks real: drawn pictures, edited for real by simple filters, measured for real."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import polars as pl

from convergebench.analysis import AnalysisInput, AnalysisSettings, analyse
from convergebench.metrics.base import MetricFacts
from convergebench.report.input import ReportInput
from tests.report.pictures import degrade, draw, lags, readings, store

FACTS = {
    "ssim": MetricFacts(
        "ssim",
        "full-reference",
        "higher",
        (-1, 1),
        "Structural similarity.",
        dimension="quality",
        self_value=1.0,
        noticeable=0.9,
        half=0.5,
    ),
    "gist": MetricFacts(
        "gist",
        "semantic",
        "higher",
        (-1, 1),
        "Likeness of the coarse picture.",
        dimension="semantic",
        self_value=1.0,
        noticeable=0.95,
        half=0.75,
    ),
    "psnr": MetricFacts(
        "psnr", "full-reference", "higher", (0, math.inf), "Peak signal-to-noise ratio.", unit="dB", noticeable=30.0
    ),
    "rmse": MetricFacts("rmse", "full-reference", "lower", (0, 1), "Root mean squared error.", self_value=0.0),
    "sharpness": MetricFacts("sharpness", "diagnostic", "neither", (0, math.inf), "Mean gradient."),
    "brightness": MetricFacts("brightness", "diagnostic", "neither", (0, 1), "Mean luma."),
    "happened": MetricFacts("happened", "adherence", "higher", (0, 1), "Did the edit happen?", roles=("forward",)),
    "undone": MetricFacts("undone", "adherence", "higher", (0, 1), "Was it undone?", roles=("backward",)),
}
PAIRS = (
    ("glasses", "add-remove", "Add glasses to the person", "Remove the glasses"),
    ("mirror", "geometry", "Mirror the image left to right", "Mirror the image left to right"),
    ("night", "lighting", "Make it night", "Make it day"),
)
KINDS = ("face", "object", "scene")


def run_chain(run: Path, editor: str, case: dict[str, Any], words: tuple[str, str], rounds: int, size: int) -> Any:
    """One chain's step and measurement rows."""
    source = draw(case["kind"], size, seed=int(case["source"].split("-")[-1]))
    image, steps, measured, rounds_seen = source, [], [], [source]
    for index in range(2 * rounds + 1):
        leg = "source" if index == 0 else "forward" if index % 2 else "backward"
        image = degrade(editor, image, index) if index else source
        steps.append(
            {
                "editor": editor,
                **case,
                "index": index,
                "round": (index + 1) // 2,
                "leg": leg,
                "instruction": "" if index == 0 else words[(index + 1) % 2],
                "image": store(run, image),
                "width": size,
                "height": size,
                "seconds": 0.4,
                "dollars": 0.0,
                "attempts": 1,
                "status": "ok",
                "detail": "",
            }
        )
        if leg == "backward":
            values = readings(image, source) | lags(image, rounds_seen)
            rounds_seen.append(image)
            values |= {"happened": 0.9, "undone": 0.9}
            for metric, value in values.items():
                gone = metric == "gist" and index == 4 and case["kind"] == "scene"
                measured.append(
                    {
                        "editor": editor,
                        **case,
                        "round": index // 2,
                        "step": index,
                        "metric": metric,
                        "value": None if gone else value,
                        "status": "size" if gone else "ok",
                    }
                )
    return steps, measured


def frames(
    run: Path, editors: Sequence[str], *, sources: int, rounds: int, size: int
) -> tuple[pl.DataFrame, pl.DataFrame, pl.DataFrame]:
    """(measurements, chains, steps) of a run made now."""
    steps, measured, chains = [], [], []
    for place, editor in enumerate(editors):
        for number in range(sources):
            pair, category, forward, backward = PAIRS[number % 3]
            kind = KINDS[number % 3]
            source = f"{kind}-{number}"
            case = {"case": f"{source}×{pair}", "source": source, "kind": kind, "pair": pair, "category": category}
            early = place == 1 and number == 0
            done = max(1, rounds // 2) if early else rounds
            more, values = run_chain(run, editor, {**case, "replicate": 0}, (forward, backward), done, size)
            steps += more
            measured += values
            chains.append(
                {
                    "editor": editor,
                    **case,
                    "replicate": 0,
                    "status": "refused" if early else "finished",
                    "detail": "the filter said no" if early else "",
                    "rounds": done,
                    "planned": rounds,
                    "steps": 2 * done,
                    "dollars": 0.02 * done,
                    "seconds": 0.8 * done,
                }
            )
    return (pl.DataFrame(rows, infer_schema_length=None) for rows in (measured, chains, steps))  # type: ignore[return-value]


def manifest(editors: Sequence[str], rounds: int) -> dict[str, Any]:
    return {
        "name": "tea-and-hills",
        "study": "roundtrip",
        "created": "2026-03-01T09:00:00+00:00",
        "command": "cbench run studies/quick.toml --run runs/tea-and-hills",
        "spec": {
            "study": "roundtrip",
            "rounds": rounds,
            "align": "strict",
            "seed": 7,
            "editors": list(editors),
            "analysis": {"headline": "ssim", "level": "noticeable"},
        },
        "versions": {"convergebench": "0.1.0", "python": "3.11.9", "numpy": "2.4.0"},
        "suite": "d1:0d4c2f",
        "pairs": "d1:77aa01",
        "editors": [{"name": editor, "fingerprint": f"{editor}@1:4f0c9a"} for editor in editors],
        "metrics": [{"name": name, "fingerprint": f"{name}@1:aa"} for name in FACTS],
        "sessions": [{"started": "2026-03-01T09:00:00+00:00", "command": "cbench run studies/quick.toml"}],
    }


def make_run(
    root: Path,
    editors: Sequence[str] = ("sim-perfect", "sim-jpeg", "sim-blur", "sim-noise"),
    *,
    sources: int = 3,
    rounds: int = 5,
    size: int = 64,
) -> ReportInput:
    """A whole run under `root`, with its analysis."""
    measurements, chains, steps = frames(root, editors, sources=sources, rounds=rounds, size=size)
    simulated = frozenset(editor for editor in editors if editor.startswith("sim-"))
    given = AnalysisInput(measurements, chains, FACTS, simulated, frozenset(editors) - {"sim-noise"})
    analysis = analyse(given, AnalysisSettings(draws=200))
    return ReportInput(analysis, measurements, chains, steps, manifest(editors, rounds), root, FACTS, simulated)
