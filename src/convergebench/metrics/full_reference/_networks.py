"""Networks that compare images, ready to run: read once per process and place, and what each is made of."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor

from convergebench.images.frame import Frame
from convergebench.metrics.full_reference import _trunks
from convergebench.metrics.full_reference._heads import Head, MeanAndStructure, UnitLength
from convergebench.metrics.full_reference._trunks import Kernel, Step
from convergebench.metrics.place import Place
from convergebench.weights import locate
from convergebench.weights.loading import numpy_pickle, torch_state

MEAN = (0.485, 0.456, 0.406)
DEVIATION = (0.229, 0.224, 0.225)
"""Of ImageNet, on the scale 0 to 1; LPIPS states the same numbers on the scale −1 to 1."""
PIXELS = 1 << 22
"""How many pixels of subjects a GPU gets at once. A processor gets one image: more at once is slower there."""

Kept = tuple[Any, ...]


class Network(NamedTuple):
    """Stages, and a head for what comes out of each."""

    stages: tuple[Step, ...]
    heads: tuple[Head, ...]
    place: Place

    def keep(self, frame: Frame) -> Kept:
        """What is remembered of a reference: one entry per layer."""
        return tuple(head.keep(feature) for head, feature in self._layers([frame]))

    def distances(self, subjects: Sequence[Frame], references: Sequence[Kept]) -> list[float]:
        """One distance per subject; all are of one size. A layer's features are gone before the next but one."""
        if not subjects:
            return []
        width, height = subjects[0].size
        limit = 1 if self.place.device == "cpu" else max(1, PIXELS // (width * height))
        found: list[float] = []
        for first in range(0, len(subjects), limit):
            some, kept = subjects[first : first + limit], references[first : first + limit]
            total = torch.zeros(len(some), dtype=torch.float64, device=self.place.device)
            for layer, (head, feature) in enumerate(self._layers(some)):
                total += torch.stack([head.distance(feature[i : i + 1], kept[i][layer]) for i in range(len(some))])
            found += total.tolist()
        return found

    def _layers(self, frames: Sequence[Frame]) -> Iterator[tuple[Head, Tensor]]:
        pixels = torch.from_numpy(np.stack([frame.pixels for frame in frames])).to(self.place.device)
        value = pixels.permute(0, 3, 1, 2).float().div_(255)
        for stage, head in zip(self.stages, self.heads, strict=True):
            value = stage(value)
            yield head, value


@cache
def network(name: str, place: Place) -> Network:
    """The network of that name on that device, in that precision."""
    return _MAKERS[name](_Hands(place))


class _Hands(NamedTuple):
    """Brings arrays from a file to where they are used."""

    place: Place

    def kernel(self, weight: Tensor, bias: Tensor) -> Kernel:
        dtype = getattr(torch, self.place.precision)
        return Kernel(weight.to(self.place.device, dtype), bias.to(self.place.device, dtype))

    def head(self, weights: Tensor) -> UnitLength:
        return UnitLength(weights.to(self.place.device))

    def standardise(self, value: Tensor) -> Tensor:
        mean, deviation = (torch.tensor(numbers, device=value.device)[:, None, None] for numbers in (MEAN, DEVIATION))
        # still whole numbers of 255ths here: float32 first, whatever the network works in
        return ((value - mean) / deviation).to(getattr(torch, self.place.precision))

    def before(self, stages: tuple[Step, ...]) -> tuple[Step, ...]:
        return (_trunks.chain(self.standardise, stages[0]), *stages[1:])


def _lpips(weights: str, trunk: str, build: Callable[[Sequence[Kernel]], tuple[Step, ...]], hands: _Hands) -> Network:
    content = numpy_pickle(locate(weights))
    heads = tuple(hands.head(torch.from_numpy(content[f"NetLinLayer_{i}"]["Conv_0"]["kernel"])) for i in range(5))
    return Network(hands.before(build(_kernels(content[trunk], hands))), heads, hands.place)


def _kernels(layers: Mapping[str, Mapping[str, Any]], hands: _Hands) -> list[Kernel]:
    """Out of height × width × in × out, which is how they are stored."""
    found = [layers[f"Conv_{i}"] for i in range(len(layers))]
    return [
        hands.kernel(torch.from_numpy(one["kernel"]).permute(3, 2, 0, 1), torch.from_numpy(one["bias"]))
        for one in found
    ]


def _tolerant(weights: str, build: Callable[[Sequence[Kernel]], tuple[Step, ...]], hands: _Hands) -> Network:
    state = torch_state(locate(weights))
    names = [name.removesuffix(".bias") for name in state if name.startswith("net.") and name.endswith(".bias")]
    kernels = [hands.kernel(state[f"{name}.weight"], state[f"{name}.bias"]) for name in names]
    heads = tuple(hands.head(state[f"lin{i}.model.1.weight"]) for i in range(5))
    return Network(hands.before(build(kernels)), heads, hands.place)


def _dists(hands: _Hands) -> Network:
    stages = _trunks.smooth_vgg16(_kernels(numpy_pickle(locate("lpips-vgg"))["VGG16_0"], hands))
    state = torch_state(locate("dists"))
    texture, structure = (state[name].flatten().to(hands.place.device).double() for name in ("alpha", "beta"))
    whole = texture.sum() + structure.sum()
    widths = [3, 64, 128, 256, 512, 512]
    heads = map(MeanAndStructure, torch.split(texture / whole, widths), torch.split(structure / whole, widths))
    # the picture itself is the first layer
    return Network((lambda value: value, *hands.before(stages)), tuple(heads), hands.place)


_MAKERS: Mapping[str, Callable[[_Hands], Network]] = {
    "lpips": lambda hands: _lpips("lpips-alex", "AlexNet_0", _trunks.alexnet, hands),
    "lpips-vgg": lambda hands: _lpips("lpips-vgg", "VGG16_0", _trunks.vgg16, hands),
    "st-lpips": lambda hands: _tolerant("st-lpips-alex", _trunks.tolerant_alexnet, hands),
    "st-lpips-vgg": lambda hands: _tolerant("st-lpips-vgg", _trunks.tolerant_vgg16, hands),
    "dists": _dists,
}
