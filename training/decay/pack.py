"""Everything that teaching needs in one file, for a machine without a network: `python -m training.decay.pack OUT.npz`.

Squares of the photographs in `train`, and the tiny autoencoders that may be learned from. Two others, `taesd` and
`taesd3`, are kept out altogether: they are editors that the network never met.
"""

from __future__ import annotations

import argparse
import io
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image

LEARNED = ("taesdxl", "taef1", "taef2")
"""Autoencoders that random editors may contain."""
SIDE = 384


def squares(folder: Path, part: str, count: int) -> list[bytes]:
    """A square of each photograph of a part, its short side reduced to 1 to 1.6 squares, as JPEG of high quality."""
    from training.decay.photographs import listed, part_of

    random = np.random.default_rng(3)
    found = []
    for one in [one for one in listed(folder / "photographs.csv") if part_of(one) == part][:count]:
        picture = Image.open(folder / f"{one.name}.png")
        short = min(min(picture.size), int(SIDE * random.uniform(1.0, 1.6)))
        scale = short / min(picture.size)
        size = (round(picture.width * scale), round(picture.height * scale))
        reduced = picture.resize(size, Image.Resampling.LANCZOS)
        left, top = int(random.integers(0, size[0] - SIDE + 1)), int(random.integers(0, size[1] - SIDE + 1))
        packed = io.BytesIO()
        reduced.crop((left, top, left + SIDE, top + SIDE)).save(packed, "JPEG", quality=95, subsampling=0)
        found.append(packed.getvalue())
    return found


def unpacked(data: NDArray[np.uint8], ends: NDArray[np.int64]) -> NDArray[np.uint8]:
    """(n, 3, side, side) of what `squares` packed, joined and cut at `ends`."""
    starts = [0, *ends[:-1]]
    pictures = [Image.open(io.BytesIO(data[start:end].tobytes())) for start, end in zip(starts, ends, strict=True)]
    return np.stack([np.asarray(picture).transpose(2, 0, 1) for picture in pictures])


def main(given: Sequence[str] | None = None) -> None:
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=Path)
    parser.add_argument("--photographs", type=Path, default=Path("build/decay/photographs"))
    parser.add_argument("--count", type=int, default=1000)
    chosen = parser.parse_args(given)
    packed = squares(chosen.photographs, "train", chosen.count)
    arrays: dict[str, Any] = {
        "photographs": np.frombuffer(b"".join(packed), np.uint8),
        "ends": np.cumsum([len(one) for one in packed]),
    }
    from convergebench.weights.catalogue import find_weight
    from convergebench.weights.loading import safetensors_state, torch_state
    from convergebench.weights.store import locate

    for name in LEARNED:
        for file in find_weight(name).files:
            path = locate(name) / file.path
            state = safetensors_state(path) if file.path.endswith("safetensors") else torch_state(path)
            half = "decoder" if "decoder" in file.path else "encoder"
            arrays |= {f"weights/{name}/{half}/{key}": value.half().numpy() for key, value in state.items()}
    np.savez(chosen.out, **arrays)
    print(f"{chosen.out}: {len(packed)} photographs, {chosen.out.stat().st_size / 1e6:.1f} MB")  # noqa: T201


if __name__ == "__main__":
    main()
