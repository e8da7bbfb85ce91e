"""Pictures for `benchmarks.gpu`, made by numpy alone, so that two machines make the same, with a processor's values."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from convergebench.images.frame import Pixels

PIXEL_METRICS = ("psnr", "rmse", "ssim", "ms-ssim", "gmsd", "delta-e")
NETWORKS = ("lpips", "lpips-vgg", "st-lpips", "st-lpips-vgg", "dists")
KINDS = ("equal", "noise", "strong noise", "blur", "blocks", "shifted", "brighter", "fewer levels", "grey")


def enlarged(base: Pixels, side: int) -> Pixels:
    """The photograph at another size, by linear interpolation in whole numbers."""
    at = np.arange(side, dtype=np.int64) * (base.shape[0] - 1) * 256 // (side - 1)
    low, share = at >> 8, at & 255
    high = np.minimum(low + 1, base.shape[0] - 1)
    whole = base.astype(np.int64)
    rows = whole[low] * (256 - share)[:, None, None] + whole[high] * share[:, None, None]
    both = rows[:, low] * (256 - share)[None, :, None] + rows[:, high] * share[None, :, None]
    return np.ascontiguousarray(((both + (1 << 15)) >> 16).astype(np.uint8))


def damaged(picture: Pixels, kind: str, seed: int = 0) -> Pixels:
    """One kind of damage."""
    generator = np.random.default_rng(seed)
    whole = picture.astype(np.int64)
    if kind == "noise" or kind == "strong noise":
        spread = 12 if kind == "noise" else 60
        whole = whole + generator.integers(-spread, spread + 1, whole.shape)
    elif kind == "blur":
        whole = np.sum([np.roll(whole, (i, j), (0, 1)) for i in (-1, 0, 1) for j in (-1, 0, 1)], axis=0) // 9
    elif kind == "blocks":
        side = 8 * (min(whole.shape[:2]) // 8)
        cut = whole[:side, :side].reshape(side // 8, 8, side // 8, 8, 3)
        whole[:side, :side] = ((cut + cut.mean((1, 3), keepdims=True).astype(np.int64)) // 2).reshape(side, side, 3)
    elif kind == "shifted":
        whole = np.roll(whole, (2, 3), (0, 1))
    elif kind == "brighter":
        whole = whole + 24
    elif kind == "fewer levels":
        whole = whole // 32 * 32 + 16
    elif kind == "grey":
        whole = np.repeat(whole.mean(2, keepdims=True).astype(np.int64), 3, axis=2)
    return np.ascontiguousarray(np.clip(whole, 0, 255).astype(np.uint8))


def cases(base: Pixels, *, small: bool = False) -> list[tuple[str, Pixels, Pixels]]:
    """Name, subject and reference: every kind of damage, at even and odd sizes, or at one small size."""
    found = []
    for side in (128,) if small else (256, 201):
        reference = enlarged(base, side)
        found += [(f"{kind}, {side}", damaged(reference, kind, seed=7), reference) for kind in KINDS]
    wide = enlarged(base, 256)[:181]
    return found if small else [*found, ("blur, 256 × 181", damaged(wide, "blur"), wide)]


def write(path: Path) -> None:
    """The photograph and the values of a processor, for a machine without OpenCV and scikit-image."""
    from convergebench.errors import Prerequisite
    from convergebench.images.frame import Frame
    from convergebench.metrics import load_metric
    from convergebench.metrics.base import Item
    from tests.metrics.pictures import photograph

    base = photograph("astronaut", 512, 512)
    values: dict[str, dict[str, float]] = {}
    for name in (*PIXEL_METRICS, *NETWORKS):
        try:
            values[name] = {
                case: float(load_metric(name).measure([Item(Frame(subject), Frame(reference))])[0].value or 0.0)
                for case, subject, reference in cases(base, small=name in NETWORKS)
            }
        except Prerequisite as reason:
            print(f"{name} left out: {reason}")
    arrays: dict[str, Any] = {"base": base, "values": np.array(json.dumps(values))}
    np.savez_compressed(path, **arrays)


def read(path: Path) -> tuple[Pixels, dict[str, dict[str, float]]]:
    """What `write` wrote."""
    with np.load(path, allow_pickle=False) as content:
        base: npt.NDArray[np.uint8] = content["base"]
        return base, json.loads(str(content["values"]))
