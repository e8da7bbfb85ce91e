"""Who backs up to a store: one folder at a time. Another may take over when the first one has been silent."""

from __future__ import annotations

import json
import os
import socket
import time
from typing import Any

from convergebench.errors import RunLocked
from convergebench.store.remote.files import RemoteFiles
from convergebench.texts import short_line

NAME = "writer.json"
EVERY = 60.0
"""Seconds between two signs of life."""
SILENT = 240.0
"""Seconds without a sign of life after which a writer counts as gone; two computers' clocks may differ by a minute."""


def present_writer(files: RemoteFiles) -> dict[str, Any]:
    """Who wrote last; empty if nobody has, or it cannot be read."""
    try:
        content = json.loads(files.read(NAME) or b"{}")
    except ValueError:
        return {}
    return content if isinstance(content, dict) else {}


def claim(files: RemoteFiles, writer: str) -> None:
    """Become the writer; `RunLocked` if another one is at work."""
    now = present_writer(files)
    other = now.get("writer") not in (None, writer)
    if other and not now.get("closed") and time.time() - _number(now.get("time")) < SILENT:
        raise RunLocked(
            f"{files.address.url} is being written from another folder ({short_line(now.get('host', 'unknown'))}, "
            f"{time.time() - _number(now.get('time')):.0f} s ago); stop that command, or wait for {SILENT:.0f} s"
        )
    sign(files, writer)


def sign(files: RemoteFiles, writer: str, *, closed: bool = False) -> None:
    """A sign of life, or of an orderly end."""
    about = {
        "writer": writer,
        "host": socket.gethostname(),
        "process": os.getpid(),
        "time": time.time(),
        "closed": closed,
    }
    files.write(NAME, json.dumps(about).encode())


def is_still(files: RemoteFiles, writer: str) -> bool:
    """Whether nobody else has taken over."""
    return present_writer(files).get("writer") in (None, writer)


def _number(value: object) -> float:
    return float(value) if isinstance(value, int | float) else 0.0
