"""A small real run to export: three sources under different licences, two editors, chains that turn, end and cost."""

from __future__ import annotations

import hashlib
import json
from dataclasses import replace
from pathlib import Path

import cv2
import numpy as np

from convergebench.conductor import run_chains
from convergebench.conductor.begin import begin
from convergebench.conductor.prepare import prepare
from convergebench.engine.plan import Chain
from convergebench.engine.prepared import Prepared
from convergebench.errors import Refused
from convergebench.images.decode import decode
from convergebench.images.encode import encode_png
from convergebench.measuring.measure import measure
from convergebench.store.run import Run
from convergebench.store.tables import LabelRow
from convergebench.studies.spec import parse_spec
from convergebench.types import Capabilities, Edited, EditRequest, Limits

LICENCES = {"free": "CC0-1.0", "shared": "CC BY-SA 4.0", "held": "CC-BY-NC-ND 4.0"}
ADDRESSES = {
    "free": "drawn: recipe dunes, seed 1, renderer 1",
    "shared": "scikit-image: a cup, somebody",
    "held": "https://example.org/held",
}
SIZE = (64, 48)
STEPS = 4
KEY = "sk-very-secret-0123456789"
METRICS = ("psnr", "ssim", "happened", "returned-width")
TOLD = "**Checking the result**\nThe picture is as it was."
PICTURES = 3 * 2 * 2 * (1 + STEPS) - 2
"""Three sources, two variants, two editors; one chain ends two steps early."""


class Reluctant:
    """A paid editor that gives reasons, takes no seed, repeats its key, and will not turn one picture a third time."""

    name = "reluctant/v1.5"
    fingerprint = "reluctant@1"
    capabilities = Capabilities(dollars_per_call=0.04, reasoning=True)
    limits = Limits(at_once=2)

    async def edit(self, request: EditRequest) -> Edited:
        if request.case.startswith("shared/rotate/") and request.index == 3:
            raise Refused("no more of this", reason="policy")
        pixels = decode(request.image).pixels
        if request.instruction.startswith("Rotate"):
            pixels = np.ascontiguousarray(np.rot90(pixels, -1))
        used = {"quality": "high", "max_tokens": 100, "api_key": KEY}
        return Edited(encode_png(pixels), "image/png", "reluctant-1.5-0815", 0.04, TOLD, used=used)


def picture(seed: int) -> np.ndarray[tuple[int, ...], np.dtype[np.uint8]]:
    coarse = np.random.default_rng(seed).integers(0, 256, (6, 8, 3), np.uint8)
    return coarse.repeat(8, 0).repeat(8, 1)


def make_suite(root: Path) -> Path:
    """Three pictures, the last one a JPEG, and their manifest."""
    tables = ['name = "three"']
    for seed, (name, licence) in enumerate(LICENCES.items()):
        suffix = "jpg" if name == "held" else "png"
        done, data = cv2.imencode(f".{suffix}", cv2.cvtColor(picture(seed), cv2.COLOR_RGB2BGR))
        assert done
        (root / f"{name}.{suffix}").write_bytes(data.tobytes())
        facts = {"id": name, "kind": "scene", "licence": licence, "source": ADDRESSES[name]}
        facts |= {"sha256": hashlib.sha256(data.tobytes()).hexdigest(), "path": f"{name}.{suffix}"}
        tables.append("[[image]]\n" + "\n".join(f"{key} = {json.dumps(value)}" for key, value in facts.items()))
    (root / "suite.toml").write_text("\n".join(tables), encoding="utf-8")
    return root / "suite.toml"


def prepared(suite: Path) -> Prepared:
    spec = parse_spec(
        {
            "study": "replicate",
            "editors": ["sim-jpeg"],
            "replicate": {"steps": STEPS, "runs": 1, "grid": [{"variants": ["replicate", "rotate"]}]},
            "images": {"suite": str(suite)},
            "measure": {"metrics": list(METRICS)},
        }
    )
    own = prepare(spec)
    other = Reluctant()
    chains = tuple(Chain(other.name, chain.case, chain.study, chain.rounds) for chain in own.chains)
    return replace(
        own,
        editors={**own.editors, other.name: other},
        chains=own.chains + chains,
        options={**own.options, other.name: {}},
    )


def labels() -> list[LabelRow]:
    """A rule that sees a cast from step 2, a person who does not; noise in steps 1 and 2; a judge who cannot tell."""

    def label(
        mode: str, present: int | None, source: str, made: str, step: int | None, last: int | None = None
    ) -> LabelRow:
        key = f"{mode}-{source}"
        values = ("sim-jpeg", "free/replicate/0", mode, "image", present, step, last, step, "[0, 0, 0.5, 0.5]")
        return LabelRow(key, *values, "evidence/x.png", 0.75, source, f"{source}-1", f"seen by a {source}", made)

    return [
        label("colour-cast", 1, "rule", "2026-01-01T00:00:00+00:00", 2),
        label("colour-cast", 0, "person", "2025-01-01T00:00:00+00:00", None),
        label("static", 1, "rule", "2026-01-01T00:00:00+00:00", 1, 2),
        label("blur", None, "judge", "2026-01-01T00:00:00+00:00", None),
    ]


def make_run(folder: Path) -> Path:
    """Walk, measure and label; the run's folder."""
    folder.mkdir(parents=True, exist_ok=True)
    study = prepared(make_suite(folder))
    with Run.create(folder / "three") as run:
        begin(run, study)
        run_chains(run, study.editors, study.chains)
        measure(run, METRICS, align_mode="auto", workers=1)
        run.journal.commit_now(labels())
    return folder / "three"
