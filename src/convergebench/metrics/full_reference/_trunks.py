"""The convolutional layers of AlexNet and VGG16, cut into stages after which features are compared.

A stage is a function from tensor to tensor. The published variants differ in their pooling: maximum (LPIPS), blur
against aliasing (ST-LPIPS), or blurred root mean square (DISTS).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce

import torch
import torch.nn.functional as F
from torch import Tensor

Step = Callable[[Tensor], Tensor]


class Kernel:
    """Weights and bias of one convolution."""

    def __init__(self, weight: Tensor, bias: Tensor) -> None:
        # channels last: as fast in convolutions and ten times as fast in pooling on a CPU
        self.weight = weight.contiguous(memory_format=torch.channels_last)
        self.bias = bias

    def step(self, *, stride: int = 1, padding: int = 1) -> Step:
        """The convolution alone."""
        return lambda x: F.conv2d(x, self.weight, self.bias, stride=stride, padding=padding)

    def rectified(self, *, stride: int = 1, padding: int = 1) -> Step:
        """The convolution, with negative results set to 0; on a GPU in one go."""
        plain = chain(self.step(stride=stride, padding=padding), F.relu_)
        strides, paddings = (stride, stride), (padding, padding)

        def step(x: Tensor) -> Tensor:
            if not x.is_cuda or torch.version.cuda is None:
                return plain(x)
            fused: Tensor = torch.cudnn_convolution_relu(x, self.weight, self.bias, strides, paddings, (1, 1), 1)
            return fused

        return step


def chain(*steps: Step) -> Step:
    """One step after another."""
    return lambda x: reduce(lambda value, step: step(value), steps, x)


def alexnet(kernels: Sequence[Kernel], *, folded: bool = False) -> tuple[Step, ...]:
    """Five stages of AlexNet, in its variant for one GPU. `folded`: the first gets squares of 4 × 4 pixels."""
    one, two, three, four, five = kernels
    return (
        one.rectified(padding=0) if folded else one.rectified(stride=4, padding=2),
        chain(_max_pool(3, 2), two.rectified(padding=2)),
        chain(_max_pool(3, 2), three.rectified()),
        four.rectified(),
        five.rectified(),
    )


def antialiased_alexnet(kernels: Sequence[Kernel]) -> tuple[Step, ...]:
    """AlexNet with every stride moved to a blur pool, the first convolution's too."""
    one, two, three, four, five = kernels
    return (
        chain(one.step(padding=2), blur_pool, F.relu_),
        chain(_max_pool(3, 1), blur_pool, two.step(padding=2), F.relu_),
        chain(_max_pool(3, 1), blur_pool, three.step(), F.relu_),
        chain(four.step(), F.relu_),
        chain(five.step(), F.relu_),
    )


def vgg16(kernels: Sequence[Kernel]) -> tuple[Step, ...]:
    """Five stages of VGG16 with its max pools between them."""
    return _vgg16(kernels, _max_pool(2, 2))


def antialiased_vgg16(kernels: Sequence[Kernel]) -> tuple[Step, ...]:
    """VGG16 with a blur pool after each maximum."""
    return _vgg16(kernels, chain(_max_pool(2, 1), blur_pool))


def l2_pooled_vgg16(kernels: Sequence[Kernel]) -> tuple[Step, ...]:
    """VGG16 with L2 pools (blurred root mean squares) in place of max pools."""
    return _vgg16(kernels, l2_pool)


def _vgg16(kernels: Sequence[Kernel], halve: Step) -> tuple[Step, ...]:
    steps = iter([kernel.rectified() for kernel in kernels])
    stages = []
    for index, count in enumerate((2, 2, 3, 3, 3)):
        convolutions = [next(steps) for _ in range(count)]
        stages.append(chain(*([halve] if index else []), *convolutions))
    return tuple(stages)


def _max_pool(side: int, stride: int) -> Step:
    return lambda x: F.max_pool2d(x, side, stride)


def blur_pool(x: Tensor) -> Tensor:
    """A 1-2-1 blur with stride 2; edges are mirrored by two pixels."""
    return F.conv2d(F.pad(x, (2, 2, 2, 2), mode="reflect"), _one_two_one(x), stride=2, groups=x.shape[1])


def l2_pool(x: Tensor) -> Tensor:
    """Root of a 1-2-1 blur of the squares with stride 2; padded with zeros."""
    power = F.conv2d(x.square(), _one_two_one(x), stride=2, padding=1, groups=x.shape[1])
    return power.add_(1e-12).sqrt_()


def _one_two_one(x: Tensor) -> Tensor:
    row = torch.tensor([0.25, 0.5, 0.25], dtype=x.dtype, device=x.device)
    return torch.outer(row, row).expand(x.shape[1], 1, 3, 3)
