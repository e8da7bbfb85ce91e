"""A finished restoration run on tiny pictures with an editor whose effects are known: what its parts are tested on."""

from __future__ import annotations

import hashlib
from functools import partial
from pathlib import Path
from typing import Any

import cv2
import numpy as np

from benchmarks.factory_world import chance
from convergebench.conductor.options import RunOptions
from convergebench.conductor.running import RunOutcome, plan, run
from convergebench.images.decode import decode
from convergebench.images.encode import encode_png
from convergebench.studies.restoration_table import SCENES
from convergebench.studies.spec import parse_spec
from convergebench.types import Capabilities, Edited, EditRequest, Limits, SourceImage

SIDE = 64


def sources(count: int) -> list[SourceImage]:
    """Clean pictures of as many scenes, each with edges and texture of its own."""
    found = []
    for number in range(count):
        draw = np.random.default_rng(number)
        low = draw.uniform(40, 215, (8, 8, 3))
        pixels = np.kron(low, np.ones((SIDE // 8, SIDE // 8, 1))) + draw.normal(0, 12, (SIDE, SIDE, 1))
        data = encode_png(np.clip(pixels, 0, 255).astype(np.uint8))
        kind = list(SCENES)[number % len(SCENES)]
        found.append(
            SourceImage(
                f"picture-{number}",
                kind,
                hashlib.sha256(data).hexdigest(),
                SIDE,
                SIDE,
                "CC0",
                "drawn",
                partial(bytes, data),
            )
        )
    return found


class InstantRestorer:
    """Sharpens by an amount that depends on the words' length and on a request for fidelity, with noise per seed."""

    fingerprint = "instant-restorer@1"
    limits = Limits(at_once=8)

    def __init__(
        self, name: str = "instant", *, amount: float = 0.5, noise: float = 1.0, instructed: bool = True
    ) -> None:
        self.name, self.fingerprint = name, f"{name}@{amount}-{noise}"
        self.amount, self.noise = amount, noise
        self.capabilities = Capabilities(seed=True, dollars_per_call=0.01, instructed=instructed)
        self.calls = 0

    async def edit(self, request: EditRequest) -> Edited:
        """The picture sharpened: more by short words, less where fidelity is asked for."""
        self.calls += 1
        pixels = decode(request.image).pixels.astype(np.float32)
        words = request.instruction if self.capabilities.instructed else ""
        amount = self.amount * (1.5 if words and len(words.split()) < 32 else 1.0)
        amount *= 0.6 if any(word in words for word in ("fidelity", "preserving", "identity")) else 1.0
        sharp = pixels + amount * (pixels - cv2.GaussianBlur(pixels, (0, 0), 1.5))
        draw = np.random.default_rng(int(chance(request.instruction, request.seed, request.case) * 2**32))
        noisy = sharp + draw.normal(0, self.noise, pixels.shape)
        return Edited(encode_png(np.clip(noisy, 0, 255).astype(np.uint8)), "image/png", "instant-1", dollars=0.01)


def restoration_run(
    root: Path,
    *,
    count: int = 4,
    editors: tuple[InstantRestorer, ...] | None = None,
    metrics: tuple[str, ...] = ("psnr", "ssim", "piqe"),
    report: bool = False,
    detectors: tuple[str, ...] = ("colour-on-grey",),
    **parameters: Any,
) -> RunOutcome:
    """Run the study `restoration` over `count` pictures into `root`; the same call goes on where it was stopped.

    Only a light detector looks at the results unless others are named.
    """
    given = editors or (InstantRestorer(), InstantRestorer("gentle", amount=0.2, instructed=False))
    spec = parse_spec(
        {
            "study": "restoration",
            "editors": [{"name": one.name, "use": "sim-identity"} for one in given],
            "restoration": {"degradations": ["motion-blur", "old-film"], "per_degradation": 2, **parameters},
            "measure": {"metrics": list(metrics)},
            "examine": {"detectors": list(detectors)},
        }
    )
    planned = plan(spec, root, editors={one.name: one for one in given}, sources=sources(count))
    return run(planned, RunOptions(report=report, workers=1))
