"""Little autoencoders of our own, each built and taught differently: `python -m training.decay.networks FOLDER`.

Published decoders are few, and what one of them leaves behind could be learned by heart. So a dozen small ones are
taught here for under a minute each, with other ways to shrink and enlarge, other losses, other widths of the code.
They see no picture that is kept for judging.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from time import monotonic
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from convergebench.images.frame import Pixels
from training.decay import sources

CROP, BATCH = 128, 24


class Residual(nn.Module):
    """Two convolutions beside a shortcut."""

    def __init__(self, width: int, bend: type[nn.Module]) -> None:
        super().__init__()
        self.way = nn.Sequential(nn.Conv2d(width, width, 3, padding=1), bend(), nn.Conv2d(width, width, 3, padding=1))

    def forward(self, given: Tensor) -> Tensor:
        """The shortcut and the way round."""
        found: Tensor = given + self.way(given)
        return found


def _smaller(kind: str, width: int) -> nn.Module:
    if kind == "stride":
        return nn.Conv2d(width, width, 3, stride=2, padding=1)
    if kind == "pool":
        return nn.Sequential(nn.AvgPool2d(2), nn.Conv2d(width, width, 3, padding=1))
    return nn.Sequential(nn.PixelUnshuffle(2), nn.Conv2d(4 * width, width, 1))


def _larger(kind: str, width: int) -> nn.Module:
    if kind == "nearest":
        return nn.Sequential(nn.Upsample(scale_factor=2), nn.Conv2d(width, width, 3, padding=1))
    if kind == "smooth":
        return nn.Sequential(nn.Upsample(scale_factor=2, mode="bilinear"), nn.Conv2d(width, width, 3, padding=1))
    if kind == "transposed":
        return nn.ConvTranspose2d(width, width, 4, stride=2, padding=1)
    return nn.Sequential(nn.Conv2d(width, 4 * width, 1), nn.PixelShuffle(2))


class Little(nn.Module):
    """Encoder, code, decoder; what they look like is drawn from the seed."""

    def __init__(self, seed: int) -> None:
        super().__init__()
        random = np.random.default_rng([seed, 77])
        torch.manual_seed(seed)
        halvings, width = int(random.choice([1, 2, 2, 3, 3, 3, 4])), int(random.choice([24, 32, 48, 64]))
        code = int(random.choice([2, 4, 8, 16])) * (2 if halvings > 2 else 1)
        bend = [nn.ReLU, nn.GELU, nn.SiLU][int(random.integers(3))]
        down, up = (
            str(random.choice(["stride", "pool", "shuffle"])),
            str(random.choice(["nearest", "nearest", "smooth", "transposed", "shuffle"])),
        )
        self.loss = str(random.choice(["absolute", "square", "edges", "edges"]))
        self.static = float(random.choice([0.0, 0.0, 0.05, 0.2]))
        parts: list[nn.Module] = [nn.Conv2d(3, width, 3, padding=1), Residual(width, bend)]
        for _ in range(halvings):
            parts += [_smaller(down, width), Residual(width, bend)]
        self.encoder = nn.Sequential(*parts, nn.Conv2d(width, code, 3, padding=1))
        parts = [nn.Conv2d(code, width, 3, padding=1), Residual(width, bend)]
        for _ in range(halvings):
            parts += [_larger(up, width), Residual(width, bend)]
        self.decoder = nn.Sequential(*parts, nn.Conv2d(width, 3, 3, padding=1))

    def forward(self, given: Tensor) -> Tensor:
        """There and back."""
        code = 3 * torch.tanh(self.encoder(given) / 3)
        if self.training and self.static:
            code = code + self.static * torch.randn_like(code)
        found: Tensor = self.decoder(code)
        return found

    def lost(self, made: Tensor, wanted: Tensor) -> Tensor:
        """How far the answer is from what went in."""
        if self.loss == "square":
            return functional.mse_loss(made, wanted) * 4
        plain = functional.l1_loss(made, wanted)
        if self.loss == "edges":
            for axis in (2, 3):
                plain = plain + 2 * functional.l1_loss(made.diff(dim=axis), wanted.diff(dim=axis))
        return plain


def teach(seed: int, seconds: float, device: str) -> dict[str, Tensor]:
    """A network's numbers after some seconds of learning."""
    random = np.random.default_rng([seed, 78])
    crops: list[Tensor] = []
    while len(crops) < 160:
        pixels = sources.variant(sources.drawn_name(random, judged=False), random)
        crops.append(torch.from_numpy(pixels[: 224 // 16 * 16, : 224 // 16 * 16].copy()))
    data = torch.stack(crops).permute(0, 3, 1, 2).to(device)
    network = Little(seed).to(device).train()
    helper = torch.optim.Adam(network.parameters(), lr=1e-3)
    began = monotonic()
    while (past := (monotonic() - began) / seconds) < 1:
        helper.param_groups[0]["lr"] = 1.5e-3 * (1 - past) + 1e-5
        top, left = (int(random.integers(0, 224 - CROP + 1)) for _ in range(2))
        batch = data[torch.from_numpy(random.integers(0, len(data), BATCH)), :, top : top + CROP, left : left + CROP]
        wanted = batch.float() / 127.5 - 1
        loss = network.lost(network(wanted), wanted)
        helper.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        nn.utils.clip_grad_norm_(network.parameters(), 1.0)
        helper.step()
    return {name: value.half().cpu() for name, value in network.state_dict().items()}


@cache
def _ready(path: Path, device: str) -> Little:
    network = Little(int(path.stem.split("-")[1]))
    network.load_state_dict({name: value.float() for name, value in torch.load(path, weights_only=True).items()})
    return network.to(device).eval()


def passed(path: Path, pixels: Pixels) -> Pixels:
    """A picture after one pass through a network of a folder."""
    device = "cuda" if torch.cuda.is_available() else "cpu"
    height, width = pixels.shape[:2]
    padded = np.pad(pixels, ((0, -height % 16), (0, -width % 16), (0, 0)), mode="reflect")
    with torch.no_grad():
        given = torch.from_numpy(padded).to(device).permute(2, 0, 1)[None].float() / 127.5 - 1
        back: Any = ((_ready(path, device)(given)[0] + 1) * 127.5).round().clamp(0, 255).to(torch.uint8)
    return np.ascontiguousarray(back.permute(1, 2, 0).cpu().numpy()[:height, :width])


def main(given: Sequence[str] | None = None) -> None:
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--count", type=int, default=12)
    parser.add_argument("--seconds", type=float, default=45.0, help="of learning, per network")
    chosen = parser.parse_args(given)
    chosen.folder.mkdir(parents=True, exist_ok=True)
    device = "cuda" if torch.cuda.is_available() else "cpu"
    for seed in range(chosen.first, chosen.first + chosen.count):
        torch.save(teach(seed, chosen.seconds, device), chosen.folder / f"network-{seed}.pt")


if __name__ == "__main__":
    main()
