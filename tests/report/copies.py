"""A small replicate run: pictures copied over and over by simple filters, with hand-made frames of its own analysis."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import polars as pl

from convergebench.analysis import AnalysisInput, AnalysisSettings, analyse
from convergebench.analysis.decay_result import SCHEMAS, DecayAnalysis
from convergebench.metrics.base import MetricFacts
from convergebench.report.input import ReportInput
from convergebench.studies.units import STEP
from tests.report.pictures import Pixels, degrade, draw, readings, ssim, store
from tests.report.synthetic import FACTS as ROUND_TRIP_FACTS

CONTRAST = MetricFacts(
    "contrast", "no-reference", "higher", (0, 128), "Spread of the luma; noise is taken for detail.", aligned=False
)
FACTS = {**{name: ROUND_TRIP_FACTS[name] for name in ("ssim", "gist", "rmse", "sharpness")}, "contrast": CONTRAST}
VARIANTS = {
    "replicate": ("replication", None, "Produce an exact replica of the provided image, with no alterations."),
    "seed-fixed": ("hyperparameter", "replicate", "Produce an exact replica of the provided image."),
    "denoise": ("denoise", "replicate", "Copy it and remove any noise."),
    "replicate-independent": ("replication", "replicate", "Produce an exact replica of the provided image."),
    "mirror": ("multi-step", "replicate", "Mirror this image horizontally."),
}
EDITORS = ("sim-jpeg", "sim-noise")
MODES = (
    ("simplification", "sub-object", "Simplification", "fewer than half of the colours are left"),
    ("counting", "object", "Counting failure", "the number of things is not what was asked for"),
    ("colour-cast", "image", "Colour cast", "mean a* or b* moves by more than 6"),
    ("static-noise", "noise", "Static noise", "the finest scale holds three times its energy"),
)


def walk(run: Path, editor: str, case: dict[str, Any], steps: int, size: int) -> tuple[list[Any], list[Any]]:
    """One chain's step and measurement rows; every step counts."""
    source = draw(case["kind"], size, seed=len(case["source"]))
    image, first, made, measured = source, source, [], []
    for index in range(steps + 1):
        if index:
            image = degrade(editor, source if case["pair"].endswith("-independent") else image, index)
        first = image if index == 1 else first
        made.append(
            {
                **{"editor": editor, **case, "index": index, "round": index, "leg": "step" if index else "source"},
                **{"instruction": VARIANTS[case["pair"]][2] if index else "", "image": store(run, image)},
                **{"width": size, "height": size, "seconds": 0.4, "dollars": 0.01, "attempts": 1},
                **{"status": "ok", "detail": ""},
            }
        )
        for metric, value in _values(image, source, first, index).items():
            row = {"round": index, "step": index, "metric": metric, "value": value, "status": "ok"}
            measured.append({"editor": editor, **case, **row})
    return made, measured


def _values(image: Pixels, source: Pixels, first: Pixels, index: int) -> dict[str, float]:
    found = {"contrast": float(cv2.cvtColor(image, cv2.COLOR_BGR2GRAY).std())}
    if index:
        known = readings(image, source)
        found |= {name: known[name] for name in ("ssim", "gist", "rmse", "sharpness")}
    if index >= 2:
        found["ssim-first"] = ssim(image, first)
    return found


def frame(name: str, rows: Sequence[dict[str, Any]]) -> pl.DataFrame:
    """A frame of the contract; what a row leaves out is null."""
    columns = SCHEMAS[name]
    return pl.DataFrame([{column: row.get(column) for column in columns} for row in rows], schema=columns)


def findings(chains: pl.DataFrame, steps: pl.DataFrame, run: Path) -> DecayAnalysis:
    """Every frame with a few rows, as the analysis would give them; crops are cut from the run's own pictures."""
    labels = [label for row in chains.to_dicts() for label in _labels(row, steps, run)]
    made: dict[str, list[dict[str, Any]]] = {
        "onsets": [
            {**row, "metric": "ssim", "onset": None if row["editor"] == "sim-jpeg" else 2 + row["replicate"], "last": 6}
            for row in chains.to_dicts()
        ],
        "onset_summary": [
            {"editor": "sim-noise", "pair": "replicate", "metric": "ssim", "median": 2, "low": 2, "high": 3}
            | {"text": "2", "n_cases": 6, "n_censored": 0, "n_sources": 3},
            {"editor": "sim-jpeg", "pair": "replicate", "metric": "ssim", "text": "> 6"}
            | {"n_cases": 6, "n_censored": 6, "n_sources": 3},
        ],
        "failures": [_share(editor, *mode, place) for editor in EDITORS for place, mode in enumerate(MODES)],
        "labels": labels,
        "agreement": [
            {"mode": "colour-cast", "n": 10, "both": 5, "rule_only": 1, "person_only": 1, "neither": 3}
            | {"kappa": 0.58, "precision": 0.83, "recall": 0.83, "step_difference": 1.5}
        ],
        "noticing": [
            {**row, "first_yes": 4 + row["replicate"] if row["source"] != "hill" else None, "last": 6, "asked": 6}
            | {"yes": 2, "no": 3, "unparsable": 1, "missing": 0}
            for row in chains.filter(pair="replicate", editor="sim-noise").to_dicts()
        ],
        "noticing_summary": [
            {"editor": "sim-noise", "pair": "replicate", "source": source, "n_runs": 2, "n_never": 0, "mean": 4.5}
            | {"std": 0.7, "median": 4, "low": 4, "high": 5, "text": "4", "delay_text": "2", "delay_median": 2}
            | {"delay_low": 1, "delay_high": 3, "n_delay": 2}
            for source in ("all", "cup", "anna")
        ]
        + [{"editor": "sim-noise", "pair": "replicate", "source": "hill", "n_runs": 2, "n_never": 2, "text": "> 6"}],
        "variants": [
            {"editor": editor, "pair": pair, "baseline": "replicate", "category": VARIANTS[pair][0], "metric": metric}
            | {"step": step, "mean": 0.8, "baseline_mean": 0.7, "difference": 0.02 * step - 0.05}
            | {"low": 0.02 * step - 0.1, "high": 0.02 * step, "n_sources": 3, "n_cases": 6, "n_missing": 0}
            for editor in EDITORS
            for pair in ("seed-fixed", "denoise", "replicate-independent")
            for metric in ("ssim", "rmse")
            for step in (2, 5, 6)
        ],
        "success": [
            {"editor": editor, "pair": "mirror", "operation": "flip-horizontal", "steps": 12, "done": done}
            | {"share": done / 12, "low": max(0.0, done / 12 - 0.2), "high": min(1.0, done / 12 + 0.2), "n_missing": 1}
            for editor, done in zip(EDITORS, (10, 3), strict=True)
        ],
    }
    return DecayAnalysis(**{one.name: frame(one.name, made[one.name]) for one in fields(DecayAnalysis)})


def _share(editor: str, mode: str, level: str, title: str, rule: str, place: int) -> dict[str, Any]:
    seen = place * (2 if editor == "sim-noise" else 1)
    share = seen / 12
    return {
        "editor": editor,
        "pair": "all",
        "mode": mode,
        "level": level,
        "title": title,
        "chains": 12,
        "seen": seen,
    } | {
        "undecided": place,
        "share": share,
        "low": max(0.0, share - 0.1),
        "high": min(1.0, share + 0.2),
        "first_step": 2.0 if seen else None,
        "source_of": f"{seen} rule" if seen else "",
    }


def _labels(row: dict[str, Any], steps: pl.DataFrame, run: Path) -> list[dict[str, Any]]:
    shown = steps.filter(editor=row["editor"], case=row["case"], index=4)["image"]
    if row["editor"] != "sim-noise" or shown.is_empty():
        return []
    found = []
    for place, (mode, level, title, rule) in enumerate(MODES):
        crop = f"evidence/{mode}-{row['source']}-{row['replicate']}-{row['pair']}.png"
        (run / "evidence").mkdir(exist_ok=True)
        pixels = np.asarray(cv2.imread(str(run / shown[0])))
        cv2.imwrite(str(run / crop), pixels[8:40, 8:40])
        cv2.imwrite(str(run / crop.replace(".png", "-source.png")), pixels[8:40, 8:40] // 2)
        found.append(
            {
                **{"editor": row["editor"], "case": row["case"], "source_image": row["source"], "pair": row["pair"]},
                **{"mode": mode, "level": level, "title": title, "present": True, "step": place + 1, "shown": 4},
                **{"region": json.dumps([0.1, 0.1, 0.5, 0.5]), "evidence": crop if place else None},
                **{"confidence": 0.6 + place / 10, "source": "person" if place == 2 else "rule", "by": f"{mode}@1"},
                **{"detail": f"it is {place} times as much", "rule": rule},
            }
        )
    return found


def manifest(editors: Sequence[str], steps: int) -> dict[str, Any]:
    """As a replicate run writes it."""
    pairs: dict[str, dict[str, Any]] = {
        label: {"family": family, "origin": "ours", "instructions": [words], "operations": ["replicate"]}
        | {"compared": "whole", "independent": label.endswith("-independent"), "settings": {}, "baseline": baseline}
        for label, (family, baseline, words) in VARIANTS.items()
    }
    return {
        "name": "copies",
        "study": "replicate",
        "created": "2026-03-01T09:00:00+00:00",
        "command": "cbench run studies/replicate-quick.toml --run runs/copies",
        "spec": {"study": "replicate", "replicate": {"steps": steps, "runs": 2}, "measure": {"align": "crop-aware"}},
        "versions": {"convergebench": "0.1.0"},
        "pairs": pairs,
        "editors": [{"name": editor, "fingerprint": f"{editor}@1"} for editor in editors],
        "metrics": [{"name": name, "fingerprint": f"{name}@1"} for name in FACTS],
        "sessions": [],
    }


def make_copies(
    root: Path,
    editors: Sequence[str] = EDITORS,
    *,
    steps: int = 6,
    size: int = 64,
    variants: Sequence[str] = (),
    sources: int = 3,
) -> ReportInput:
    """A whole run under `root`: (up to) three images and two runs of the plain copy, one of each other variant."""
    made, measured, chains = [], [], []
    drawn = (("anna", "face"), ("cup", "object"), ("hill", "scene"))
    for editor in editors:
        for label in variants or VARIANTS:
            few = label != "replicate"
            for source, kind in drawn[: min(2, sources) if few else sources]:
                for replicate in range(1 if few else 2):
                    case: dict[str, Any] = {
                        "case": f"{source}/{label}/{replicate}",
                        "source": source,
                        "kind": kind,
                        "pair": label,
                    }
                    case |= {"category": VARIANTS[label][0], "replicate": replicate}
                    early = editor == editors[-1] and (source, label, replicate) == ("cup", "replicate", 1)
                    done = 2 if early else steps
                    walked, values = walk(root, editor, case, done, size)
                    made += walked
                    measured += values
                    ended = (
                        {"status": "refused", "detail": "no more"} if early else {"status": "finished", "detail": ""}
                    )
                    facts = {"rounds": done, "planned": steps, "steps": done, "dollars": 0.01 * done, "seconds": 0.4}
                    chains.append({"editor": editor, **case, **ended, **facts})
    frames = [pl.DataFrame(rows, infer_schema_length=None) for rows in (measured, chains, made)]
    simulated = frozenset(editors)
    given = AnalysisInput(frames[0], frames[1], FACTS, simulated, frozenset(), unit=STEP)
    settings = AnalysisSettings(draws=100, chain_draws=20, quality=("ssim",), permutations=99)
    measurements, table, steps_frame = frames
    return ReportInput(
        analysis=analyse(given, settings),
        measurements=measurements,
        chains=table,
        steps=steps_frame,
        manifest=manifest(editors, steps),
        run=root,
        facts=FACTS,
        simulated=simulated,
        results={"decay": findings(table, steps_frame, root)},
    )


def frames_of(given: ReportInput) -> DecayAnalysis:
    """The run's own frames."""
    assert given.decay is not None
    return given.decay


def with_frames(given: ReportInput, **frames: pl.DataFrame) -> ReportInput:
    """The run with other frames."""
    return replace(given, results={"decay": replace(frames_of(given), **frames)})


def text_of(path: Path) -> str:
    """A written page."""
    return path.read_text(encoding="utf-8")
