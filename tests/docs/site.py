"""The site, built once for all tests that look at it."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

from mkdocs.commands.build import build
from mkdocs.config import load_config

from tests.docs.blocks import ROOT


def built(folder: Path, **instead: Any) -> Path:
    """`make site` into a folder, with other settings where told; raises where a link or the navigation is wrong."""
    logging.getLogger("mkdocs").setLevel(logging.WARNING)
    config = load_config(str(ROOT / "mkdocs.yml"), site_dir=str(folder), strict=True, **instead)
    config.plugins.on_startup(command="build", dirty=False)
    build(config)
    return folder


class _Quiet(SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: object) -> None:
        """Nothing."""


@contextmanager
def served(folder: Path) -> Iterator[str]:
    """The address of a server on this machine that serves a folder."""
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(_Quiet, directory=str(folder))) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/"
        server.shutdown()
