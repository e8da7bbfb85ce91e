"""What `benchmarks.gpu` is measured against: torchmetrics and pyiqa as their users call them, on the GPU."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import import_module
from importlib.util import find_spec
from types import ModuleType
from typing import Any

from benchmarks import learned_peers

DEVICE = "cuda"
Call = Callable[[Any, Any], Any]
"""Batches of subjects and references, images × 3 × height × width."""


def has(name: str) -> bool:
    """Whether a library is here; a package that `pyiqa_module` made is."""
    return name in sys.modules or find_spec(name) is not None


def three() -> Iterator[tuple[str, Call]]:
    """SSIM, MS-SSIM and PSNR of images from 0 to 255."""
    if has("torchmetrics"):
        library = import_module("torchmetrics.functional.image")

        def torchmetrics(subjects: Any, references: Any) -> None:
            library.structural_similarity_index_measure(subjects, references, data_range=255.0, reduction="none")
            library.multiscale_structural_similarity_index_measure(
                subjects, references, data_range=255.0, reduction="none"
            )
            library.peak_signal_noise_ratio(
                subjects, references, data_range=255.0, reduction="none", dim=(1, 2, 3)
            ).cpu()

        yield "torchmetrics", torchmetrics
    if has("pyiqa"):
        structure, squares = pyiqa_module("ssim_arch"), pyiqa_module("psnr_arch")
        ssim = structure.SSIM(channels=3, downsample=False, test_y_channel=False).to(DEVICE)
        ms_ssim = structure.MS_SSIM(channels=3, downsample=True, test_y_channel=False).to(DEVICE)
        psnr = squares.PSNR(test_y_channel=False).to(DEVICE)

        def pyiqa(subjects: Any, references: Any) -> None:
            subjects, references = subjects / 255, references / 255
            ssim(subjects, references)
            ms_ssim(subjects, references)
            psnr(subjects, references).cpu()

        yield "pyiqa", pyiqa


def networks(name: str) -> Iterator[tuple[str, Callable[[], Call]]]:
    """Libraries with this network, with a call that loads each; images from 0 to 1."""
    net = "vgg" if name.endswith("vgg") else "alex"
    if name.startswith("lpips") and has("torchmetrics"):
        yield "torchmetrics", lambda: _lpips(learned_peers.torchmetrics_lpips(net))
    if name.startswith("lpips") and has("pyiqa"):
        yield "pyiqa", lambda: _lpips(_pyiqa_lpips(net))
    if name == "dists" and has("pyiqa"):
        yield "pyiqa", lambda: _lpips(_pyiqa_dists())


def _lpips(loaded: tuple[Any, Call]) -> Call:
    module, call = loaded
    module.to(DEVICE)
    return lambda x, y: call(x, y).cpu()


def _pyiqa_lpips(net: str) -> tuple[Any, Call]:
    library = pyiqa_module("lpips_arch")
    with _no_download("alexnet", "vgg16"):
        library.load_pretrained_network = lambda *_, **__: None  # its heads: speed alone is measured
        module = library.LPIPS(net=net, pretrained=False, pnet_rand=True).eval()
    learned_peers.plant(module.net, net)
    return module, module


def _pyiqa_dists() -> tuple[Any, Call]:
    library = pyiqa_module("dists_arch")
    library.load_pretrained_network = lambda *_, **__: None  # speed alone is measured
    with _no_download("vgg16"):
        module = library.DISTS().eval()
    return module, module


@contextmanager
def _no_download(*names: str) -> Iterator[None]:
    """Trunks of torchvision with random weights; a library asks for pretrained ones even where it gets others."""
    models: Any = import_module("torchvision.models")
    saved = {name: getattr(models, name) for name in names}
    for name, make in saved.items():
        setattr(models, name, lambda *_, make=make, **__: make(weights=None))
    try:
        yield
    finally:
        for name, make in saved.items():
            setattr(models, name, make)


def pyiqa_module(name: str) -> Any:
    """One file of pyiqa. Its own `__init__` imports every metric with what each needs, which is not all here."""
    for package in ("pyiqa", "pyiqa.archs", "pyiqa.utils"):
        if package not in sys.modules:
            spec = find_spec(package)
            assert spec is not None
            module = ModuleType(package)
            module.__path__ = list(spec.submodule_search_locations or ())
            sys.modules[package] = module
    return import_module(f"pyiqa.archs.{name}")
