"""Vision transformers from a folder in the hub's layout: architecture, weights and preparation all come from its files.

Nothing is downloaded here and nothing is filled in: a tensor that is missing from the file is an error, since a
partly random network gives plausible numbers.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import cache, lru_cache
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from convergebench.errors import Prerequisite
from convergebench.images.frame import Frame, Pixels
from convergebench.metrics._torch import torch_for, weight_type
from convergebench.metrics.place import Place


class Preparation(NamedTuple):
    """A network's image preparation: shorter side, side of the centre crop, mean and deviation."""

    shorter: int
    side: int
    mean: tuple[float, float, float]
    spread: tuple[float, float, float]


@cache
def preparation(folder: Path) -> Preparation:
    """As written in `preprocessor_config.json`, in its older form (`size = 224`) or its newer one."""
    path = folder / "preprocessor_config.json"
    try:
        config: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        size, crop = config["size"], config["crop_size"]
        shorter = size["shortest_edge"] if isinstance(size, dict) else size
        side = crop["height"] if isinstance(crop, dict) else crop
        return Preparation(int(shorter), int(side), tuple(config["image_mean"]), tuple(config["image_std"]))
    except (KeyError, TypeError, ValueError) as error:
        raise Prerequisite(f"{path} does not say how images are prepared ({error}); fetch it again") from error


def prepared(pixels: Pixels, how: Preparation) -> NDArray[np.float32]:
    """Bicubic to the shorter side, the middle square, normalised: channels × side × side."""
    height, width = pixels.shape[:2]
    short, long = min(height, width), max(height, width)
    size = how.shorter, int(how.shorter * long / short)
    picture = Image.fromarray(pixels).resize(size if width <= height else size[::-1], Image.Resampling.BICUBIC)
    # Python rounds halves to even, and so does the original
    left, top = round((picture.width - how.side) / 2), round((picture.height - how.side) / 2)
    square = np.asarray(picture.crop((left, top, left + how.side, top + how.side)), np.float32) / 255
    normal = (square - np.array(how.mean, np.float32)) / np.array(how.spread, np.float32)
    return np.ascontiguousarray(normal.transpose(2, 0, 1), np.float32)


def stacked(frames: Sequence[Frame], folder: Path, place: Place) -> Any:
    """A batch of prepared images on the device, in its precision."""
    import torch

    how = preparation(folder)
    batch = torch.from_numpy(np.stack([prepared(frame.pixels, how) for frame in frames]))
    return batch.to(place.device, weight_type(place))


@lru_cache(maxsize=4)
def network(kind: str, folder: Path, place: Place) -> Any:
    """The complete model of that class (`CLIPModel`, `Dinov2Model`) in the folder; raises `Prerequisite` otherwise."""
    torch_for("semantic")
    try:
        transformers: Any = import_module("transformers")
    except ImportError:
        raise Prerequisite('this metric needs transformers: pip install "convergebench[semantic]"') from None
    logging = transformers.utils.logging
    shown, level = logging.is_progress_bar_enabled(), logging.get_verbosity()
    logging.disable_progress_bar()
    logging.set_verbosity_error()
    try:
        model, report = getattr(transformers, kind).from_pretrained(
            folder, local_files_only=True, use_safetensors=True, output_loading_info=True
        )
    except (OSError, ValueError, RuntimeError) as error:
        first = (str(error).splitlines() or [""])[0]
        raise Prerequisite(f"{folder} cannot be loaded as {kind} ({first})") from error
    finally:
        logging.set_verbosity(level)
        if shown:
            logging.enable_progress_bar()
    missing = sorted(map(str, (*report["missing_keys"], *report["mismatched_keys"])))
    if missing:
        raise Prerequisite(f"{folder} lacks {len(missing)} tensors of {kind}, e.g. {missing[0]}; fetch it again")
    return model.to(place.device, weight_type(place)).eval()
