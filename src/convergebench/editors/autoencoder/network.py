"""The network itself: a few convolutions in, a few out, as functions on the author's named tensors.

    pixels ─▶ encode: 64 channels, halved three times ─▶ latent ─▶ decode: bounded, doubled three times ─▶ pixels

A state may come as the author's pair of files (`0.weight`, `1.conv.0.weight` …) or as diffusers' one file
(`encoder.layers.0.weight` …); there the decoder counts one less, for its bounding layer has no number.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

import torch
from torch import Tensor
from torch.nn import functional

from convergebench.errors import Prerequisite

State = Mapping[str, Tensor]
Layer = Literal["convolve", "halve", "block", "wide-block", "bound", "rectify", "double", "mix"]

FACTOR = 8
"""Pixels per latent cell, along each side."""
BOUND = 3.0
"""Latents are softly limited to ±3 before decoding."""
GROUPS = 4
"""Groups of the normalisation in wide blocks."""

ENCODER: tuple[Layer, ...] = (
    *("convolve", "block"),
    *("halve", "block", "block", "block"),
    *("halve", "block", "block", "block"),
    *("halve", "wide-block", "wide-block", "wide-block"),
    "convolve",
)
DECODER: tuple[Layer, ...] = (
    *("bound", "convolve", "rectify"),
    *("wide-block", "wide-block", "wide-block", "double", "mix"),
    *("block", "block", "block", "double", "mix"),
    *("block", "block", "block", "double", "mix"),
    *("block", "convolve"),
)
PARTS: dict[Layer, tuple[str, ...]] = {
    "convolve": ("weight", "bias"),
    "halve": ("weight",),
    "mix": ("weight",),
    "block": tuple(f"conv.{number}.{part}" for number in (0, 2, 4) for part in ("weight", "bias")),
}
POOL = ("pool.0.weight", "pool.1.weight", "pool.1.bias", "pool.3.weight")
"""Additional tensors of a wide block, which only taef2 has."""


@dataclass(frozen=True, slots=True)
class TinyAutoencoder:
    """Both halves, on one device and in one precision."""

    encoder: State
    decoder: State

    @property
    def channels(self) -> int:
        """Channels of the latent."""
        return int(self.decoder["1.weight"].shape[1])

    def encode(self, pixels: Tensor) -> Tensor:
        """(n, 3, height, width) from 0 to 1, sides multiples of `FACTOR` → (n, channels, height/8, width/8)."""
        return _run(ENCODER, self.encoder, pixels)

    def decode(self, latent: Tensor) -> Tensor:
        """The inverse of `encode`; values may be slightly outside 0 to 1."""
        return _run(DECODER, self.decoder, latent)


def build(states: Mapping[str, State], *, what: str, device: str, dtype: torch.dtype) -> TinyAutoencoder:
    """A network from the states of its files, by file name; `Prerequisite` if one belongs to another network."""
    encoder, decoder = _halves(states)
    wide = "11.pool.0.weight" in encoder
    for half, state, layers in (("encoder", encoder, ENCODER), ("decoder", decoder, DECODER)):
        expected = _names(layers, wide)
        if state.keys() != expected:
            odd = sorted(expected ^ state.keys())[0]
            raise Prerequisite(
                f"the weights of {what} are not those of a tiny autoencoder ('{odd}' of its {half} "
                f"{'is missing' if odd in expected else 'is unknown'}); fetch them again"
            )

    def ready(state: State) -> State:
        # 16-bit weights are converted: the arithmetic has the precision of `dtype`
        return {name: tensor.to(device=device, dtype=dtype) for name, tensor in state.items()}

    return TinyAutoencoder(ready(encoder), ready(decoder))


def _halves(states: Mapping[str, State]) -> tuple[dict[str, Tensor], dict[str, Tensor]]:
    encoder: dict[str, Tensor] = {}
    decoder: dict[str, Tensor] = {}
    for file, state in states.items():
        for name, tensor in state.items():
            half, _, rest = name.partition(".layers.")
            if half in ("encoder", "decoder") and rest:
                number, _, part = rest.partition(".")
                shifted = int(number) + (half == "decoder") if number.isdecimal() else number
                (encoder if half == "encoder" else decoder)[f"{shifted}.{part}"] = tensor
            else:
                (decoder if "decoder" in file else encoder)[name] = tensor
    return encoder, decoder


def _names(layers: tuple[Layer, ...], wide: bool) -> set[str]:
    names = set()
    for number, layer in enumerate(layers):
        parts = PARTS.get("block" if layer == "wide-block" else layer, ())
        parts = (*parts, *POOL) if layer == "wide-block" and wide else parts
        names |= {f"{number}.{part}" for part in parts}
    return names


def _run(layers: tuple[Layer, ...], state: State, data: Tensor) -> Tensor:
    for number, layer in enumerate(layers):
        match layer:
            case "convolve" | "mix":
                data = _convolve(data, state, f"{number}")
            case "halve":
                data = _convolve(data, state, f"{number}", stride=2)
            case "block" | "wide-block":
                data = _block(data, state, f"{number}")
            case "bound":
                data = torch.tanh(data / BOUND) * BOUND
            case "rectify":
                data = functional.relu(data)
            case "double":
                data = functional.interpolate(data, scale_factor=2, mode="nearest")
    return data


def _convolve(data: Tensor, state: State, name: str, *, stride: int = 1) -> Tensor:
    return functional.conv2d(data, state[f"{name}.weight"], state.get(f"{name}.bias"), stride=stride, padding=1)


def _block(data: Tensor, state: State, name: str) -> Tensor:
    if f"{name}.pool.0.weight" in state:
        wide = functional.conv2d(data, state[f"{name}.pool.0.weight"])
        wide = functional.group_norm(wide, GROUPS, state[f"{name}.pool.1.weight"], state[f"{name}.pool.1.bias"])
        data = data + functional.conv2d(functional.relu(wide), state[f"{name}.pool.3.weight"])
    inner = functional.relu(_convolve(data, state, f"{name}.conv.0"))
    inner = functional.relu(_convolve(inner, state, f"{name}.conv.2"))
    return functional.relu(_convolve(inner, state, f"{name}.conv.4") + data)
