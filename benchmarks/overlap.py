"""Does measuring hide behind slow calls? One study, run three ways, as ratios to its editing alone.

    python -m benchmarks.overlap [--seconds 5] [--json FILE]

An editor answers after some seconds, as an API does, with a slightly blurred picture. The run is timed without any
metric (`editing`), with metrics measured while calls are in flight (`overlapped`, which is what `cbench run` does), and
with the same metrics measured when editing is done (`one after the other`).
"""

from __future__ import annotations

import argparse
import asyncio
import json
import tempfile
import time
from pathlib import Path
from typing import Any
from unittest.mock import patch

import cv2
import numpy as np

from convergebench.conductor.options import RunOptions
from convergebench.conductor.running import plan, run
from convergebench.conductor.stages.base import Stage
from convergebench.conductor.stages.measure import MeasureStage
from convergebench.images.decode import decode
from convergebench.images.encode import encode_png
from convergebench.studies.spec import parse_spec
from convergebench.types import Capabilities, Edited, EditRequest, Limits

METRICS = ["classical", "diagnostics", "adherence", "brisque", "niqe", "piqe"]
NAME = "slow-api"


class SlowEditor:
    """Blurs a little, after a while."""

    name, fingerprint = NAME, "slow-api@2"
    limits = Limits(at_once=8, account="benchmark")

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self.capabilities = Capabilities(seconds_per_call=seconds)

    async def edit(self, request: EditRequest) -> Edited:
        await asyncio.sleep(self.seconds)
        pixels = decode(request.image).pixels
        blurred = np.asarray(cv2.GaussianBlur(pixels, (3, 3), 0.5), np.uint8)
        return Edited(encode_png(blurred, 1), "image/png", NAME)


def timed(root: Path, metrics: list[str], seconds: float, rounds: int) -> float:
    """Wall time of a whole run without its report."""
    spec = parse_spec(
        {
            "study": "roundtrip",
            "editors": [NAME],
            "images": {"suite": "builtin", "limit": 8},
            "edits": {"pairs": ["flip-horizontal"]},
            "roundtrip": {"rounds": rounds},
            "measure": {"metrics": metrics},
        },
        where="benchmark",
    )
    begun = time.perf_counter()
    outcome = run(plan(spec, root, editors={NAME: SlowEditor(seconds)}), RunOptions(report=False))
    assert outcome.stopped is None, outcome
    return time.perf_counter() - begun


def measured(seconds: float, rounds: int) -> dict[str, Any]:
    """Wall times of the three ways, in one process after a first run that loads everything."""
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        timed(root / "warm", METRICS, 0.0, 1)
        editing = timed(root / "editing", [], seconds, rounds)
        overlapped = timed(root / "overlapped", METRICS, seconds, rounds)
        with patch.object(MeasureStage, "begin", Stage.begin):
            after = timed(root / "after", METRICS, seconds, rounds)
    return {
        "editing_seconds": editing,
        "overlapped_ratio": overlapped / editing,
        "one_after_the_other_ratio": after / editing,
    }


def main() -> None:
    """Print the ratios."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=5.0, help="of a call")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    found = measured(options.seconds, options.rounds)
    print(f"editing alone          {found['editing_seconds']:.1f} s")
    print(f"overlapped             {found['overlapped_ratio']:.2f} × editing alone")
    print(f"one after the other    {found['one_after_the_other_ratio']:.2f} × editing alone")
    if options.json is not None:
        options.json.write_text(json.dumps(found, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
