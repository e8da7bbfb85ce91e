"""Networks that compare images: their construction, cached per process, device and precision."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor

from convergebench.images.frame import Frame
from convergebench.metrics._torch import compiled_here
from convergebench.metrics.full_reference import _trunks
from convergebench.metrics.full_reference._heads import Head, MeanAndStructure, UnitLength
from convergebench.metrics.full_reference._trunks import Kernel, Step
from convergebench.metrics.gpu.features import Fold, looked_up
from convergebench.metrics.place import Place
from convergebench.weights import locate
from convergebench.weights.loading import numpy_pickle, torch_state

MEAN = (0.485, 0.456, 0.406)
DEVIATION = (0.229, 0.224, 0.225)
"""Of ImageNet, on the scale 0 to 1; LPIPS states the same numbers on the scale −1 to 1."""
NARROW, WIDE = 1 << 25, 1 << 22
"""Pixels of subjects per batch on a GPU, for AlexNet, whose first layer has a sixteenth of the image's places, and for
VGG16. A CPU gets one image at a time: larger batches are slower there."""

PLAIN = Fold()
ALEXNET_FOLD = Fold(stride=4, padding=2, side=11)
"""AlexNet's first convolution. Three channels leave most of a GPU's matrix unit idle; 48 do not."""

Kept = tuple[Any, ...]


class FeatureNetwork(NamedTuple):
    """Stages, and a head for the output of each."""

    stages: tuple[Step, ...]
    heads: tuple[Head, ...]
    place: Place
    standardised: bool = True
    """Whether the first stage gets the image less ImageNet's mean, over its deviation; otherwise from 0 to 1."""
    pixels: int = WIDE
    """Of subjects per batch on a GPU."""
    fold: Fold = PLAIN
    """How pixels are arranged for the first stage, by the kernel that sends them through `standardise`."""

    def keep(self, frame: Frame) -> Kept:
        """The reference's part of the distance: one entry per layer."""
        return tuple(head.keep(feature) for head, feature in self._layers([frame]))

    def distances(self, subjects: Sequence[Frame], references: Sequence[Kept]) -> list[float]:
        """One distance per subject; all must have one size. Features of at most two layers are in memory at a time."""
        if not subjects:
            return []
        width, height = subjects[0].size
        limit = 1 if self.place.device == "cpu" else max(1, self.pixels // (width * height))
        found: list[float] = []
        for first in range(0, len(subjects), limit):
            some, kept = subjects[first : first + limit], references[first : first + limit]
            total = torch.zeros(len(some), dtype=torch.float64, device=self.place.device)
            for layer, (head, feature) in enumerate(self._layers(some)):
                total += head.distances(feature, [one[layer] for one in kept])
            found += total.tolist()
        return found

    def _layers(self, frames: Sequence[Frame]) -> Iterator[tuple[Head, Tensor]]:
        value = inputs(frames, self.place, standardised=self.standardised, fold=self.fold)
        for stage, head in zip(self.stages, self.heads, strict=True):
            value = stage(value)
            yield head, value


def inputs(frames: Sequence[Frame], place: Place, *, standardised: bool, fold: Fold) -> Tensor:
    """Images × 3 × height × width; standardised in the network's precision, otherwise from 0 to 1 in float32."""
    if standardised and compiled_here(place.device):
        return looked_up(frames, _table(place), place.device, fold)
    pixels = torch.from_numpy(np.stack([frame.pixels for frame in frames])).to(place.device)
    value = pixels.permute(0, 3, 1, 2).float().div_(255)
    return standardise(value, place) if standardised else value


def standardise(value: Tensor, place: Place) -> Tensor:
    """In float32, whatever the network's precision, which the result has."""
    mean, deviation = (torch.tensor(numbers, device=value.device)[:, None, None] for numbers in (MEAN, DEVIATION))
    return ((value - mean) / deviation).to(getattr(torch, place.precision))


@cache
def _table(place: Place) -> Tensor:
    """What `standardise` makes of each of the 256 values in each channel."""
    every = torch.arange(256).float().div_(255).expand(3, 1, 256)
    return standardise(every, place).reshape(3, 256).contiguous().to(place.device)


@cache
def network(name: str, place: Place) -> FeatureNetwork:
    """The network of that name on that device, in that precision."""
    return _BUILDERS[name](_Loader(place))


class _Loader(NamedTuple):
    """Moves weights from a file to the device, in its precision."""

    place: Place

    def kernel(self, weight: Tensor, bias: Tensor) -> Kernel:
        dtype = getattr(torch, self.place.precision)
        return Kernel(weight.to(self.place.device, dtype), bias.to(self.place.device, dtype))

    def head(self, weights: Tensor) -> UnitLength:
        return UnitLength(weights.to(self.place.device))


def _lpips(
    weights: str, trunk: str, build: Callable[[Sequence[Kernel]], tuple[Step, ...]], loader: _Loader
) -> FeatureNetwork:
    content = numpy_pickle(locate(weights))
    heads = tuple(loader.head(torch.from_numpy(content[f"NetLinLayer_{i}"]["Conv_0"]["kernel"])) for i in range(5))
    kernels = _kernels(content[trunk], loader)
    if trunk != "AlexNet_0":
        return FeatureNetwork(build(kernels), heads, loader.place)
    if not compiled_here(loader.place.device):
        return FeatureNetwork(build(kernels), heads, loader.place, pixels=NARROW)
    first = Kernel(ALEXNET_FOLD.weights(kernels[0].weight), kernels[0].bias)
    stages = _trunks.alexnet([first, *kernels[1:]], folded=True)
    return FeatureNetwork(stages, heads, loader.place, pixels=NARROW, fold=ALEXNET_FOLD)


def _kernels(layers: Mapping[str, Mapping[str, Any]], loader: _Loader) -> list[Kernel]:
    """Kernels, stored as height × width × in × out."""
    found = [layers[f"Conv_{i}"] for i in range(len(layers))]
    return [
        loader.kernel(torch.from_numpy(one["kernel"]).permute(3, 2, 0, 1), torch.from_numpy(one["bias"]))
        for one in found
    ]


def _st_lpips(weights: str, build: Callable[[Sequence[Kernel]], tuple[Step, ...]], loader: _Loader) -> FeatureNetwork:
    state = torch_state(locate(weights))
    names = [name.removesuffix(".bias") for name in state if name.startswith("net.") and name.endswith(".bias")]
    kernels = [loader.kernel(state[f"{name}.weight"], state[f"{name}.bias"]) for name in names]
    heads = tuple(loader.head(state[f"lin{i}.model.1.weight"]) for i in range(5))
    return FeatureNetwork(build(kernels), heads, loader.place)


def _dists(loader: _Loader) -> FeatureNetwork:
    stages = _trunks.l2_pooled_vgg16(_kernels(numpy_pickle(locate("lpips-vgg"))["VGG16_0"], loader))
    state = torch_state(locate("dists"))
    texture, structure = (state[name].flatten().to(loader.place.device).double() for name in ("alpha", "beta"))
    whole = texture.sum() + structure.sum()
    widths = [3, 64, 128, 256, 512, 512]
    heads = map(MeanAndStructure, torch.split(texture / whole, widths), torch.split(structure / whole, widths))
    # the image itself is the first layer
    place = loader.place
    first = _trunks.chain(lambda value: standardise(value, place), stages[0])
    return FeatureNetwork((lambda value: value, first, *stages[1:]), tuple(heads), place, standardised=False)


_BUILDERS: Mapping[str, Callable[[_Loader], FeatureNetwork]] = {
    "lpips": lambda loader: _lpips("lpips-alex", "AlexNet_0", _trunks.alexnet, loader),
    "lpips-vgg": lambda loader: _lpips("lpips-vgg", "VGG16_0", _trunks.vgg16, loader),
    "st-lpips": lambda loader: _st_lpips("st-lpips-alex", _trunks.antialiased_alexnet, loader),
    "st-lpips-vgg": lambda loader: _st_lpips("st-lpips-vgg", _trunks.antialiased_vgg16, loader),
    "dists": _dists,
}
