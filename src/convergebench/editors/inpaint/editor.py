"""The pipeline as an editor."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from importlib.util import find_spec
from typing import Any

from convergebench import ids
from convergebench.documents import Strict, check_document
from convergebench.editors.base import BaseEditor, close, cpu_limits, lacks
from convergebench.editors.inpaint.cutouts import checksum, photographs
from convergebench.editors.inpaint.task import Step, read_task
from convergebench.editors.one_core import MOST_AT_ONCE, one_core_threads
from convergebench.errors import Prerequisite, Refused, StudyError
from convergebench.images.decode import decode
from convergebench.images.encode import encode_png
from convergebench.types import Capabilities, Edited, Editor, EditRequest
from convergebench.weights.catalogue import find_weight
from convergebench.weights.store import identity, missing, search

VERSION = 1
"""Incremented whenever the output pixels change; part of every fingerprint."""
NETWORKS = ("human-models", "isnet", "mi-gan", "face-parts")
SECONDS = 1.5


class InpaintOptions(Strict):
    """Options of the pipeline."""

    through: Any = None
    """An editor that reads no words, such as `taesd`, through which the whole finished picture goes."""


class InpaintEditor(BaseEditor):
    """Follows words by finding, filling and pasting. Equal images, words and seeds give equal bytes."""

    def __init__(self, name: str, kind: str, steps: Sequence[Step], options: Mapping[str, Any]) -> None:
        given = check_document(options, InpaintOptions, where=f"editor '{name}'")
        self.name = name
        self.kind = kind
        self.steps = tuple(steps)
        self.through = _through(name, given.through)
        self.weights = [*NETWORKS, *(photographs() if {"add", "replace"} & set(steps) else ())]
        chosen = {
            "weights": {weight: identity(weight) for weight in self.weights},
            "cutouts": checksum(),
            "steps": list(self.steps),
            "through": self.through.fingerprint if self.through else None,
        }
        self.fingerprint = ids.fingerprint(kind, VERSION, chosen)
        more = self.through.capabilities.seconds_per_call if self.through else 0.0
        self.capabilities = Capabilities(seed=True, seconds_per_call=SECONDS + more)
        self.limits = cpu_limits(at_once=min(MOST_AT_ONCE, os.cpu_count() or 1))

    def lacks(self) -> list[str]:
        """Missing packages and weights, also of the editor that comes after."""
        packages = [one for one in ("torch", "onnxruntime") if find_spec(one) is None]
        found = [f'{one} is not installed; type: pip install "convergebench[vision]"' for one in packages]
        found += [missing(find_weight(one)) for one in self.weights if search(find_weight(one)) is None]
        return [*found, *(lacks(self.through) if self.through else ())]

    def notices(self) -> list[str]:
        """What it is, so that nobody takes it for one of the large models."""
        return [
            f"{self.name} is a small open pipeline (detector, MI-GAN, pasted cut-outs), not comparable to large models"
        ]

    def understands(self, instruction: str) -> bool:
        """Whether it would carry out these words, whatever the picture shows."""
        try:
            return read_task(instruction).step in self.steps
        except Refused:
            return False

    async def edit(self, request: EditRequest) -> Edited:
        """One edit, in a thread, and then the round trip through another network if one is given."""
        loop = asyncio.get_running_loop()
        edited = await loop.run_in_executor(one_core_threads(), self._edit, request)
        if self.through is None:
            return edited
        after = await self.through.edit(replace(request, image=edited.image, mime=edited.mime, history=()))
        model = f"{edited.model}, then {after.model}"
        return replace(after, model=model, used={**edited.used, "through": dict(after.used)})

    async def close(self) -> None:
        """Close the editor that comes after; the networks are shared and stay loaded."""
        if self.through is not None:
            await close(self.through)

    def _edit(self, request: EditRequest) -> Edited:
        pixels = decode(request.image, what=f"the image given to {self.name}", alpha="white").pixels
        task = read_task(request.instruction)
        if task.step not in self.steps:
            raise Refused(
                f"{self.name} does not {task.step} (it can {' and '.join(self.steps)})", reason="not-understood"
            )
        lacking = self.lacks()
        if lacking:
            raise Prerequisite(f"editor '{self.name}': " + "; ".join(lacking))
        from convergebench.editors.inpaint.pipeline import carry_out

        done = carry_out(pixels, task, request.seed)
        used = {"step": task.step, **({"thing": task.thing} if task.thing else {}), **done.facts}
        return Edited(encode_png(done.pixels), "image/png", self.kind, used=used)


def _through(name: str, value: object) -> Editor | None:
    from convergebench.editors.composite.base import part_of

    if value is None:
        return None
    editor = part_of(name, "through", value)
    if editor.capabilities.instructed or editor.capabilities.dollars_per_call:
        raise StudyError(
            f"editor '{name}' accepts as 'through' only an editor that ignores instructions and costs nothing, such "
            f"as through = 'taesd', not '{editor.name}'"
        )
    return editor
