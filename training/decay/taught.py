"""Networks of our own that remake a picture: autoencoders, denoisers and restorers, each built and taught differently.

Published decoders are few, and what one of them leaves behind could be learned by heart. These are taught for some
seconds each, with other ways to shrink and enlarge, other losses and other widths of the code. A denoiser that is given
its own output with fresh noise, again and again, does what editing by diffusion does in miniature. A restorer is given
a soft, noisy or saved picture and must answer with the clean one, or with a larger one; given its own answer, it finds
faults where there are none.
"""

from __future__ import annotations

from time import monotonic

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from training.decay import operations as ops

CROP, BATCH = 128, 32
KINDS = ("autoencoder", "denoiser", "restorer")
FAULTS = ("saved", "noisy", "soft", "enlarged", "enlarged")
"""What a restorer is taught to mend."""


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


class Taught(nn.Module):
    """Encoder, code, decoder, drawn from the seed, which also says the kind: every third is of one kind.

    A denoiser gets the noise level as a fourth channel; denoisers and restorers add what they found to what they were
    given.
    """

    def __init__(self, seed: int) -> None:
        super().__init__()
        random = np.random.default_rng([seed, 77])
        torch.manual_seed(seed)
        self.kind = KINDS[seed % len(KINDS)]
        self.mends = str(random.choice(FAULTS))
        narrow = self.kind == "autoencoder"
        halvings = int(random.choice([0, 0, 1, 2] if self.kind == "restorer" else [1, 2, 2, 3, 3]))
        width = int(random.choice([24, 32, 48]))
        code = int(random.choice([4, 8, 16])) * (2 if halvings > 2 else 1) if narrow else width
        bend: type[nn.Module] = [nn.ReLU, nn.GELU, nn.SiLU][int(random.integers(3))]
        down = str(random.choice(["stride", "pool", "shuffle"]))
        up = str(random.choice(["nearest", "nearest", "smooth", "transposed", "shuffle"]))
        self.loss = str(random.choice(["absolute", "square", "edges", "edges"]))
        self.noise = float(random.choice([0.0, 0.05, 0.2]))
        parts: list[nn.Module] = [
            nn.Conv2d(4 if self.kind == "denoiser" else 3, width, 3, padding=1),
            Residual(width, bend),
        ]
        for _ in range(halvings):
            parts += [_smaller(down, width), Residual(width, bend)]
        self.encoder = nn.Sequential(*parts, nn.Conv2d(width, code, 3, padding=1))
        parts = [nn.Conv2d(code, width, 3, padding=1), Residual(width, bend)]
        for _ in range(halvings):
            parts += [_larger(up, width), Residual(width, bend)]
        self.decoder = nn.Sequential(*parts, nn.Conv2d(width, 3, 3, padding=1))

    def forward(self, pictures: Tensor, level: float = 0.0) -> Tensor:
        """Pictures from 0 to 1 as the network gives them back; `level` is the standard deviation of their noise."""
        given = pictures * 2 - 1
        if self.kind != "autoencoder":
            flat = torch.full_like(given[:, :1], 10 * level)
            told = torch.cat([given, flat], 1) if self.kind == "denoiser" else given
            cleaned: Tensor = (given + self.decoder(self.encoder(told)) + 1) / 2
            return cleaned
        code = 3 * torch.tanh(self.encoder(given) / 3)
        if self.training and self.noise:
            code = code + self.noise * torch.randn_like(code)
        found: Tensor = (self.decoder(code) + 1) / 2
        return found

    def lost(self, made: Tensor, wanted: Tensor) -> Tensor:
        """How far the answer is from what is wanted."""
        if self.loss == "square":
            return functional.mse_loss(made, wanted) * 8
        plain = functional.l1_loss(made, wanted)
        if self.loss == "edges":
            for axis in (2, 3):
                plain = plain + 2 * functional.l1_loss(made.diff(dim=axis), wanted.diff(dim=axis))
        return plain


def faulty(pictures: Tensor, fault: str, random: np.random.Generator) -> Tensor:
    """Pictures with the fault that a restorer learns to mend."""
    if fault == "saved":
        return ops.saved(pictures, int(random.integers(25, 90)))
    if fault == "noisy":
        return pictures + float(random.uniform(0.0, 0.08)) * torch.randn_like(pictures)
    if fault == "soft":
        return ops.blurred(pictures, float(random.uniform(0.4, 1.6)))
    height, width = pictures.shape[2:]
    return ops.resized(ops.resized(pictures, height // 2, width // 2), height, width)


def teach(seed: int, pictures: Tensor, seconds: float) -> Taught:
    """A network after some seconds of learning on pictures (n, 3, height, width) of bytes."""
    random = np.random.default_rng([seed, 78])
    network = Taught(seed).to(pictures.device).train()
    optimiser = torch.optim.Adam(network.parameters(), lr=1e-3)
    height, width = pictures.shape[2:]
    began = monotonic()
    while (past := (monotonic() - began) / seconds) < 1:
        optimiser.param_groups[0]["lr"] = 1.5e-3 * (1 - past) + 1e-5
        top, left = int(random.integers(0, height - CROP + 1)), int(random.integers(0, width - CROP + 1))
        chosen = torch.from_numpy(random.integers(0, len(pictures), BATCH)).to(pictures.device)
        wanted = pictures[chosen, :, top : top + CROP, left : left + CROP].float() / 255
        level = float(random.uniform(0.004, 0.12)) if network.kind == "denoiser" else 0.0
        given = wanted + level * torch.randn_like(wanted) if level else wanted
        given = faulty(wanted, network.mends, random) if network.kind == "restorer" else given
        loss = network.lost(network(given, level), wanted)
        optimiser.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        nn.utils.clip_grad_norm_(network.parameters(), 1.0)
        optimiser.step()
    return network.eval().requires_grad_(False)
