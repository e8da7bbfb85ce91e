"""The studio as an editor."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from convergebench import ids
from convergebench.editors.base import BaseEditor, cpu_limits
from convergebench.editors.one_core import MOST_AT_ONCE, one_core_threads
from convergebench.editors.simulated.layers import LayeredImage, new_layer
from convergebench.editors.simulated.memory import read_layered, with_layers
from convergebench.editors.simulated.options import ChoiceOption, NumberOption, Option, read_options
from convergebench.editors.simulated.pixels import encode_png
from convergebench.editors.studio.answer import StudioAnswer
from convergebench.editors.studio.carry_out import carry_out
from convergebench.editors.studio.faults import FAULTS, draw_fault, faulty
from convergebench.editors.studio.scene import PACKAGES, StudioScene, networks_here
from convergebench.editors.studio.task import StudioTask, read_studio_task
from convergebench.errors import Refused, StudyError
from convergebench.types import Capabilities, Edited, EditRequest
from convergebench.weights.store import identity

VERSION = 1
"""Raised whenever the pixels of an answer change."""
SMALLEST = 16
"""Shorter side from which on a picture is large enough for more than turning it and adding things."""
SECONDS = 0.8


class StudioEditor(BaseEditor):
    """Carries out instructions by classical image processing; the seed fixes everything random."""

    def __init__(self, name: str, kind: str, given: Mapping[str, object], *, faults: float) -> None:
        if not name.startswith("sim"):
            raise StudyError(f"a simulated editor's name starts with 'sim-': call '{name}' 'sim-{name}'")
        known: dict[str, Option] = {"networks": ChoiceOption("auto", ("auto", "none"))}
        if faults:
            known["faults"] = NumberOption(faults, 0, 1)
        options = read_options(name, known, given)
        self.name, self.kind = name, kind
        self.share = float(options.get("faults", 0.0))
        # decided once: an editor whose networks come and go would be two editors under one fingerprint
        self.networks = frozenset(networks_here() if options["networks"] == "auto" else ())
        self.weights = sorted(self.networks)
        used = {"weights": {one: identity(one) for one in self.weights}, "faults": self.share, "named": sorted(FAULTS)}
        self.fingerprint = ids.fingerprint(kind, VERSION, used)
        self.capabilities = Capabilities(seed=True, seconds_per_call=SECONDS, simulated=True)
        self.limits = cpu_limits(at_once=min(MOST_AT_ONCE, os.cpu_count() or 1))

    def notices(self) -> list[str]:
        """What it is, and what it would do better."""
        lines = [
            f"{self.name} is classical image processing, not a model: it shows how a factory works, not how "
            f"well models do"
        ]
        absent = [one for one in PACKAGES if one not in self.networks]
        if absent:
            lines.append(f"{self.name} lacks {', '.join(absent)}; type: cbench weights fetch {' '.join(absent)}")
        return lines

    async def edit(self, request: EditRequest) -> Edited:
        """Carry out one instruction, in a thread."""
        return await asyncio.get_running_loop().run_in_executor(one_core_threads(), self._edit, request)

    def _edit(self, request: EditRequest) -> Edited:
        layered = read_layered(request.image)
        task = read_studio_task(request.instruction)
        if min(layered.pixels.shape[:2]) < SMALLEST and task.step not in ("turn", "add"):
            raise Refused(f"{self.name} edits images of at least {SMALLEST} × {SMALLEST} pixels", reason="too-small")
        random = np.random.default_rng(request.seed)
        done = carry_out(StudioScene(layered, self.networks), task, random)
        used: dict[str, object] = {"seed": request.seed, **_asked(task), **done.facts}
        pixels = done.pixels
        if self.share:
            used["fault"] = ""
            if draw_fault(self.share, request.seed):
                pixels, used["fault"] = faulty(layered.pixels, done, random)
        answer = _with_memory(layered, replace(done, pixels=pixels), went_wrong=bool(used.get("fault")))
        return Edited(with_layers(encode_png(answer.pixels), answer), "image/png", self.kind, used=used)


def _asked(task: StudioTask) -> dict[str, object]:
    parts = {
        "step": task.step,
        "variant": task.variant,
        "target": task.target,
        "thing": task.thing,
        "place": task.place,
    }
    return {name: value for name, value in parts.items() if value}


def _with_memory(before: LayeredImage, done: StudioAnswer, *, went_wrong: bool) -> LayeredImage:
    """The new picture, with the places of things that were added, so that `it` can be found later."""
    steps = (before.steps or 0) + 1
    if done.pixels.shape != before.pixels.shape or done.moved:
        return LayeredImage(done.pixels, steps=steps)
    after = replace(before, pixels=done.pixels, steps=steps)
    if not done.added or went_wrong or done.where is None or not done.where.any():
        return after
    layer = new_layer(f"add:{done.added}", done.where.astype(np.uint8) * np.uint8(255), colour=done.colour)
    return replace(after.put(done.pixels, layer, remember=False), added=before.added + 1)
