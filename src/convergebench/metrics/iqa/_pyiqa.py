"""Shared code of this folder's metrics: pyiqa's network with its default options, one image at a time, in float32.

One at a time, because a score that depends on the other images of its batch is not reproducible to the last digit. In
float32 whatever precision was chosen, because the published scores were; on a GPU without TF32, which pyiqa's own call
allows.
"""

from __future__ import annotations

import threading
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module, metadata
from math import isfinite
from pathlib import Path
from typing import Any

from convergebench.errors import Prerequisite, Unmeasurable
from convergebench.images.frame import Frame
from convergebench.metrics.base import Item
from convergebench.metrics.iqa._patched_loading import WeightFiles, patched_loading
from convergebench.metrics.place import here
from convergebench.metrics.torchvision_repair import ensure_torchvision
from convergebench.weights import find_weight, locate

PYIQA = "0.1.16"
"""The one version whose loading code is known; the extra `iqa` pins it."""

LICENCE = "PolyForm-Noncommercial-1.0.0 (pyiqa)"

_lock = threading.RLock()
_built: dict[tuple[str, str], Any] = {}


@dataclass(frozen=True, slots=True)
class PyiqaNetwork:
    """One of pyiqa's metrics under its own name, and what it takes to build it."""

    name: str
    """pyiqa's name."""
    modules: tuple[str, ...]
    """The modules of `pyiqa.archs` whose code reads files."""
    weights: tuple[str, ...] = ()
    """Its weight files, by their names in `cbench weights list`."""
    overwritten: tuple[str, ...] = ()
    """Files that pyiqa requests although its checkpoint replaces all their content."""
    folder: bool = False
    """Whether its weights are one folder in the layout of transformers."""
    smallest: int = 1
    """The smallest width and height it can score."""

    def score(self, item: Item) -> float:
        """The score of the image, as pyiqa gives it."""
        frame = item.subject
        if min(frame.size) < self.smallest:
            raise Unmeasurable(
                "too-small", f"{frame.width}×{frame.height} has a side shorter than {self.smallest} pixels"
            )
        device = here().device
        with _lock:
            net = self.built(device)
            value = _run(net, frame, device)
        if not isfinite(value):
            raise Unmeasurable("not-finite", f"{self.name} gave {value}")
        return value

    def built(self, device: str) -> Any:
        """The network with its weights, built on first use."""
        key = self.name, device
        if key not in _built:
            _built[key] = _build(self).to(device).eval()
        return _built[key]

    def files(self) -> dict[str, Path]:
        """File name → verified file, for all its weights; raises `Prerequisite` if one is missing."""
        found: dict[str, Path] = {}
        for weight in self.weights:
            path = locate(weight)
            names = [Path(file.path).name for file in find_weight(weight).files]
            if len(names) == 1:
                found[names[0]] = path
            else:
                found |= {Path(file.path).name: path / file.path for file in find_weight(weight).files}
        return found


def clear_cache() -> None:
    """Drop every network, to free memory or to read other files."""
    with _lock:
        _built.clear()


def _build(network: PyiqaNetwork) -> Any:
    modules = _imported(network)
    import torch

    files = network.files()
    folder = locate(network.weights[0]) if network.folder else None
    weight_files = WeightFiles(network.name, files, network.overwritten, folder)
    default: Any = import_module("pyiqa.default_model_configs")
    registry: Any = import_module("pyiqa.utils.registry")
    options = dict(default.DEFAULT_CONFIGS[network.name]["metric_opts"])
    make: Callable[..., Any] = registry.ARCH_REGISTRY.get(options.pop("type"))
    # initialising a network draws random numbers; keep the caller's sequence unchanged
    with torch.random.fork_rng(devices=[]), torch.no_grad(), patched_loading(modules, weight_files):
        net = make(**options)
    weight_files.require_all_read()
    return net


def _imported(network: PyiqaNetwork) -> list[Any]:
    install = 'pip install "convergebench[iqa]"'
    try:
        version = metadata.version("pyiqa")
    except metadata.PackageNotFoundError:
        raise Prerequisite(f"{network.name} needs pyiqa: {install}") from None
    if version != PYIQA:
        raise Prerequisite(f"{network.name} is tested with pyiqa {PYIQA}, but {version} is installed: {install}")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            ensure_torchvision()
            return [import_module(f"pyiqa.archs.{module}") for module in network.modules]
    except ImportError as error:
        hint = " (setuptools below 81 has it)" if error.name == "pkg_resources" else ""
        raise Prerequisite(f"{network.name}: pyiqa cannot be imported: {error}{hint}; {install}") from error


def _run(net: Any, frame: Frame, device: str) -> float:
    import torch

    pixels = torch.tensor(frame.pixels).permute(2, 0, 1)[None].to(torch.float32).div(255)
    with torch.no_grad(), _float32(torch), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        value: float = net(pixels.contiguous().to(device)).reshape(-1)[0].item()
    return value


@contextmanager
def _float32(torch: Any) -> Iterator[None]:
    """Products and convolutions in full float32, by algorithms that give the same bits each time."""
    products = torch.backends.cuda.matmul
    before = products.allow_tf32
    products.allow_tf32 = False
    try:
        with torch.backends.cudnn.flags(enabled=True, benchmark=False, deterministic=True, allow_tf32=False):
            yield
    finally:
        products.allow_tf32 = before
