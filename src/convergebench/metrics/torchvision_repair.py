"""Make torchvision importable next to a torch without CUDA.

The torchvision wheel in the registries is built for CUDA. Beside a torch that has none its compiled half does not load,
and importing it ends with "operator torchvision::nms does not exist", although networks and transforms need no compiled
code at all. Declaring the two operators it asks for is enough for those; detection operators and image files stay out
of reach. A torchvision that imports is never touched, and any other failure is passed on as it came.
"""

from __future__ import annotations

import sys
from importlib import import_module
from typing import Any

_MESSAGE = "operator torchvision::nms does not exist"
_DECLARED = ("nms", "qnms")

_kept: list[Any] = []
"""Declarations live as long as the object that made them."""


def ensure_torchvision() -> bool:
    """Import torchvision, repaired if it fails this way; returns whether it was. Raises `ImportError` if absent."""
    try:
        import_module("torchvision")
    except RuntimeError as error:
        if _MESSAGE not in str(error):
            raise
    else:
        return bool(_kept)
    _drop_partial_import()
    _declare()
    import_module("torchvision")
    return True


def _drop_partial_import() -> None:
    """Drop what the failed import left behind, so that the next one starts clean."""
    for name in [name for name in sys.modules if name.partition(".")[0] == "torchvision"]:
        del sys.modules[name]


def _declare() -> None:
    torch: Any = import_module("torch")
    operators = torch.library.Library("torchvision", "FRAGMENT")
    for name in _DECLARED:
        if not hasattr(torch.ops.torchvision, name):
            operators.define(f"{name}(Tensor dets, Tensor scores, float iou_threshold) -> Tensor")
    _kept.append(operators)
