"""Helpers for networks in torch, which is imported only when a metric runs."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from functools import cache
from threading import RLock
from typing import Any

from convergebench.errors import Prerequisite
from convergebench.metrics.place import Place

_lock = RLock()  # the precision setting is process-wide: a thread that ends would reset it for the others


def torch_for(extra: str = "learned") -> Any:
    """The module torch; raises `Prerequisite` with the command to install it."""
    try:
        import torch
    except ImportError:
        raise Prerequisite(f'this metric needs torch: pip install "convergebench[{extra}]"') from None
    return torch


def weight_type(place: Place) -> Any:
    """The torch dtype of weights and features in this precision."""
    torch = torch_for()
    return torch.bfloat16 if place.precision == "bfloat16" else torch.float32


@contextmanager
def full_precision() -> Iterator[None]:
    """No gradients and full float32: TF32 is switched off and restored afterwards."""
    torch = torch_for()
    backends: Any = torch.backends
    with _lock, ExitStack() as stack:
        for backend in (backends.cudnn.conv, backends.cuda.matmul, backends.mkldnn.conv, backends.mkldnn.matmul):
            stack.callback(setattr, backend, "fp32_precision", backend.fp32_precision)
            backend.fp32_precision = "ieee"
        stack.enter_context(torch.inference_mode())
        yield


@cache
def compiled_here(device: str) -> bool:
    """Whether the kernels of `metrics.gpu` run on this device; elsewhere the same is done by torch's operations."""
    if not device.startswith("cuda"):
        return False
    from convergebench.metrics.gpu.compiling import usable

    return usable(device)
