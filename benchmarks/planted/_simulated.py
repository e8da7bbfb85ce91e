"""Chains that simulated editors run, with the editor (and so the mistake) chosen anew at every step."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from convergebench.editors.simulated.family import make
from convergebench.editors.simulated.pixels import encode_png
from convergebench.edits.orientation import UPRIGHT
from convergebench.failures.base import ChainView, Compared, StepView
from convergebench.images.decode import decode
from convergebench.images.frame import Frame, Pixels
from convergebench.metrics.operations import is_geometric
from convergebench.types import EditRequest, Operation, Settings

SAYS = Settings(reasoning=True)


@dataclass(frozen=True)
class Step:
    """One step: the words, what they ask for, and who carries them out."""

    words: str
    operation: Operation
    options: dict[str, Any]
    """Options of the editor `sim`."""
    compared: Compared = "whole"
    after: Callable[[Pixels], Pixels] | None = None
    """What is done to the answer by hand; the editor's memory of its layers is lost with it."""


def run(source: str, pixels: Pixels, steps: Sequence[Step], *, variant: str, family: str, seed: int) -> ChainView:
    """The chain as the study would keep it: every picture as a file, decoded when it is looked at."""
    data = encode_png(pixels)
    views = [StepView(0, _loader(data))]
    orientation = UPRIGHT
    for index, step in enumerate(steps, start=1):
        editor = make("sim", "sim", step.options)
        request = EditRequest(data, "image/png", step.words, settings=SAYS, seed=seed * 1000 + index)
        answer = asyncio.run(editor.edit(request))
        data = answer.image if step.after is None else encode_png(step.after(decode(answer.image).pixels))
        orientation = orientation.then(step.operation if is_geometric(step.operation) else None)
        views.append(
            StepView(
                index,
                _loader(data),
                instruction=step.words,
                operation=step.operation,
                orientation=orientation.operation,
                compared=step.compared,
                reasoning=answer.reasoning,
                parent=index - 1,
            )
        )
    return ChainView("sim", f"{source}/{variant}/{seed}", source, variant, family, views)


def _loader(data: bytes) -> Callable[[], Frame]:
    return lambda: decode(data)
