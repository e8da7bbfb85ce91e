"""Gives back the memory of networks that tests have loaded: two processes of the whole suite held 15 GB of it."""

from __future__ import annotations

import ctypes
import gc
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

GROWTH = 1_500_000_000
"""Bytes; below it, loading networks again would cost more than it gives back."""
KEPT = {
    "convergebench.vision.networks": "_loaded",
    "convergebench.vision.face_parts": "_loaded",
    "convergebench.metrics.full_reference._networks": "network",
    "convergebench.metrics.semantic._transformer": "network",
    "convergebench.metrics.semantic._ocr": "_session",
    "convergebench.metrics.semantic.augnet": "_network",
    "convergebench.metrics.semantic.face_identity": "_models",
    "tests.editors.autoencoder.learned": "_made",
}
"""By module, what keeps its networks for the next call: a dictionary or a cached function."""

_after_last = 0


def give_back() -> None:
    """Forget the networks if this process has grown much since it last did."""
    global _after_last
    if resident() < _after_last + GROWTH:
        return
    for module, name in KEPT.items():
        if module in sys.modules:
            _forget(getattr(sys.modules[module], name))
    gc.collect()
    with suppress(OSError, AttributeError):  # only glibc keeps what was freed until it is asked
        ctypes.CDLL("libc.so.6").malloc_trim(0)
    _after_last = resident()


def resident() -> int:
    """Bytes of memory that this process holds; 0 where the system does not say."""
    pages = Path("/proc/self/statm")
    return int(pages.read_text().split()[1]) * 4096 if pages.exists() else 0


def _forget(kept: Any) -> None:
    clear = kept.clear if isinstance(kept, dict) else kept.cache_clear
    clear()
