"""Random editors: compositions of operations and networks with random strengths, and chains made by them.

An editor is drawn once and then does the same at every step of a chain. Its first answer may be softened, as that of
editors is which work on an enlarged picture: a later, crisper picture of such a chain is still the more worn one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from convergebench.editors.autoencoder.network import TinyAutoencoder
from training.decay import operations as ops
from training.decay.operations import Operation, Random, between
from training.decay.taught import Taught

STEPS = (0, 1, 2, 3, 5, 7, 10, 14, 20)
"""The steps of a chain that are kept; 0 is the untouched picture."""
FAMILIES = ("autoencoder", "taught", "diffusion", "restored", "enhanced", "coded", "drifting", "single")
WITH_NETWORKS = ("autoencoder", "taught", "diffusion", "restored")
OTHER = (ops.tone, ops.grain, ops.focus, ops.sharpening, ops.smoothing, ops.local_contrast, ops.wandering, ops.codec)
"""What may stand beside a network in an editor."""


@dataclass(frozen=True)
class Networks:
    """The networks that editors are made of."""

    autoencoders: Mapping[str, TinyAutoencoder] = field(default_factory=dict)
    taught: Sequence[Taught] = ()

    def of(self, kind: str) -> list[Taught]:
        """Those of our own of one kind."""
        return [network for network in self.taught if network.kind == kind]


@dataclass(frozen=True)
class RandomEditor:
    """What it does to a picture at every step, and before the first one."""

    family: str
    parts: tuple[str, ...]
    step: Operation
    first: Operation | None


def draw_editor(random: Random, family: str, networks: Networks) -> RandomEditor:
    """An editor of a family, wholly fixed by the generator."""
    names, operations = _DRAWN[family](random, networks)
    keep = float(random.choice([0.0, 0.0, random.uniform(0.2, 0.7)]))

    def step(pictures: Tensor) -> Tensor:
        done = pictures
        for operation in operations:
            done = operation(done).clamp(0, 1)
        return ops.rounded(keep * pictures + (1 - keep) * done if keep else done)

    return RandomEditor(family, tuple(names), step, _first(random))


def walk(editor: RandomEditor, pictures: Tensor) -> dict[int, Tensor]:
    """Step → pictures as bytes, for the steps that are kept."""
    kept = {0: _bytes(pictures)}
    done = editor.first(pictures) if editor.first else pictures
    for number in range(1, max(STEPS) + 1):
        done = editor.step(done)
        if number in STEPS:
            kept[number] = _bytes(done)
    return kept


def _bytes(pictures: Tensor) -> Tensor:
    return (pictures.clamp(0, 1) * 255).round().to(torch.uint8)


def _first(random: Random) -> Operation | None:
    """Half of the editors soften their first picture: enlarged from a smaller one, or blurred."""
    kind = int(random.integers(4))
    factor, sigma = float(random.uniform(0.4, 0.85)), float(random.uniform(0.4, 1.2))
    if kind == 0:
        return lambda pictures: ops.blurred(pictures, sigma)
    if kind == 1:

        def enlarged(pictures: Tensor) -> Tensor:
            height, width = pictures.shape[2:]
            small = ops.resized(pictures, round(height * factor), round(width * factor))
            return ops.resized(small, height, width)

        return enlarged
    return None


def _some(random: Random, makers: Sequence[ops.Maker], least: int, most: int) -> tuple[list[str], list[Operation]]:
    count = int(random.integers(least, most + 1))
    chosen = random.choice(len(makers), size=count, replace=False)
    return [makers[place].__name__ for place in chosen], [makers[place](random) for place in chosen]


def _around(random: Random, name: str, network: Operation, most: int = 2) -> tuple[list[str], list[Operation]]:
    """A network, perhaps at another size or on a wandering grid, with other operations beside it."""
    names, others = _some(random, OTHER, 0, most)
    factor = float(random.choice([1.0, 1.0, 1.0, random.uniform(0.7, 1.5)]))
    wander = bool(random.random() < 0.5)

    def placed(pictures: Tensor) -> Tensor:
        height, width = pictures.shape[2:]
        given = pictures if factor == 1 else ops.resized(pictures, round(height * factor), round(width * factor))
        down, across = (int(torch.randint(0, 8, ()).item()) for _ in range(2)) if wander else (0, 0)
        tall, broad = given.shape[2:]
        right, below = -(broad + across) % 16, -(tall + down) % 16
        padded = functional.pad(given, (across, right, down, below), mode="reflect")
        done = network(padded)[..., down : down + tall, across : across + broad].float().clamp(0, 1)
        return done if factor == 1 else ops.resized(done, height, width)

    place = int(random.integers(0, len(others) + 1))
    return [*names[:place], name, *names[place:]], [*others[:place], placed, *others[place:]]


def _autoencoder(random: Random, networks: Networks) -> tuple[list[str], list[Operation]]:
    name = str(random.choice(sorted(networks.autoencoders)))
    network = networks.autoencoders[name]
    noise = float(random.choice([0.0, 0.0, between(random, 0.01, 0.2)]))
    gain = float(random.choice([1.0, 1 + random.normal(0, 0.02)]))
    soft = float(random.choice([0.0, 0.0, random.uniform(0.02, 0.2)]))

    def passed(pictures: Tensor) -> Tensor:
        code = network.encode(pictures.to(next(iter(network.encoder.values())).dtype))
        if noise:
            code = code + noise * code.std() * torch.randn_like(code)
        if soft:
            code = code + soft * (functional.avg_pool2d(functional.pad(code, (1,) * 4, mode="reflect"), 3, 1) - code)
        return network.decode(code * gain)

    return _around(random, name, passed, 1 if random.random() < 0.5 else 2)


def _taught(random: Random, networks: Networks) -> tuple[list[str], list[Operation]]:
    chosen = networks.of("autoencoder")
    place = int(random.integers(len(chosen)))
    return _around(random, f"taught-{place}", lambda pictures: chosen[place](pictures), 2)


def _diffusion(random: Random, networks: Networks) -> tuple[list[str], list[Operation]]:
    chosen = networks.of("denoiser")
    place = int(random.integers(len(chosen)))
    level, told = between(random, 0.006, 0.1), float(random.uniform(0.7, 1.5))
    rounds = int(random.choice([1, 1, 2, 3]))

    def remade(pictures: Tensor) -> Tensor:
        for part in range(rounds, 0, -1):
            now = level * part / rounds
            pictures = chosen[place](pictures + now * torch.randn_like(pictures), now * told).clamp(0, 1)
        return pictures

    return _around(random, f"denoiser-{place}", remade, 2)


def _restored(random: Random, networks: Networks) -> tuple[list[str], list[Operation]]:
    """A restorer; one that was taught to enlarge does so, and its answer is reduced again."""
    chosen = networks.of("restorer")
    place = int(random.integers(len(chosen)))
    share = float(random.choice([1.0, 1.0, random.uniform(0.4, 1.6)]))
    enlarges = chosen[place].mends == "enlarged" and random.random() < 0.7
    way = str(random.choice(["bicubic", "bilinear", "area"]))

    def mended(pictures: Tensor) -> Tensor:
        height, width = pictures.shape[2:]
        given = ops.resized(pictures, 2 * height, 2 * width) if enlarges else pictures
        done: Tensor = (given + share * (chosen[place](given) - given)).clamp(0, 1)
        if not enlarges:
            return done
        return functional.avg_pool2d(done, 2) if way == "area" else ops.resized(done, height, width, way)

    return _around(random, f"restorer-{place}", mended, int(random.choice([0, 1, 2])))


def _enhanced(random: Random, networks: Networks) -> tuple[list[str], list[Operation]]:
    makers = [ops.smoothing, ops.sharpening]
    if random.random() < 0.4:
        makers.append(ops.scaling)
    if random.random() < 0.3:
        makers.append(ops.tone)
    order = random.permutation(len(makers))
    return [makers[place].__name__ for place in order], [makers[place](random) for place in order]


def _coded(random: Random, networks: Networks) -> tuple[list[str], list[Operation]]:
    names, operations = _some(random, (ops.codec, ops.block_code, ops.scaling), 1, 2)
    more, others = _some(random, (ops.sharpening, ops.focus, ops.tone), 0, 1)
    return names + more, operations + others


def _drifting(random: Random, networks: Networks) -> tuple[list[str], list[Operation]]:
    makers = (*OTHER, ops.block_code, ops.lattice, ops.near_identity, ops.blurring, ops.scaling)
    return _some(random, makers, 2, 5)


def _single(random: Random, networks: Networks) -> tuple[list[str], list[Operation]]:
    makers = (*OTHER, ops.block_code, ops.lattice, ops.near_identity, ops.blurring, ops.scaling)
    return _some(random, makers, 1, 1)


Drawing = Callable[[Random, Networks], tuple[list[str], list[Operation]]]
_DRAWN: dict[str, Drawing] = {
    "autoencoder": _autoencoder,
    "taught": _taught,
    "diffusion": _diffusion,
    "restored": _restored,
    "enhanced": _enhanced,
    "coded": _coded,
    "drifting": _drifting,
    "single": _single,
}


def family_of(number: int, families: Sequence[str]) -> str:
    """Families in turn, those with networks more often: they are nearest to what editors are."""
    order = [family for family in families for _ in range(2 if family in WITH_NETWORKS else 1)]
    return order[number % len(order)]


def treated(pictures: Tensor, random: Random) -> Tensor:
    """What people do to a photograph once: saved, sharpened, enlarged, toned, with grain. It is not wear."""
    kind = int(random.integers(8))
    height, width = pictures.shape[2:]
    if kind == 1:
        pictures = pictures + between(random, 0.2, 1.5) * (pictures - ops.blurred(pictures, random.uniform(0.6, 2.0)))
    elif kind == 2:
        factor = random.uniform(0.35, 0.9)
        small = ops.resized(pictures, round(height * factor), round(width * factor))
        pictures = ops.resized(small, height, width, str(random.choice(["bilinear", "bicubic"])))
    elif kind == 3:
        pictures = pictures + between(random, 1, 8) / 255 * torch.randn_like(pictures)
    elif kind == 4:
        factor = float(random.uniform(0.8, 1.4))
        middle = 0.5 + (pictures - 0.5) * factor
        grey = ops.luma(middle)
        pictures = (grey + (middle - grey) * float(random.uniform(0.0, 1.6))).clamp(1e-4, 1) ** between(
            random, 0.7, 1.4
        )
    elif kind == 5:
        pictures = ops.smoothing(random)(pictures)
    pictures = ops.rounded(pictures)
    return ops.saved(pictures, int(random.integers(60, 97))) if random.random() < 0.4 else pictures


def delivered(pictures: Tensor, random: Random) -> Tensor:
    """The same picture as it reaches the metric: another size, tint, brightness, or saved as JPEG."""
    height, width = pictures.shape[2:]
    if random.random() < 0.5:
        factor = between(random, 0.5, 1.3)
        kind = str(random.choice(["bilinear", "bicubic"]))
        pictures = ops.resized(pictures, round(height * factor), round(width * factor), kind)
    if random.random() < 0.4:
        gains = torch.as_tensor(np.exp(random.normal(0, 0.1, 3)), dtype=torch.float32, device=pictures.device)
        pictures = pictures * gains[None, :, None, None] + float(random.normal(0, 0.03))
        pictures = pictures.clamp(1e-4, 1) ** between(random, 0.8, 1.25)
    pictures = ops.rounded(pictures)
    return ops.saved(pictures, int(random.integers(70, 98))) if random.random() < 0.3 else pictures
