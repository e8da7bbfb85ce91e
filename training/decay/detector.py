"""The network of `decay` while it is taught: a tile of a picture in, its wear and an embedding out.

The package runs the same network without torch; `exported` gives what it needs.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from training.decay import operations as ops

TILE = 128
"""Pixels of a side of what the network sees at once."""
WIDTHS = (16, 32, 48, 64, 64)
STRIDES = (1, 2, 2, 2, 1)
POOLED = (2, 4)
"""Layers whose means and spreads are taken; what a layer says of every place becomes a statistic of the tile."""
HIDDEN, EMBEDDED = 64, 32


def inputs_of(tiles: Tensor) -> Tensor:
    """(n, 3, side, side) from 0 to 1 → five planes: fine and middle detail, detail of two colours, light.

    Detail is what a blur takes away, bent so that one grey level in a smooth wall counts beside the edge of a roof.
    Means are taken away: brightness and tint of a tile say nothing.
    """
    code = ops.to_code(tiles) * 255
    bright = code[:, :1]
    soft = ops.blurred(bright, 1.0)
    softer = ops.blurred(bright, 3.0)
    colour = code[:, 1:] - ops.blurred(code[:, 1:], 2.0)
    return torch.cat(
        [
            torch.asinh((bright - soft) / 2),
            torch.asinh((soft - softer) / 4),
            torch.asinh(colour / 2),
            (bright - bright.mean((2, 3), keepdim=True)) / 64,
        ],
        1,
    )


class Detector(nn.Module):
    """Five convolutions, statistics of two of them, a small head."""

    def __init__(self) -> None:
        super().__init__()
        layers, before = [], 5
        for width, stride in zip(WIDTHS, STRIDES, strict=True):
            layers.append(
                nn.Sequential(
                    nn.Conv2d(before, width, 3, stride=stride, padding=1, bias=False), nn.BatchNorm2d(width), nn.ReLU()
                )
            )
            before = width
        self.layers = nn.ModuleList(layers)
        pooled = sum(2 * WIDTHS[place] for place in POOLED)
        self.norm = nn.BatchNorm1d(pooled)
        self.head = nn.Sequential(nn.Linear(pooled, HIDDEN), nn.ReLU())
        self.score = nn.Linear(HIDDEN, 1)
        self.embed = nn.Linear(HIDDEN, EMBEDDED)

    def statistics(self, planes: Tensor) -> Tensor:
        """Mean and spread of every channel of the pooled layers."""
        found, data = [], planes
        for place, layer in enumerate(self.layers):
            data = layer(data)
            if place in POOLED:
                found += [data.mean((2, 3)), (data.float().var((2, 3), unbiased=False) + 1e-5).sqrt()]
        return torch.cat([one.float() for one in found], 1)

    def forward(self, planes: Tensor) -> tuple[Tensor, Tensor]:
        """Wear, and the embedding in which pictures of one editor and step lie together."""
        hidden = self.head(self.norm(self.statistics(planes)))
        return self.score(hidden)[:, 0], nn.functional.normalize(self.embed(hidden), dim=1)


class Exported(NamedTuple):
    """Weights with the normalisations folded in."""

    kernels: list[NDArray[np.float32]]
    biases: list[NDArray[np.float32]]
    hidden: tuple[NDArray[np.float32], NDArray[np.float32]]
    score: tuple[NDArray[np.float32], NDArray[np.float32]]


def exported(network: Detector) -> Exported:
    """The network as plain arrays: convolutions with bias, then two linear maps of the statistics."""
    network = network.eval()
    kernels, biases = [], []
    for layer in network.layers:
        kernel, gain, shift = _folded(*list(layer.children())[:2])
        kernels.append((kernel * gain[:, None, None, None]).detach().cpu().numpy())
        biases.append(shift.detach().cpu().numpy())
    first: Any = network.head[0]
    kernel, gain, shift = _folded(first, network.norm)
    weight = (kernel * gain[None, :]).detach().cpu().numpy()
    bias = (first.bias + kernel @ shift).detach().cpu().numpy()
    score = network.score
    return Exported(
        kernels, biases, (weight, bias), (score.weight.detach().cpu().numpy(), score.bias.detach().cpu().numpy())
    )


def _folded(layer: Any, norm: Any) -> tuple[Tensor, Tensor, Tensor]:
    """The weights of a layer, and what a normalisation multiplies and adds."""
    gain = norm.weight / (norm.running_var + norm.eps).sqrt()
    return layer.weight, gain, norm.bias - norm.running_mean * gain
