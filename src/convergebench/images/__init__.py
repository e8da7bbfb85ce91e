"""Images: suites of sources, decoding and encoding, alignment. Names load their modules when first used.

`decode` and `curate` are also the names of their modules, so they are imported from there:
`from convergebench.images.decode import decode`.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from convergebench.images.decode import Probe, probe
    from convergebench.images.encode import encode_png
    from convergebench.images.frame import Frame, Pixels
    from convergebench.images.suite import Suite, load_suite

__all__ = ["Frame", "Pixels", "Probe", "Suite", "encode_png", "load_suite", "probe"]

_HOMES = {
    "Frame": "frame",
    "Pixels": "frame",
    "Probe": "decode",
    "Suite": "suite",
    "encode_png": "encode",
    "load_suite": "suite",
    "probe": "decode",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"{__name__}.{_HOMES[name]}"), name)
