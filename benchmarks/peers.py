"""The libraries that metrics are measured against, imported with care."""

from __future__ import annotations

import sys
from importlib import import_module
from types import ModuleType
from typing import Any

_kept: list[Any] = []


def load_piq() -> ModuleType | None:
    """piq, or None if it is not installed.

    A torchvision built for CUDA does not import next to a CPU torch because two operators are missing; declaring
    them is enough for everything that piq uses.
    """
    try:
        import torch
    except ImportError:
        return None
    torch.set_num_threads(1)
    try:
        import_module("torchvision")
    except ImportError:
        return None
    except RuntimeError:
        for name in [name for name in sys.modules if name.partition(".")[0] == "torchvision"]:
            del sys.modules[name]
        operators = torch.library.Library("torchvision", "DEF")
        for name in ("nms", "qnms"):
            operators.define(f"{name}(Tensor dets, Tensor scores, float iou_threshold) -> Tensor")
        _kept.append(operators)  # the declarations live as long as this object
    try:
        import piq
    except ImportError:
        return None
    found: ModuleType = piq
    return found
