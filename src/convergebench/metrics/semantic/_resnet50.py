"""ResNet in its bottleneck form (He et al. 2015), for looking only; the state dictionary says how deep and how wide.

Batch normalisation is a fixed affine map once training is over, so it is folded into the convolution before it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    import torch

EPSILON = 1e-5
"""Added to variances, as in training."""


class Convolution(NamedTuple):
    """A convolution with its normalisation folded in."""

    weight: torch.Tensor
    bias: torch.Tensor
    stride: int

    def __call__(self, x: torch.Tensor) -> torch.Tensor:
        """Padded so that only the stride changes the size."""
        from torch.nn.functional import conv2d

        return conv2d(x, self.weight, self.bias, stride=self.stride, padding=self.weight.shape[-1] // 2)


class Block(NamedTuple):
    """1×1, 3×3, 1×1, and the way around them."""

    body: tuple[Convolution, Convolution, Convolution]
    shortcut: Convolution | None

    def __call__(self, x: torch.Tensor) -> torch.Tensor:
        """What comes out after the sum."""
        first, second, third = self.body
        y = third(second(first(x).relu_()).relu_())
        return (y + (x if self.shortcut is None else self.shortcut(x))).relu_()


class ResNet(NamedTuple):
    """From normalised pixels to the output of the last linear layer."""

    stem: Convolution
    blocks: tuple[Block, ...]
    weight: torch.Tensor
    bias: torch.Tensor

    def __call__(self, x: torch.Tensor) -> torch.Tensor:
        """N × 3 × height × width → N × outputs."""
        from torch.nn.functional import linear, max_pool2d

        x = max_pool2d(self.stem(x).relu_(), kernel_size=3, stride=2, padding=1)
        for block in self.blocks:
            x = block(x)
        return linear(x.mean(dim=(2, 3)), self.weight, self.bias)


def resnet(state: Mapping[str, torch.Tensor], device: str, dtype: torch.dtype) -> ResNet:
    """The network that a state dictionary (with torchvision's names) describes."""
    import torch

    def convolution(name: str, norm: str, stride: int = 1) -> Convolution:
        scale = state[f"{norm}.weight"].double() / (state[f"{norm}.running_var"].double() + EPSILON).sqrt()
        weight = state[f"{name}.weight"].double() * scale[:, None, None, None]
        bias = state[f"{norm}.bias"].double() - state[f"{norm}.running_mean"].double() * scale
        placed = weight.to(device, dtype).contiguous(memory_format=torch.channels_last)
        return Convolution(placed, bias.to(device, dtype), stride)

    def block(name: str, stride: int) -> Block:
        strides = (1, stride, 1)
        first, second, third = (
            convolution(f"{name}.conv{i}", f"{name}.bn{i}", step) for i, step in enumerate(strides, start=1)
        )
        around = f"{name}.downsample"
        shortcut = convolution(f"{around}.0", f"{around}.1", stride) if f"{around}.0.weight" in state else None
        return Block((first, second, third), shortcut)

    names = sorted({tuple(key.split(".")[:2]) for key in state if key.startswith("layer")})
    blocks = tuple(
        block(f"{layer}.{index}", 2 if index == "0" and layer != "layer1" else 1) for layer, index in _in_order(names)
    )
    head = state["fc.weight"].to(device, dtype), state["fc.bias"].to(device, dtype)
    return ResNet(convolution("conv1", "bn1", 2), blocks, *head)


def _in_order(names: list[tuple[str, ...]]) -> list[tuple[str, ...]]:
    return sorted(names, key=lambda name: (name[0], int(name[1])))
