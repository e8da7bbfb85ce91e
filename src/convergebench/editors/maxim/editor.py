"""A MAXIM network as an editor: it restores the image and ignores the instruction."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from importlib.util import find_spec
from threading import Lock
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import Field, StringConstraints

from convergebench import ids
from convergebench.documents import Strict, check_document
from convergebench.editors.base import BaseEditor, cpu_limits
from convergebench.editors.device import chosen_device, lacking_gpu
from convergebench.editors.maxim.frame import FACTOR, Padding, Rounding, margins, restored
from convergebench.errors import Prerequisite
from convergebench.images.decode import decode
from convergebench.images.encode import encode_png
from convergebench.types import Capabilities, Edited, EditRequest
from convergebench.weights.catalogue import find_weight
from convergebench.weights.store import identity, locate, missing, search

if TYPE_CHECKING:
    from convergebench.tfjs.program import Program

VERSION = 1
"""Incremented whenever the output pixels change; part of every fingerprint."""

Task = Literal[
    "denoising", "deblurring", "deraining", "enhancement", "retouching", "dehazing-indoor", "dehazing-outdoor"
]


class MaximOptions(Strict):
    """Options of a MAXIM restorer."""

    device: Annotated[str, StringConstraints(pattern=r"^(auto|cpu|cuda(:\d+)?)$")] = "auto"
    """`auto`, `cpu`, `cuda` or `cuda:1`. It is recorded with every answer, but not part of the fingerprint."""
    tile: Annotated[int, Field(ge=0, multiple_of=FACTOR)] = 0
    """Side of the tiles in pixels; 0: the whole picture at once.

    Tiles need less memory, but the network uses the whole picture, so seams become visible.
    """
    padding: Padding = "reflect"
    """How sides are padded to a multiple of 64: mirrored as by MAXIM's authors, or `zeros` as in the npm packages."""
    rounding: Rounding = "nearest"
    """Rounding to 8 bits; `down`, as in the npm packages, darkens a chain by half a level at every step."""


class MaximEditor(BaseEditor):
    """Restores images. Equal images give equal bytes on the same machine."""

    def __init__(self, name: str, task: Task, options: Mapping[str, Any]) -> None:
        self.name = name
        self.options = check_document(options, MaximOptions, where=f"editor '{name}'")
        self.weight = f"maxim-{task}"
        self.weights = (self.weight,)
        chosen = {
            "weights": identity(self.weight),
            "tile": self.options.tile,
            "padding": self.options.padding,
            "rounding": self.options.rounding,
        }
        self.fingerprint = ids.fingerprint(self.weight, VERSION, chosen)
        self.capabilities = Capabilities(deterministic=True, instructed=False, seconds_per_call=4.0)
        # all cores work on one picture, and a large one takes long
        self.limits = cpu_limits(at_once=1)
        self._program: Program | None = None
        self._lock = Lock()

    def lacks(self) -> list[str]:
        """Missing torch, weights and the requested GPU."""
        found = []
        if find_spec("torch") is None:
            found.append('torch is not installed; type: pip install "convergebench[learned]"')
        elif self.options.device.startswith("cuda"):
            found += lacking_gpu(self.options.device)
        if search(find_weight(self.weight)) is None:
            found.append(missing(find_weight(self.weight)))
        return found

    async def edit(self, request: EditRequest) -> Edited:
        """One pass through the network, in a thread of its own."""
        return await asyncio.to_thread(self._edit, request.image)

    async def close(self) -> None:
        """Unload the network; a later call loads it again. A call in progress is finished."""
        self._program = None

    def _edit(self, image: bytes) -> Edited:
        pixels = decode(image, what=f"the image given to {self.name}", alpha="white").pixels
        options = self.options
        added = margins(pixels.shape[0], pixels.shape[1], options.padding)
        with self._lock:  # a cancelled call may still be running, and must not share the memory
            program = self._loaded()
            with _arithmetic(program.device):
                restored_pixels = restored(
                    *(program, pixels, added), padding=options.padding, tile=options.tile, rounding=options.rounding
                )
            used = {
                "weights": self.weight,
                "device": program.device,
                "threads": _threads(),
                "padding": {"kind": options.padding, **added._asdict()},
                "tile": options.tile or "whole",
                "rounding": options.rounding,
            }
        return Edited(encode_png(restored_pixels), "image/png", f"{self.weight} {self.fingerprint}", used=used)

    def _loaded(self) -> Program:
        program = self._program
        if program is None:
            missing_parts = self.lacks()
            if missing_parts:
                raise Prerequisite(f"editor '{self.name}': " + "; ".join(missing_parts))
            from convergebench.tfjs.graph import read_graph
            from convergebench.tfjs.program import Program

            program = self._program = Program(read_graph(locate(self.weight)), chosen_device(self.options.device))
        return program


@contextmanager
def _arithmetic(device: str) -> Iterator[None]:
    """No gradients; on a GPU one call at a time and full float32 precision (no TF32)."""
    import torch

    from convergebench.metrics._torch import full_precision

    with full_precision() if device != "cpu" else torch.inference_mode():
        yield


def _threads() -> int:
    """Number of torch threads, recorded because it changes the rounding of the last digit."""
    import torch

    return torch.get_num_threads()
