"""The editor around the network: pixels in, through the latent, pixels out, the words unread."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import cache, partial
from importlib.util import find_spec
from threading import Lock, Thread
from typing import TYPE_CHECKING, Annotated, Any, Literal

import numpy as np
from pydantic import StringConstraints

from convergebench import ids
from convergebench.documents import Strict, check_document
from convergebench.editors.base import BaseEditor, on_the_processor
from convergebench.editors.device import chosen_device, without_gpu
from convergebench.errors import Prerequisite
from convergebench.images.decode import decode
from convergebench.images.encode import encode_png
from convergebench.images.frame import Pixels
from convergebench.types import Capabilities, Edited, EditRequest
from convergebench.weights.catalogue import find_weight
from convergebench.weights.store import identity, locate, missing, search

if TYPE_CHECKING:
    from convergebench.editors.autoencoder.network import Network

VERSION = 1
"""Raised whenever the pixels would change; part of every fingerprint."""
MOST_AT_ONCE = 8
"""A megapixel takes about 1.2 GB while it is worked on."""
_setting = Lock()


class Options(Strict):
    """What a study may say about a tiny autoencoder."""

    weights: Literal["half", "float32"] = "half"
    """`half`: the pair of 16-bit files; `float32`: the one file of its author's hub repository."""
    device: Annotated[str, StringConstraints(pattern=r"^(auto|cpu|cuda(:\d+)?)$")] = "auto"
    """`auto`, `cpu`, `cuda` or `cuda:1`. It is noted with every answer, and not part of the editor's identity."""
    dtype: Literal["float32", "bfloat16"] = "float32"
    """Precision of the arithmetic, and of the latent: it is never rounded to 8 bits on the way."""


class AutoencoderEditor(BaseEditor):
    """Encodes and decodes. Equal images give equal bytes, however many calls run at once and on however many cores."""

    def __init__(self, name: str, network: str, options: Mapping[str, Any]) -> None:
        self.name = name
        self.options = check_document(options, Options, where=f"editor '{name}'")
        self.weight = network if self.options.weights == "half" else f"{network}-float32"
        chosen = {"weights": identity(self.weight), "dtype": self.options.dtype}
        self.fingerprint = ids.fingerprint(network, VERSION, chosen)
        self.capabilities = Capabilities(deterministic=True, instructed=False, seconds_per_call=3.0)
        self.limits = on_the_processor(at_once=min(MOST_AT_ONCE, os.cpu_count() or 1))
        self._network: Network | None = None
        self._lock = Lock()

    def lacks(self) -> list[str]:
        """Torch, the reader of its files, the weights, the GPU that was asked for."""
        wanted = ["torch", *(["safetensors"] if find_weight(self.weight).files[0].path.endswith("safetensors") else [])]
        gone = [package for package in wanted if find_spec(package) is None]
        found = [f'{package} is not installed; type: pip install "convergebench[learned]"' for package in gone]
        if search(find_weight(self.weight)) is None:
            found.append(missing(find_weight(self.weight)))
        if not gone and self.options.device.startswith("cuda"):
            found += without_gpu(self.options.device)
        return found

    async def edit(self, request: EditRequest) -> Edited:
        """One round trip through the latent space, in a thread of its own."""
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(_threads(), partial(self._edit, request.image))

    async def close(self) -> None:
        """Forget the network; a later call loads it again."""
        with self._lock:
            self._network = None

    def _edit(self, image: bytes) -> Edited:
        pixels = decode(image, what=f"the image given to {self.name}", alpha="white").pixels
        network = self._loaded()
        device = chosen_device(self.options.device)
        with _arithmetic(device):
            worn, used = self._there_and_back(network, device, pixels)
        return Edited(encode_png(worn), "image/png", self.weight, used=used)

    def _there_and_back(self, network: Network, device: str, pixels: Pixels) -> tuple[Pixels, dict[str, object]]:
        import torch

        from convergebench.editors.autoencoder.network import FACTOR

        height, width = pixels.shape[:2]
        padding = (-height % FACTOR, -width % FACTOR)
        whole = np.pad(pixels, ((0, padding[0]), (0, padding[1]), (0, 0)), mode="reflect")
        dtype = getattr(torch, self.options.dtype)
        given = torch.from_numpy(whole).to(device).permute(2, 0, 1)[None].contiguous().float().div(255).to(dtype)
        latent = network.encode(given)
        back = network.decode(latent)[0, :, :height, :width].float().clamp(0, 1) * 255
        worn: Pixels = back.round().to(torch.uint8).permute(1, 2, 0).contiguous().cpu().numpy()
        used: dict[str, object] = {
            "weights": self.weight,
            "device": device,
            "dtype": self.options.dtype,
            "latent": list(latent.shape[1:]),
            "padding": {"below": padding[0], "right": padding[1]},
        }
        return worn, used

    def _loaded(self) -> Network:
        with self._lock:
            if self._network is None:
                gone = self.lacks()
                if gone:
                    raise Prerequisite(f"editor '{self.name}': " + "; ".join(gone))
                self._network = self._load()
            return self._network

    def _load(self) -> Network:
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


@cache
def _threads() -> ThreadPoolExecutor:
    """One pool for all autoencoders: every thread keeps the memory it once needed, so there are no more than cores."""
    begin = _one_core_each if find_spec("torch") is not None else None
    return ThreadPoolExecutor(min(MOST_AT_ONCE, os.cpu_count() or 1), "autoencoder", initializer=begin)


def _one_core_each() -> None:
    """Torch splits sums by its number of threads, and so rounds them differently: here each call has exactly one.

    The number belongs to a thread, but the last one set is also what threads made later begin with. So another
    thread, gone at once, puts that back; one after the other, or the second would take the first one's for it.
    """
    import torch

    with _setting:
        before = torch.get_num_threads()
        torch.set_num_threads(1)
        after = Thread(target=torch.set_num_threads, args=(before,))
        after.start()
        after.join()


@contextmanager
def _arithmetic(device: str) -> Iterator[None]:
    """No gradients; on a GPU one call at a time and no shortened float32."""
    import torch

    from convergebench.metrics._torch import exact

    with exact() if device != "cpu" else torch.inference_mode():
        yield
