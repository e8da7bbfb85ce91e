"""A small real run to audit: two pictures, copies, cycles and additions of two simulated editors; and round trips."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from convergebench.conductor import run_chains
from convergebench.conductor.begin import begin
from convergebench.conductor.prepare import prepare
from convergebench.images.encode import encode_png
from convergebench.store.run import Run
from convergebench.studies.spec import parse_spec

STEPS = 4
ROWS = [
    {"variants": ["replicate"]},
    {"variants": ["monochrome-colour"], "images": ["scene-0"]},
    {"variants": ["add-apples"], "images": ["scene-1"], "independent": True},
]


def make_suite(folder: Path, count: int = 2, size: int = 12) -> Path:
    """Scenes of soft patches, eight pixels each."""
    for index in range(count):
        patches = np.random.default_rng(index).integers(40, 216, (size, size, 3)).repeat(8, 0).repeat(8, 1)
        noise = np.random.default_rng(100 + index).normal(0, 6, patches.shape)
        path = folder / "scene" / f"scene-{index}.png"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(encode_png(np.clip(patches + noise, 0, 255).astype(np.uint8)))
    return folder


def audit_spec(suite: Path, **more: Any) -> dict[str, Any]:
    return {
        "study": "audit",
        "editors": ["sim-blur", "sim-perfect"],
        "images": {"suite": str(suite)},
        "audit": {"steps": STEPS, "runs": 1, "grid": ROWS, "metrics": ["brisque"]},
        "measure": {"metrics": ["ssim"], "align": "strict"},
        "analysis": {"draws": 100, "audit": {"draws": 100}},
        **more,
    }


def walk(root: Path, content: dict[str, Any]) -> Path:
    """Edit, measure nothing."""
    prepared = prepare(parse_spec(content))
    with Run.create(root) as run:
        begin(run, prepared)
        run_chains(run, prepared.editors, prepared.chains)
    return root


def make_run(folder: Path, name: str = "run", **more: Any) -> Path:
    return walk(folder / name, audit_spec(make_suite(folder / "pictures"), **more))


def make_round_trips(folder: Path) -> Path:
    content = {
        "study": "roundtrip",
        "editors": ["sim-jpeg"],
        "roundtrip": {"rounds": 2},
        "edits": {"pairs": ["flip-horizontal"]},
        "images": {"suite": str(make_suite(folder / "pictures", 1))},
        "measure": {"metrics": ["ssim"]},
        "analysis": {"draws": 100},
    }
    return walk(folder / "trips", content)
