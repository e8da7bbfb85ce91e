"""Random weights for the networks of `benchmarks.gpu`: rates do not depend on them, and equality can be shown."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from benchmarks import learned_peers
from convergebench.metrics.full_reference import _networks

ALEXNET = ((3, 64, 11), (64, 192, 5), (192, 384, 3), (384, 256, 3), (256, 256, 3))
VGG16 = tuple(
    (inside, outside, 3)
    for inside, outside in (
        (3, 64), (64, 64), (64, 128), (128, 128), (128, 256), (256, 256), (256, 256), (256, 512), (512, 512),
        (512, 512), (512, 512), (512, 512), (512, 512),
    )
)  # fmt: skip


def plant() -> None:
    """From now on networks get these instead of files."""
    networks: Any = _networks
    for module in (networks, learned_peers):
        names: Any = module
        names.locate, names.numpy_pickle, names.torch_state = str, numpy_pickle, torch_state


def numpy_pickle(name: str) -> Mapping[str, Any]:
    """Weights of LPIPS as its file holds them."""
    generator = np.random.default_rng(3)
    shapes, trunk = (ALEXNET, "AlexNet_0") if name.endswith("alex") else (VGG16, "VGG16_0")
    layers = {}
    for place, (inside, outside, side) in enumerate(shapes):
        spread = np.sqrt(2 / (inside * side * side))
        kernel = generator.normal(0, spread, (side, side, inside, outside)).astype(np.float32)
        layers[f"Conv_{place}"] = {"kernel": kernel, "bias": generator.normal(0, 0.05, outside).astype(np.float32)}
    widths = [layer[1] for layer in ALEXNET] if name.endswith("alex") else [64, 128, 256, 512, 512]
    heads = {
        f"NetLinLayer_{place}": {"Conv_0": {"kernel": generator.uniform(0, 0.01, (1, 1, width, 1)).astype(np.float32)}}
        for place, width in enumerate(widths)
    }
    return {trunk: layers, **heads}


def torch_state(name: str) -> Mapping[str, Any]:
    """Weights of DISTS and ST-LPIPS as their files hold them."""
    import torch

    generator = np.random.default_rng(4)
    if name == "dists":
        return {key: torch.from_numpy(generator.uniform(0, 0.2, (1, 1475, 1, 1))).float() for key in ("alpha", "beta")}
    shapes = ALEXNET if name.endswith("alex") else VGG16
    content = numpy_pickle(name)
    layers = content["AlexNet_0" if name.endswith("alex") else "VGG16_0"]
    state = {}
    for place in range(len(shapes)):
        kernel = torch.from_numpy(layers[f"Conv_{place}"]["kernel"]).permute(3, 2, 0, 1).contiguous()
        state[f"net.{place}.weight"] = kernel
        state[f"net.{place}.bias"] = torch.from_numpy(layers[f"Conv_{place}"]["bias"])
    for place in range(5):
        head = torch.from_numpy(content[f"NetLinLayer_{place}"]["Conv_0"]["kernel"])
        state[f"lin{place}.model.1.weight"] = head.permute(3, 2, 0, 1).contiguous()
    return state
