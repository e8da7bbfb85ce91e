"""Editors for the machines of a test cluster, named as `own_editors.py:NAME`; they log who did what, and when."""

from __future__ import annotations

import json
import os
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

from convergebench.keys import find_key


def written(log: str, **what: Any) -> None:
    """One line, whole, from any process."""
    line = json.dumps({"pid": os.getpid(), "time": time.time(), **what}) + "\n"
    with Path(log).open("ab", buffering=0) as file:
        file.write(line.encode())


def darken(
    image: Image.Image, instruction: str, log: str = "", wait: float = 0.0, go: str = "", fatal: str = ""
) -> Image.Image:
    """Takes one level away.

    It waits for a file `go`; whoever removes a file `fatal`, ends its process.
    """
    if log:
        written(log, instruction=instruction, mean=float(np.asarray(image).mean()))
    time.sleep(wait)
    while go and not Path(go).exists():
        time.sleep(0.02)
    if fatal:
        with suppress(FileNotFoundError):
            Path(fatal).unlink()
            os._exit(1)
    pixels = np.asarray(image.convert("RGB")).astype(int)
    return Image.fromarray(np.clip(pixels - 1, 0, 255).astype(np.uint8))


def blabbing(image: Image.Image, instruction: str) -> Image.Image:
    """Fails with the key of its own machine in the message."""
    raise ValueError(f"the server said no to {find_key(['MY_SERVER_KEY'])}")
