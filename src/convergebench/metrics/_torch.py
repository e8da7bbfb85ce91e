"""What every network needs of torch, which is imported only when there is work to do."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from threading import RLock
from typing import Any

from convergebench.errors import Prerequisite
from convergebench.metrics.place import Place

_one_at_a_time = RLock()  # the precision is the process's, and a thread that is done would take it from the others


def torch_for(extra: str = "learned") -> Any:
    """The module torch, or one line that says what to install."""
    try:
        import torch
    except ImportError:
        raise Prerequisite(f'this metric needs torch: pip install "convergebench[{extra}]"') from None
    return torch


def weight_type(place: Place) -> Any:
    """The torch type of weights and features in this precision."""
    torch = torch_for()
    return torch.bfloat16 if place.precision == "bfloat16" else torch.float32


@contextmanager
def exact() -> Iterator[None]:
    """No gradients, and float32 that means float32: a shorter form allowed elsewhere (TF32) comes back afterwards."""
    torch = torch_for()
    backends: Any = torch.backends
    with _one_at_a_time, ExitStack() as stack:
        for backend in (backends.cudnn.conv, backends.cuda.matmul, backends.mkldnn.conv, backends.mkldnn.matmul):
            stack.callback(setattr, backend, "fp32_precision", backend.fp32_precision)
            backend.fp32_precision = "ieee"
        stack.enter_context(torch.inference_mode())
        yield
