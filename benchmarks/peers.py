"""The libraries that metrics are measured against, imported with care: each is left out where it is not installed."""

from __future__ import annotations

from importlib import import_module
from types import ModuleType
from typing import Any

from convergebench.metrics.torchvision_repair import ensure_torchvision


def _load(name: str) -> ModuleType | None:
    try:
        import torch

        torch.set_num_threads(1)
        ensure_torchvision()
        return import_module(name)
    except ImportError:
        return None


def load_piq() -> ModuleType | None:
    """piq, or None."""
    return _load("piq")


def load_torchmetrics() -> ModuleType | None:
    """The functional image metrics of torchmetrics, or None."""
    return _load("torchmetrics.functional.image")


def load_pyiqa(name: str) -> Any:
    """A metric of pyiqa on the processor, or None."""
    library: Any = _load("pyiqa")
    return None if library is None else library.create_metric(name, device="cpu")
