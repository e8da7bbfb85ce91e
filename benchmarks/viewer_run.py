"""A large run, written at once: every row and every image file is there, but no editor was called and no metric ran.

Chains of the study `replicate` with one image per step. The images are small drawings that fade from step to step, each
of them different; the values of the metrics follow the fading.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import cv2
import numpy as np

from convergebench.ids import image_id
from convergebench.store.images import file_of
from convergebench.store.manifest import Manifest, write_manifest
from convergebench.store.run import Run
from convergebench.store.tables import (
    AttemptRow,
    CaseRow,
    ChainStatusRow,
    ChainStepRow,
    ComparisonRow,
    ImageRow,
    MeasurementRow,
    StepRow,
    TableRow,
)

EDITORS = tuple(f"drawn-{letter}" for letter in "abcdefg")
METRICS = ("ssim", "psnr", "lpips", "niqe", "rmse", "sharpness")
WORDS = "Produce an exact replica of the provided image, with no alterations."


@dataclass(frozen=True)
class LargeRun:
    """How large."""

    chains: int = 280
    steps: int = 100
    width: int = 192
    height: int = 144

    @property
    def images(self) -> int:
        """Without the sources."""
        return self.chains * self.steps


def write_large_run(root: Path, size: LargeRun | None = None) -> Path:
    """Write the run into a new folder."""
    size = size or LargeRun()
    sources = math.ceil(size.chains / len(EDITORS))
    with Run.create(root) as run:
        write_manifest(root / "manifest.json", _manifest(root.name, size, sources))
        rows: list[TableRow] = []
        for number in range(size.chains):
            rows += _chain(root, size, EDITORS[number % len(EDITORS)], number // len(EDITORS))
            if number % 20 == 19:
                run.journal.commit_now(rows)
                rows = []
        run.journal.commit_now(rows)
    return root


def _manifest(name: str, size: LargeRun, sources: int) -> Manifest:
    return Manifest(
        name=name,
        study="replicate",
        created="2026-01-01T00:00:00+00:00",
        spec={"study": "replicate", "measure": {"align": "strict"}, "editors": [{"name": one} for one in EDITORS]},
        fixed={"seed": 0},
        sources={f"drawing-{one:03}": {"sha256": "0" * 64, "kind": "scene"} for one in range(sources)},
        pairs={"replicate": {"forward": WORDS, "category": "replication"}},
        editors={name: {"fingerprint": f"e1:{name}", "simulated": True} for name in EDITORS},
        metrics={name: f"m1:{name}" for name in METRICS},
        sessions=[{"command": "python -m benchmarks.viewer", "versions": {}}],
    )


def _chain(root: Path, size: LargeRun, editor: str, source: int) -> Iterator[TableRow]:
    case = f"drawing-{source:03}/replicate/0"
    first = _store(root, size, editor="", source=source, step=0)
    yield first
    yield CaseRow(case, f"drawing-{source:03}", first.id, "scene", "replicate", "replication", 0)
    yield ChainStatusRow(editor, case, "p", "finished", "", size.steps, size.steps)
    parent = first.id
    for step in range(1, size.steps + 1):
        image = _store(root, size, editor=editor, source=source, step=step)
        key = f"s1:{editor}/{case}/{step}"
        yield image
        yield StepRow(key, parent, editor, WORDS, "{}", None, 0, "ok", image.id)
        yield ChainStepRow(editor, case, step, key)
        moment = f"2026-01-01T{step // 60:02}:{step % 60:02}:{source % 60:02}+00:00"
        yield AttemptRow(key, 1, editor, moment, 1.25, 0.01, "ok", model=editor)
        for role, reference in (("step", parent), ("return", first.id)):
            yield ComparisonRow(f"{key}/{role}", editor, case, role, step, step, 0, image.id, reference)
        for metric in METRICS:
            role = "step" if metric == "sharpness" else "return"
            value = math.exp(-step / (20 + 5 * METRICS.index(metric) + source % 7))
            yield MeasurementRow(f"{key}/{role}", metric, "strict", f"m1:{metric}", value, "ok")
        parent = image.id


def _store(root: Path, size: LargeRun, *, editor: str, source: int, step: int) -> ImageRow:
    """Draw and write one image; no two are alike."""
    rows, columns = np.mgrid[: size.height, : size.width].astype(np.float32)
    tone = 128 + 100 * math.exp(-step / 40) * np.sin(rows / (5 + source % 11) + columns / (7 + source % 13))
    pixels = (
        np.stack([tone, np.roll(tone, 9 + step, 1), np.roll(tone, 17 + source, 0)], 2).clip(0, 255).astype(np.uint8)
    )
    cv2.putText(pixels, f"{editor[-1:]}{source} {step}", (6, size.height - 8), 0, 0.6, (255, 255, 255))
    data = cv2.imencode(".jpg", pixels, [cv2.IMWRITE_JPEG_QUALITY, 80])[1].tobytes()
    identity = image_id(data)
    file = file_of(identity, "image/jpeg")
    path = root / file
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    return ImageRow(identity, file, "image/jpeg", size.width, size.height, len(data))
