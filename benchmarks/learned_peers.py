"""The libraries that learned metrics are measured against, with trunks out of our weight store, not downloaded."""

from __future__ import annotations

import contextlib
import io
import warnings
from collections.abc import Callable, Iterator
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from convergebench.metrics.torchvision_repair import ensure_torchvision
from convergebench.weights import locate
from convergebench.weights.loading import numpy_pickle, torch_state

Peer = Callable[[Any, Any], Any]
"""Two tensors, 1 × 3 × height × width on the scale 0 to 1 → a distance."""
TRUNKS = {"alex": ("lpips-alex", "AlexNet_0"), "vgg": ("lpips-vgg", "VGG16_0")}


def has(*modules: str) -> bool:
    """Whether all of them and torchvision are installed."""
    return all(find_spec(module) is not None for module in ("torch", "torchvision", *modules))


@contextlib.contextmanager
def quietly() -> Iterator[None]:
    """These packages print and warn while they load."""
    with warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()):
        warnings.simplefilter("ignore")
        yield


def lpips(net: str) -> tuple[Any, Peer]:
    """The original's package: its module, and a plain call of it."""
    with quietly():
        ensure_torchvision()
        module = import_module("lpips").LPIPS(net=net, pnet_rand=True, verbose=False).eval()
    plant(module.net, net)
    return module, lambda x, y: module(x, y, normalize=True)


def torchmetrics_lpips(net: str) -> tuple[Any, Peer]:
    """What the functional of torchmetrics calls."""
    with quietly():
        ensure_torchvision()
        library = import_module("torchmetrics.functional.image.lpips")
        module = library._LPIPS(net=net, pnet_rand=True).eval()
    plant(module.net, net)
    return module, lambda x, y: module(x, y, normalize=True)


def dists() -> tuple[Any, Peer]:
    """The original's package; its own loading would download one file and look for the other in a fixed place."""
    with quietly():
        ensure_torchvision()
        models: Any = import_module("torchvision.models")
        download = models.vgg16
        models.vgg16 = lambda **_: download(weights=None)
        try:
            module = import_module("DISTS_pytorch.DISTS_pt").DISTS(load_weights=False).eval()
        finally:
            models.vgg16 = download
    plant(module, "vgg")
    state = torch_state(locate("dists"))
    module.alpha.data, module.beta.data = state["alpha"], state["beta"]
    return module, module


def st_lpips(net: str) -> tuple[Any, Peer]:
    """The original's package."""
    with quietly():
        ensure_torchvision()
        library = import_module("stlpips_pytorch.stlpips")
        module = library.LPIPS(net=net, variant="shift_tolerant", verbose=False).eval()
    return module, lambda x, y: module(x, y, normalize=True)


def plant(module: Any, net: str) -> None:
    """Put ImageNet's weights into the convolutions, in order."""
    import torch

    weights, trunk = TRUNKS[net]
    layers = numpy_pickle(locate(weights))[trunk]
    convolutions: list[Any] = [one for one in module.modules() if isinstance(one, torch.nn.Conv2d)]
    if len(convolutions) != len(layers):
        raise ValueError(f"{type(module).__name__} has {len(convolutions)} convolutions, not {len(layers)}")
    with torch.no_grad():
        for index, convolution in enumerate(convolutions):
            layer = layers[f"Conv_{index}"]
            convolution.weight.copy_(torch.from_numpy(layer["kernel"]).permute(3, 2, 0, 1))
            convolution.bias.copy_(torch.from_numpy(layer["bias"]))
