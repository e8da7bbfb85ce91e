"""Image operations in batches on one device, from which random editors are composed.

Pictures are (n, 3, height, width) from 0 to 1. A maker draws strength and kind once, from a numpy generator, and gives
an operation that is the same at every step; what differs from step to step comes from torch's own generator.
Only torch and numpy are used, so that a machine with nothing else can make chains.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

Random = np.random.Generator
Operation = Callable[[Tensor], Tensor]
Maker = Callable[[Random], Operation]

LUMA = (0.299, 0.587, 0.114)
_CHROMA = ((0.299, 0.587, 0.114), (-0.168736, -0.331264, 0.5), (0.5, -0.418688, -0.081312))
_FROM_CHROMA = np.linalg.inv(np.array(_CHROMA)).tolist()
_LUMA_TABLE = (
    *(
        16,
        11,
        10,
        16,
        24,
        40,
        51,
        61,
        12,
        12,
        14,
        19,
        26,
        58,
        60,
        55,
        14,
        13,
        16,
        24,
        40,
        57,
        69,
        56,
        14,
        17,
        22,
        29,
        51,
    ),
    *(87, 80, 62, 18, 22, 37, 56, 68, 109, 103, 77, 24, 35, 55, 64, 81, 104, 113, 92, 49, 64, 78, 87, 103, 121, 120),
    *(101, 72, 92, 95, 98, 112, 100, 103, 99),
)
"""The luminance table of the JPEG standard, Annex K."""


def between(random: Random, low: float, high: float) -> float:
    """A number between the two, evenly on a logarithmic scale."""
    return float(np.exp(random.uniform(np.log(low), np.log(high))))


def rounded(pictures: Tensor) -> Tensor:
    """As 8 bits hold them."""
    return (pictures.clamp(0, 1) * 255).round() / 255


@cache
def _taps(sigma: float, device: torch.device) -> Tensor:
    reach = max(1, math.ceil(3 * sigma))
    taps = torch.exp(-0.5 * (torch.arange(-reach, reach + 1, device=device, dtype=torch.float32) / sigma) ** 2)
    return taps / taps.sum()


def blurred(pictures: Tensor, sigma: float) -> Tensor:
    """Gaussian, edges mirrored."""
    taps = _taps(round(sigma, 3), pictures.device)
    reach = len(taps) // 2
    channels = pictures.shape[1]
    kernel = taps.expand(channels, 1, -1)
    padded = functional.pad(pictures, (reach, reach, reach, reach), mode="reflect")
    across = functional.conv2d(padded, kernel[:, :, None, :], groups=channels)
    return functional.conv2d(across, kernel[:, :, :, None], groups=channels)


def boxed(pictures: Tensor, reach: int) -> Tensor:
    """Mean of a square window, edges mirrored."""
    padded = functional.pad(pictures, (reach, reach, reach, reach), mode="reflect")
    return functional.avg_pool2d(padded, 2 * reach + 1, stride=1)


def luma(pictures: Tensor) -> Tensor:
    """Brightness, one channel."""
    return (pictures * pictures.new_tensor(LUMA)[None, :, None, None]).sum(1, keepdim=True)


def to_code(pictures: Tensor) -> Tensor:
    """Brightness and two colour differences."""
    return torch.einsum("dc,nchw->ndhw", pictures.new_tensor(_CHROMA), pictures)


def from_code(code: Tensor) -> Tensor:
    """The inverse of `to_code`."""
    return torch.einsum("dc,nchw->ndhw", code.new_tensor(_FROM_CHROMA), code)


def resized(pictures: Tensor, height: int, width: int, mode: str = "bicubic", smooth: bool = True) -> Tensor:
    """To another size; `smooth` keeps aliases away when it shrinks."""
    if mode == "nearest":
        return functional.interpolate(pictures, (height, width), mode=mode)
    done = functional.interpolate(pictures, (height, width), mode=mode, antialias=smooth, align_corners=False)
    return done.clamp(0, 1)


def _windows(pictures: Tensor) -> Tensor:
    """The nine neighbours of every place, as a new last axis."""
    padded = functional.pad(pictures, (1, 1, 1, 1), mode="reflect")
    return padded.unfold(2, 3, 1).unfold(3, 3, 1).flatten(4)


def smoothing(random: Random) -> Operation:
    """Texture melts and outlines stay: guided, median, bilateral or coring."""
    kind, share = int(random.integers(4)), float(random.uniform(0.3, 1.0))
    strength = between(random, 2, 30) / 255
    reach = int(random.choice([1, 2, 2, 4]))

    def guided(pictures: Tensor) -> Tensor:
        mean = boxed(pictures, reach)
        spread = (boxed(pictures * pictures, reach) - mean * mean).clamp_min(0)
        slope = spread / (spread + strength**2)
        return boxed(slope, reach) * pictures + boxed(mean - slope * mean, reach)

    def median(pictures: Tensor) -> Tensor:
        return _windows(pictures).median(-1).values

    def bilateral(pictures: Tensor) -> Tensor:
        around = _windows(pictures)
        apart = (around - pictures[..., None]).square().sum(1, keepdim=True)
        weight = torch.exp(-apart / (2 * strength**2))
        return (around * weight).sum(-1) / weight.sum(-1)

    def cored(pictures: Tensor) -> Tensor:
        mean = blurred(pictures, 1.2)
        detail = pictures - mean
        return mean + detail * (1 - torch.exp(-((detail / (strength / 4)) ** 2)))

    chosen = (guided, median, bilateral, cored)[kind]
    return lambda pictures: pictures + share * (chosen(pictures) - pictures)


def sharpening(random: Random) -> Operation:
    """Unsharp masks of one or two radii, or a shock filter."""
    amount, radius = between(random, 0.05, 0.9), float(random.uniform(0.6, 3.0))
    kind = int(random.integers(4))
    limit = between(random, 4, 40) / 255

    def unsharp(pictures: Tensor) -> Tensor:
        return pictures + amount * (pictures - blurred(pictures, radius))

    def limited(pictures: Tensor) -> Tensor:
        detail = luma(pictures - blurred(pictures, radius))
        return pictures + amount * limit * torch.tanh(detail / limit)

    def shocked(pictures: Tensor) -> Tensor:
        smooth = blurred(luma(pictures), 1.0)
        curve = blurred(smooth, 1.0) - smooth
        padded = functional.pad(pictures, (1, 1, 1, 1), mode="reflect")
        high, low = functional.max_pool2d(padded, 3, 1), -functional.max_pool2d(-padded, 3, 1)
        certain = (curve.abs() * 60).clamp(0, 1)
        return pictures + 0.4 * amount * certain * (torch.where(curve < 0, high, low) - pictures)

    return (unsharp, unsharp, limited, shocked)[kind]


def blurring(random: Random) -> Operation:
    """A small Gaussian."""
    sigma = float(random.uniform(0.3, 0.9))
    return lambda pictures: blurred(pictures, sigma)


def focus(random: Random) -> Operation:
    """Blurred and then sharpened at another radius, in either balance."""
    soft, amount, radius = (
        float(random.uniform(0.3, 0.8)),
        between(random, 0.1, 1.2),
        float(random.uniform(0.8, 2.5)),
    )

    def operation(pictures: Tensor) -> Tensor:
        smooth = blurred(pictures, soft)
        return smooth + amount * (smooth - blurred(smooth, radius))

    return operation


def scaling(random: Random) -> Operation:
    """To another size and back."""
    there, back = (str(kind) for kind in random.choice(["bilinear", "bicubic", "bicubic"], 2))
    factor = float(random.choice([random.uniform(0.45, 0.97), random.uniform(1.05, 2.0)], p=[0.75, 0.25]))
    smooth = bool(random.random() < 0.7)

    def operation(pictures: Tensor) -> Tensor:
        height, width = pictures.shape[2:]
        other = resized(pictures, max(16, round(height * factor)), max(16, round(width * factor)), there, smooth)
        return resized(other, height, width, back, smooth)

    return operation


def grain(random: Random) -> Operation:
    """Noise of a size and colour, everywhere or in proportion to texture."""
    sigma, size = between(random, 0.3, 4) / 255, float(random.choice([0.0, 0.0, random.uniform(0.5, 2.0)]))
    grey, masked = float(random.uniform(0, 1)), bool(random.random() < 0.4)

    def operation(pictures: Tensor) -> Tensor:
        noise = torch.randn_like(pictures)
        noise = grey * noise[:, :1] + (1 - grey) * noise
        noise = blurred(noise, size) if size else noise
        noise = noise * (sigma / (noise.std() + 1e-6))
        if masked:
            spread = (pictures - blurred(pictures, 2.0)).abs().mean(1, keepdim=True)
            noise = noise * (spread / (spread.mean((2, 3), keepdim=True) + 4e-6)).clamp(0, 3)
        return pictures + noise

    return operation


def lattice(random: Random) -> Operation:
    """The same small tile over and over, everywhere or in proportion to local contrast."""
    period = int(random.choice([2, 4, 8, 16]))
    tile = random.normal(size=(1, period, period)) + 0.5 * random.normal(size=(3, period, period))
    tile = (tile - tile.mean(axis=(1, 2), keepdims=True)) * between(random, 0.1, 1.2) / 255
    masked = bool(random.random() < 0.5)

    def operation(pictures: Tensor) -> Tensor:
        height, width = pictures.shape[2:]
        one = torch.as_tensor(tile, dtype=torch.float32, device=pictures.device)
        whole = one.repeat(1, height // period + 1, width // period + 1)[None, :, :height, :width]
        if masked:
            spread = (pictures - blurred(pictures, 3.0)).abs().mean(1, keepdim=True)
            whole = whole * (spread / (spread.mean((2, 3), keepdim=True) + 4e-6)).clamp(0, 3)
        return pictures + whole

    return operation


@cache
def _cosines(side: int, device: torch.device) -> Tensor:
    place = torch.arange(side, device=device, dtype=torch.float32)
    table = torch.cos(math.pi * (2 * place[None, :] + 1) * place[:, None] / (2 * side)) * math.sqrt(2 / side)
    table[0] /= math.sqrt(2)
    return table


def coded(planes: Tensor, side: int, change: Operation) -> Tensor:
    """Cosine coefficients of blocks, changed; `change` gets (n, channels, rows, columns, side, side)."""
    height, width = planes.shape[2:]
    padded = functional.pad(planes, (0, -width % side, 0, -height % side), mode="replicate")
    tall, broad = padded.shape[2:]
    table = _cosines(side, planes.device)
    blocks = padded.reshape(*padded.shape[:2], tall // side, side, broad // side, side).transpose(3, 4)
    back = table.T @ change(table @ blocks @ table.T) @ table
    return back.transpose(3, 4).flatten(4, 5).flatten(2, 3)[..., :height, :width]


def saved(pictures: Tensor, quality: int, halved: bool = True) -> Tensor:
    """As JPEG of this quality keeps it: quantised cosines, and colour at half size if `halved`."""
    scale = 50 / quality if quality < 50 else 2 - quality / 50
    table = (pictures.new_tensor(_LUMA_TABLE).view(8, 8) * scale).round().clamp(1, 255) / 255
    coarse = ((pictures.new_full((8, 8), 99.0) * scale).round().clamp(1, 255) / 255).minimum(table * 3)

    def kept(steps: Tensor) -> Operation:
        return lambda code: (code / steps).round() * steps

    code = to_code(pictures) - pictures.new_tensor((0.5, 0, 0))[None, :, None, None]
    bright = coded(code[:, :1], 8, kept(table))
    height, width = code.shape[2:]
    colour = code[:, 1:]
    if halved:
        colour = functional.interpolate(colour, (height // 2, width // 2), mode="bilinear", antialias=True)
    colour = coded(colour, 8, kept(coarse))
    if halved:
        colour = functional.interpolate(colour, (height, width), mode="bilinear")
    return rounded(from_code(torch.cat([bright + 0.5, colour], 1)))


def codec(random: Random) -> Operation:
    """Saved and loaded; the grid mostly falls elsewhere each time, else the damage would stop after one step."""
    quality, halved = int(random.integers(30, 94)), bool(random.random() < 0.6)
    wander = bool(random.random() < 0.8)

    def operation(pictures: Tensor) -> Tensor:
        if not wander:
            return saved(rounded(pictures), quality, halved)
        down, across = (int(torch.randint(0, 8, ()).item()) for _ in range(2))
        padded = functional.pad(rounded(pictures), (across, 8 - across, down, 8 - down), mode="replicate")
        height, width = pictures.shape[2:]
        return saved(padded, quality, halved)[..., down : down + height, across : across + width]

    return operation


def block_code(random: Random) -> Operation:
    """Blocks of 4, 8 or 16 pixels as cosines: some gains fall, some rise, noise and coarse steps on the code."""
    side = int(random.choice([4, 8, 8, 16]))
    frequency = np.hypot(*np.meshgrid(np.arange(side), np.arange(side), indexing="ij")) / side
    cut, soft = random.uniform(0.25, 1.2), random.uniform(0.05, 0.3)
    gain = 1 / (1 + np.exp((frequency - cut) / soft))
    gain = gain * (1 + random.uniform(-0.03, 0.08) * np.sin(np.pi * np.clip(frequency / cut, 0, 1)))
    gain = gain * (1 + random.uniform(0, 0.03) * random.normal(size=(side, side)))
    gain[0, 0] = 1
    noise = float(random.choice([0.0, between(random, 0.2, 4) / 255]))
    coarse = float(random.choice([0.0, between(random, 1, 10) / 255]))

    def change(code: Tensor) -> Tensor:
        code = code * torch.as_tensor(gain, dtype=torch.float32, device=code.device)
        code = code + noise * torch.randn_like(code) if noise else code
        return (code / coarse).round() * coarse if coarse else code

    return lambda pictures: from_code(coded(to_code(pictures), side, change))


def tone(random: Random) -> Operation:
    """Contrast, saturation, brightness and a cast grow or fade by a little."""
    contrast, saturation = 1 + random.normal(0.012, 0.02), 1 + random.normal(0.02, 0.03)
    shift, gamma = random.normal(0, 0.7, 3) / 255, np.exp(random.normal(0, 0.015, 3))

    def operation(pictures: Tensor) -> Tensor:
        middle = 0.5 + (pictures - 0.5) * contrast
        grey = luma(middle)
        done = grey + (middle - grey) * saturation + pictures.new_tensor(shift)[None, :, None, None]
        return done.clamp(1e-4, 1) ** pictures.new_tensor(gamma)[None, :, None, None]

    return operation


def wandering(random: Random) -> Operation:
    """Outlines wander: a smooth random shift, another one at each step."""
    most, wavelength = between(random, 0.1, 1.0), float(random.uniform(5, 40))

    def operation(pictures: Tensor) -> Tensor:
        count, _, height, width = pictures.shape
        grid = (max(3, round(height / wavelength)), max(3, round(width / wavelength)))
        noise = most * torch.randn(count, 2, *grid, device=pictures.device)
        shift = functional.interpolate(noise, (height, width), mode="bicubic", align_corners=False)
        base = torch.stack(
            torch.meshgrid(
                torch.arange(width, device=pictures.device), torch.arange(height, device=pictures.device), indexing="xy"
            ),
            0,
        )
        sides = pictures.new_tensor((width, height))[None, :, None, None]
        there = ((base[None] + shift) * 2 + 1) / sides - 1
        return functional.grid_sample(
            pictures, there.permute(0, 2, 3, 1), mode="bicubic", padding_mode="reflection", align_corners=False
        )

    return operation


def local_contrast(random: Random) -> Operation:
    """Detail is lifted where it is weak."""
    radius, amount = float(random.uniform(2, 10)), between(random, 0.02, 0.25)

    def operation(pictures: Tensor) -> Tensor:
        detail = pictures - blurred(pictures, radius)
        spread = blurred(detail.square(), radius).clamp_min(0).sqrt() + 4 / 255
        return pictures + amount * detail * (8 / 255 / spread)

    return operation


def near_identity(random: Random) -> Operation:
    """Two random convolutions with a bend between, added to the picture: some network that nobody taught."""
    width, reach = int(random.choice([8, 16])), int(random.choice([3, 5]))
    first = random.normal(size=(width, 3, reach, reach))
    first -= first.mean(axis=(2, 3), keepdims=True)
    second = random.normal(size=(3, width, 3, 3)) / (3 * width)
    strength = between(random, 0.02, 0.25)

    def operation(pictures: Tensor) -> Tensor:
        one, two = (torch.as_tensor(kernel, dtype=torch.float32, device=pictures.device) for kernel in (first, second))
        hidden = functional.conv2d(functional.pad(pictures, (reach // 2,) * 4, mode="reflect"), one)
        hidden = functional.silu(hidden) - functional.silu(hidden).mean((2, 3), keepdim=True)
        return pictures + strength * functional.conv2d(functional.pad(hidden, (1,) * 4, mode="reflect"), two)

    return operation
