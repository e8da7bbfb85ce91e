"""Weights that no registry package ships are taken from a folder beside the checkout, where there is one."""

from __future__ import annotations

import os
from pathlib import Path

BESIDE = Path(__file__).resolve().parents[2] / "shared" / "weights"

if BESIDE.is_dir():
    os.environ.setdefault("CONVERGEBENCH_WEIGHTS", str(BESIDE))
