"""The autoencoder as an editor: encodes and decodes the image, and ignores the instruction."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from importlib.util import find_spec
from threading import Lock
from typing import TYPE_CHECKING, Annotated, Any, Literal

import numpy as np
from pydantic import StringConstraints

from convergebench import ids
from convergebench.documents import Strict, check_document
from convergebench.editors.base import BaseEditor, cpu_limits
from convergebench.editors.device import chosen_device, lacking_gpu
from convergebench.editors.one_core import one_core_threads
from convergebench.errors import Prerequisite
from convergebench.images.decode import decode
from convergebench.images.encode import encode_png
from convergebench.images.frame import Pixels
from convergebench.types import Capabilities, Edited, EditRequest, Resources
from convergebench.weights.catalogue import find_weight
from convergebench.weights.store import identity, locate, missing, search

if TYPE_CHECKING:
    from convergebench.editors.autoencoder.network import TinyAutoencoder

VERSION = 1
"""Incremented whenever the output pixels change; part of every fingerprint."""
MOST_AT_ONCE = 8
"""Most calls at once: a megapixel takes about 1.2 GB of memory."""


class AutoencoderOptions(Strict):
    """Options of a tiny autoencoder."""

    weights: Literal["half", "float32"] = "half"
    """`half`: the pair of 16-bit files; `float32`: the one file of its author's hub repository."""
    device: Annotated[str, StringConstraints(pattern=r"^(auto|cpu|cuda(:\d+)?)$")] = "auto"
    """`auto`, `cpu`, `cuda` or `cuda:1`. It is recorded with every answer, but not part of the fingerprint."""
    dtype: Literal["float32", "bfloat16"] = "float32"
    """Precision of the arithmetic."""
    latent: Literal["exact", "bfloat16"] = "exact"
    """`bfloat16`: the latent is rounded between encoder and decoder, as large models keep it. Never to 8 bits."""


class AutoencoderEditor(BaseEditor):
    """Encodes and decodes. Equal images give equal bytes, for any number of parallel calls and cores."""

    def __init__(self, name: str, network: str, options: Mapping[str, Any]) -> None:
        self.name = name
        self.options = check_document(options, AutoencoderOptions, where=f"editor '{name}'")
        self.weight = network if self.options.weights == "half" else f"{network}-float32"
        self.weights = (self.weight,)
        chosen = {"weights": identity(self.weight), "dtype": self.options.dtype}
        if self.options.latent != "exact":
            chosen["latent"] = self.options.latent
        self.fingerprint = ids.fingerprint(network, VERSION, chosen)
        self.capabilities = Capabilities(deterministic=True, instructed=False, seconds_per_call=3.0)
        self.limits = cpu_limits(at_once=min(MOST_AT_ONCE, os.cpu_count() or 1))
        self.resources = Resources(gpus=1.0 if self.options.device.startswith("cuda") else 0.0)
        self._network: TinyAutoencoder | None = None
        self._lock = Lock()

    def lacks(self) -> list[str]:
        """Missing packages, weights and the requested GPU."""
        needed = ["torch", *(["safetensors"] if find_weight(self.weight).files[0].path.endswith("safetensors") else [])]
        missing_parts = [package for package in needed if find_spec(package) is None]
        found = [f'{package} is not installed; type: pip install "convergebench[learned]"' for package in missing_parts]
        if search(find_weight(self.weight)) is None:
            found.append(missing(find_weight(self.weight)))
        if not missing_parts and self.options.device.startswith("cuda"):
            found += lacking_gpu(self.options.device)
        return found

    async def edit(self, request: EditRequest) -> Edited:
        """One round trip through the latent space, in a thread of its own."""
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(one_core_threads(), partial(self._edit, request.image))

    async def close(self) -> None:
        """Unload the network; a later call loads it again."""
        with self._lock:
            self._network = None

    def _edit(self, image: bytes) -> Edited:
        pixels = decode(image, what=f"the image given to {self.name}", alpha="white").pixels
        network = self._loaded()
        device = chosen_device(self.options.device)
        with _arithmetic(device):
            decoded, used = self._round_trip(network, device, pixels)
        return Edited(encode_png(decoded), "image/png", self.weight, used=used)

    def _round_trip(self, network: TinyAutoencoder, device: str, pixels: Pixels) -> tuple[Pixels, dict[str, object]]:
        import torch

        from convergebench.editors.autoencoder.network import FACTOR

        height, width = pixels.shape[:2]
        padding = (-height % FACTOR, -width % FACTOR)
        whole = np.pad(pixels, ((0, padding[0]), (0, padding[1]), (0, 0)), mode="reflect")
        dtype = getattr(torch, self.options.dtype)
        given = torch.from_numpy(whole).to(device).permute(2, 0, 1)[None].contiguous().float().div(255).to(dtype)
        latent = network.encode(given)
        if self.options.latent == "bfloat16":
            latent = latent.bfloat16().to(dtype)
        back = network.decode(latent)[0, :, :height, :width].float().clamp(0, 1) * 255
        decoded: Pixels = back.round().to(torch.uint8).permute(1, 2, 0).contiguous().cpu().numpy()
        used: dict[str, object] = {
            "weights": self.weight,
            "device": device,
            "dtype": self.options.dtype,
            "latent": list(latent.shape[1:]),
            **({} if self.options.latent == "exact" else {"latent_dtype": self.options.latent}),
            "padding": {"below": padding[0], "right": padding[1]},
        }
        return decoded, used

    def _loaded(self) -> TinyAutoencoder:
        with self._lock:
            if self._network is None:
                missing_parts = self.lacks()
                if missing_parts:
                    raise Prerequisite(f"editor '{self.name}': " + "; ".join(missing_parts))
                self._network = self._load()
            return self._network

    def _load(self) -> TinyAutoencoder:
        import torch

        from convergebench.editors.autoencoder.network import build
        from convergebench.weights.loading import safetensors_state, torch_state

        place = locate(self.weight)
        files = [file.path for file in find_weight(self.weight).files]
        paths = {file: place / file for file in files} if len(files) > 1 else {files[0]: place}
        states = {
            file: safetensors_state(path) if file.endswith("safetensors") else torch_state(path)
            for file, path in paths.items()
        }
        dtype = getattr(torch, self.options.dtype)
        return build(states, what=f"'{self.weight}'", device=chosen_device(self.options.device), dtype=dtype)


@contextmanager
def _arithmetic(device: str) -> Iterator[None]:
    """No gradients; on a GPU one call at a time and full float32 precision (no TF32)."""
    import torch

    from convergebench.metrics._torch import full_precision

    with full_precision() if device != "cpu" else torch.inference_mode():
        yield
