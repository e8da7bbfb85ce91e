"""Teach the network of `decay` from nothing, on one GPU: `python -m training.decay.teach PACK.npz OUT.npz`.

It teaches the small networks that some editors are made of, draws random editors, lets each remake photographs twenty
times, and teaches the detector on tiles of these chains:

- of two steps of one chain, the later must score higher (same photograph, same place, so content cancels);
- tiles of one editor and step lie together in the embedding, whatever they show (contrastive, as ARNIQA does);
- across photographs, a picture that was remade often must score higher than one that was not or once.

Everything is drawn from the seed. Chains and iterations are counted, not timed, unless `--seconds` ends them earlier;
the file says how many there were.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from copy import deepcopy
from pathlib import Path
from time import monotonic
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from convergebench.editors.autoencoder.network import build
from training.decay.detector import TILE, Detector, exported, inputs_of
from training.decay.pack import unpacked
from training.decay.random_editors import (
    FAMILIES,
    STEPS,
    Networks,
    delivered,
    draw_editor,
    family_of,
    treated,
    walk,
)
from training.decay.taught import teach

SIDE = 256
"""Side of the squares that chains are made of."""
EDITORS, PER_BATCH = 96, 2
"""Editors in a batch, and photographs of each; every photograph brings two steps."""


class Chains(NamedTuple):
    """All chains: (editors, steps, photographs, 3, side, side) of bytes, and the family of each editor."""

    pictures: Tensor
    families: list[str]
    parts: list[tuple[str, ...]]


def photographs(pack: dict[str, Any], device: str) -> Tensor:
    """(n, 3, height, width) of bytes, all of one size."""
    return torch.from_numpy(unpacked(pack["photographs"], pack["ends"])).to(device)


def autoencoders(pack: dict[str, Any], device: str) -> dict[str, Any]:
    """The tiny autoencoders of the pack."""
    names = sorted({key.split("/")[1] for key in pack if key.startswith("weights/")})
    found = {}
    for name in names:
        states: dict[str, dict[str, Tensor]] = {"encoder": {}, "decoder": {}}
        for key, value in pack.items():
            if key.startswith(f"weights/{name}/"):
                _, _, half, tensor = key.split("/", 3)
                states[half][tensor] = torch.from_numpy(value)
        dtype = torch.bfloat16 if device == "cuda" else torch.float32
        found[name] = build(states, what=name, device=device, dtype=dtype)
    return found


def squares(pictures: Tensor, random: np.random.Generator, count: int) -> Tensor:
    """Squares of photographs, some of them reduced first, from 0 to 1."""
    height, width = pictures.shape[2:]
    found = []
    for place in random.integers(0, len(pictures), count):
        larger = int(random.integers(SIDE, min(height, width) + 1))
        side = (SIDE, larger)[int(random.choice(2))]
        top, left = int(random.integers(0, height - side + 1)), int(random.integers(0, width - side + 1))
        square = pictures[place, :, top : top + side, left : left + side].float()[None] / 255
        square = square.flip(3) if random.random() < 0.5 else square
        found.append(
            functional.interpolate(square, (SIDE, SIDE), mode="bilinear", antialias=True) if side > SIDE else square
        )
    return torch.cat(found)


@torch.no_grad()
def make_chains(
    pictures: Tensor, networks: Networks, families: Sequence[str], *, editors: int, shown: int, seed: int, until: float
) -> Chains:
    """Chains of random editors; editors that change next to nothing, or leave nothing, are left out."""
    kept, of_family, parts = [], [], []
    for number in range(editors):
        if monotonic() > until:
            break
        random = np.random.default_rng([seed, number])
        torch.manual_seed(seed * 100_003 + number)
        family = family_of(number, families)
        editor = draw_editor(random, family, networks)
        given = squares(pictures, random, shown)
        groups = [treated(part, random) for part in torch.split(given, 4)]
        chain = walk(editor, torch.cat(groups))
        last, first = chain[STEPS[-1]].float(), chain[1].float()
        change = float((last - first).abs().mean())
        if not 0.4 < change < 50 or not bool(torch.isfinite(last).all()):
            continue
        kept.append(torch.stack([chain[step] for step in STEPS]))
        of_family.append(family)
        parts.append(editor.parts)
    return Chains(torch.stack(kept), of_family, parts)


def without(chains: Chains, family: str) -> Chains:
    """The chains of all other families."""
    kept = [place for place, other in enumerate(chains.families) if other != family]
    return Chains(
        chains.pictures[kept], [chains.families[place] for place in kept], [chains.parts[place] for place in kept]
    )


def batch_of(chains: Chains, random: np.random.Generator) -> tuple[Tensor, Tensor]:
    """Tiles (editors, photographs, 2, 3, tile, tile) from 0 to 1, and their steps (editors, 2)."""
    device = chains.pictures.device
    weight = np.array([1 / chains.families.count(family) for family in chains.families])
    groups, steps = [], []
    for _ in range(6):  # each with its own delivery
        chosen = random.choice(len(chains.families), EDITORS // 6, p=weight / weight.sum())
        first = random.choice(len(STEPS), len(chosen), p=_EARLIER)
        second = np.array([random.integers(place + 1, len(STEPS)) for place in first])
        shown = np.stack([random.choice(chains.pictures.shape[2], PER_BATCH, replace=False) for _ in chosen])
        places = torch.from_numpy(np.stack([first, second], 1)).to(device)
        index = (
            torch.from_numpy(chosen).to(device)[:, None, None],
            places[:, None, :],
            torch.from_numpy(shown).to(device)[:, :, None],
        )
        tiles = chains.pictures[index].flatten(0, 2).float() / 255
        tiles = delivered(tiles, random)
        top, left = (int(random.integers(0, side - TILE + 1)) for side in tiles.shape[2:])
        tiles = tiles[..., top : top + TILE, left : left + TILE]
        groups.append(tiles.reshape(len(chosen), PER_BATCH, 2, *tiles.shape[1:]))
        steps.append(torch.tensor(STEPS, device=device)[places])
    return torch.cat(groups), torch.cat(steps)


_EARLIER = np.array([0.18, 0.32, 0.12, 0.12, 0.1, 0.06, 0.06, 0.04, 0.0])
"""How often each step is the earlier of a pair."""


def losses(score: Tensor, embedding: Tensor, steps: Tensor) -> tuple[Tensor, dict[str, Tensor]]:
    """The three losses; scores and embeddings come as (editors, photographs, 2, …), steps as (editors, 2)."""
    early, late = score[..., 0], score[..., 1]
    order = functional.softplus(early - late).mean()
    often = torch.log2(1 + steps.float())[:, None, :].expand_as(score)
    apart = often.flatten()[:, None] - often.flatten()[None, :]
    between = functional.softplus(score.flatten()[None, :] - score.flatten()[:, None])
    wide = apart > 2.0
    across = between[wide].mean()
    level = functional.smooth_l1_loss(score, often - 2)
    one, two = embedding[:, 0].flatten(0, 1), embedding[:, 1].flatten(0, 1)
    alike = one @ two.T / 0.1
    same = torch.arange(len(alike), device=alike.device)
    contrast = (functional.cross_entropy(alike, same) + functional.cross_entropy(alike.T, same)) / 2
    wrong = (early >= late).float().mean()
    total = order + 0.5 * across + 0.15 * level + 0.05 * contrast
    return total, {"order": order.detach(), "wrong": wrong, "across": across.detach(), "contrast": contrast.detach()}


def teach_detector(
    chains: Chains, *, iterations: int, seed: int, until: float, out: Path, note: dict[str, Any]
) -> Detector:
    """The detector, averaged over its last iterations."""
    device = chains.pictures.device
    torch.manual_seed(seed)
    random = np.random.default_rng([seed, 5])
    network = Detector().to(device).train()
    average: Detector = deepcopy(network)
    optimiser = torch.optim.AdamW(network.parameters(), lr=2e-3, weight_decay=0.01)
    began, shown = monotonic(), 0.0
    for number in range(iterations):
        past = max(number / iterations, (monotonic() - began) / max(1e-6, until - began))
        if past >= 1:
            break
        optimiser.param_groups[0]["lr"] = 3e-3 * min(1.0, number / 100 + 0.01) * (1 - past) ** 0.7 + 1e-5
        tiles, steps = batch_of(chains, random)
        planes = inputs_of(tiles.flatten(0, 2)).contiguous(memory_format=torch.channels_last)
        score, embedding = network(planes)
        shape = tiles.shape[:3]
        loss, said = losses(score.view(shape), embedding.view(*shape, -1), steps)
        optimiser.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        optimiser.step()
        share = min(0.998, number / (number + 20))
        with torch.no_grad():
            for kept, new in zip(average.state_dict().values(), network.state_dict().values(), strict=True):
                kept.copy_(torch.lerp(kept, new, 1 - share) if kept.dtype.is_floating_point else new)
        if monotonic() - shown > 8:
            shown = monotonic()
            print(number, {key: round(float(value), 3) for key, value in said.items()}, flush=True)  # noqa: T201
            save(average, out, {**note, "iterations": number})
    save(average, out, {**note, "iterations": number + 1})
    return average


def save(network: Detector, out: Path, note: dict[str, Any]) -> None:
    """State for teaching on, folded arrays, and how it was made; a broken-off run leaves the last whole file."""
    packed = exported(deepcopy(network))
    arrays = {f"kernel-{place}": kernel for place, kernel in enumerate(packed.kernels)}
    arrays |= {f"bias-{place}": bias for place, bias in enumerate(packed.biases)}
    arrays |= {"hidden-weight": packed.hidden[0], "hidden-bias": packed.hidden[1]}
    arrays |= {"score-weight": packed.score[0], "score-bias": packed.score[1]}
    state = {f"state/{name}": value.cpu().numpy() for name, value in network.state_dict().items()}
    part = out.with_suffix(".part.npz")
    everything: dict[str, Any] = {"note": np.array(json.dumps(note)), **arrays, **state}
    np.savez(part, **everything)
    part.replace(out)


def main(given: Sequence[str] | None = None) -> None:
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("pack", type=Path, help="photographs and autoencoders: python -m training.decay.pack")
    parser.add_argument("out", type=Path)
    parser.add_argument("--editors", type=int, default=1150)
    parser.add_argument("--shown", type=int, default=20, help="photographs that one editor remakes")
    parser.add_argument("--networks", type=int, default=24)
    parser.add_argument("--network-seconds", type=float, default=3.5)
    parser.add_argument("--iterations", type=int, default=22_000)
    parser.add_argument("--chain-seconds", type=float, default=1e6)
    parser.add_argument("--seconds", type=float, default=1e6, help="of teaching the detector")
    parser.add_argument("--without", default="", help="a family to leave out")
    parser.add_argument("--also-without", default="", help="teach a second network without this family: OUT-without-…")
    parser.add_argument("--also-seconds", type=float, default=1e6)
    parser.add_argument("--seed", type=int, default=2)
    chosen = parser.parse_args(given)
    device = "cuda" if torch.cuda.is_available() else "cpu"
    began = monotonic()
    pack = dict(np.load(chosen.pack))
    pictures = photographs(pack, device)
    taught = [teach(seed, pictures, chosen.network_seconds) for seed in range(chosen.networks)]
    print(f"{monotonic() - began:.0f} s: {len(taught)} networks taught", flush=True)  # noqa: T201
    networks = Networks(autoencoders(pack, device), taught)
    families = [family for family in FAMILIES if family != chosen.without]
    end = monotonic() + chosen.chain_seconds
    chains = make_chains(
        pictures, networks, families, editors=chosen.editors, shown=chosen.shown, seed=chosen.seed, until=end
    )
    print(f"{monotonic() - began:.0f} s: chains of {len(chains.families)} editors", flush=True)  # noqa: T201
    note = {
        "seed": chosen.seed,
        "editors": len(chains.families),
        "families": {family: chains.families.count(family) for family in families},
        "photographs": len(pictures),
        "without": chosen.without,
        "device": torch.cuda.get_device_name() if device == "cuda" else "cpu",
    }
    until = monotonic() + chosen.seconds
    teach_detector(chains, iterations=chosen.iterations, seed=chosen.seed, until=until, out=chosen.out, note=note)
    print(f"{monotonic() - began:.0f} s: {chosen.out}", flush=True)  # noqa: T201
    if chosen.also_without:
        fewer = without(chains, chosen.also_without)
        note |= {"without": chosen.also_without, "editors": len(fewer.families)}
        out = chosen.out.with_stem(f"{chosen.out.stem}-without-{chosen.also_without}")
        until = monotonic() + chosen.also_seconds
        teach_detector(fewer, iterations=chosen.iterations, seed=chosen.seed, until=until, out=out, note=note)


if __name__ == "__main__":
    main()
