"""Factory runs with the difficulties that exports meet: no-op edits, repeated edits, refusals, licences."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from convergebench.conductor.options import RunOptions
from convergebench.conductor.running import plan, run
from convergebench.errors import Refused
from convergebench.images.decode import decode
from convergebench.images.encode import encode_png
from convergebench.studies.spec import parse_spec
from convergebench.types import Edited, EditRequest, SourceImage
from tests.factory_run import ROLES, InstantEditor, ScriptedRole, chance, sources


class SameAgain(InstantEditor):
    """As the instant editor, but whatever the seed: all its attempts at one instruction are the same file."""

    def __init__(self, name: str = "same") -> None:
        super().__init__()
        self.fingerprint = f"{name}@1"

    async def edit(self, request: EditRequest) -> Edited:
        return await super().edit(replace(request, seed=7))


class Lazy(InstantEditor):
    """Leaves some pictures as they are, in another encoding; refuses the first attempt at some others."""

    async def edit(self, request: EditRequest) -> Edited:
        if chance("lazy", request.case) < 0.4:
            import cv2

            pixels = decode(request.image).pixels
            _, packed = cv2.imencode(".png", pixels[:, :, ::-1], [cv2.IMWRITE_PNG_COMPRESSION, 9])
            return Edited(packed.tobytes(), "image/png", "instant-1")
        if chance("refuse", request.case) < 0.3 and request.index == 1:
            raise Refused("not this one", reason="policy")
        return await super().edit(request)


class Recoded(SameAgain):
    """Pictures that differ from another editor's by a level in one corner: another file, the same to the eye."""

    async def edit(self, request: EditRequest) -> Edited:
        made = await super().edit(request)
        pixels = decode(made.image).pixels.copy()
        pixels[:4, :4] ^= 1
        return replace(made, image=encode_png(pixels))


class StrictJudge(ScriptedRole):
    """Accepts every second attempt, by the look of the picture; `kind` accepts all."""

    def __init__(self, *, kind: bool = False) -> None:
        super().__init__("judge", dollars=0.01)
        self.kind = kind

    def value(self, images: tuple[bytes, ...], payload: Mapping[str, Any], repeat: int) -> dict[str, Any]:
        told = super().value(images, payload, repeat)
        if payload["rubric"] == "judge-edit":
            score = 0.9 if self.kind or chance("strict", images[0]) < 0.5 else 0.4
            told |= dict.fromkeys(
                ("instruction_compliance", "seamlessness", "preservation_balance", "technical_quality"), score
            )
        return told


class Inspector(ScriptedRole):
    """Finds every picture fit, or every picture damaged."""

    def __init__(self, quality: float = 1.0) -> None:
        super().__init__("inspector")
        self.quality = quality

    def value(self, images: tuple[bytes, ...], payload: Mapping[str, Any], repeat: int) -> dict[str, Any]:
        return {"quality": self.quality, "damage": []}


def make(
    root: Path,
    editors: Mapping[str, InstantEditor] | None = None,
    *,
    images: Sequence[SourceImage] | None = None,
    judge: ScriptedRole | None = None,
    quality: float = 1.0,
    **parameters: Any,
) -> Path:
    """A finished run."""
    editors = editors or {"instant": InstantEditor(dollars=0.04)}
    spec = parse_spec(
        {
            "study": "factory",
            "editors": [{"name": name, "use": "sim-identity"} for name in editors],
            "factory": {"per_image": 3, "sessions": 0.5, "turns": [2, 3], **parameters},
            "measure": {"metrics": ["psnr"]},
        }
    )
    roles = {name: ScriptedRole(name) for name in ROLES} | {
        "judge": judge or StrictJudge(),
        "inspector": Inspector(quality),
    }
    run(
        plan(spec, root, editors=dict(editors), sources=list(images or sources(6)), roles=roles),
        RunOptions(report=False, workers=1),
    )
    return root


def under(licences: Sequence[str]) -> list[SourceImage]:
    """Pictures under these licences."""
    return [replace(image, licence=licence) for image, licence in zip(sources(len(licences)), licences, strict=True)]


def lines(path: Path) -> list[dict[str, Any]]:
    """JSON lines; none where there is no file."""
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()] if path.is_file() else []
