"""What every test finds: weights beside the checkout, where there are any, and one thread per process."""

from __future__ import annotations

import os
from pathlib import Path

BESIDE = Path(__file__).resolve().parents[2] / "shared" / "weights"

if BESIDE.is_dir():
    os.environ.setdefault("CONVERGEBENCH_WEIGHTS", str(BESIDE))

# every core has a test process already; threads of theirs would only wait for each other (half of the time was theirs)
os.environ.setdefault("OMP_NUM_THREADS", "1")
