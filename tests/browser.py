"""Real Chromium through Playwright, for tests that use a page as a person does; axe finds what is not accessible."""

from __future__ import annotations

import shutil
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import pytest

FLAGS = (
    "--no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking "
    "--disable-component-update --disable-sync --hide-scrollbars --force-device-scale-factor=1"
)
SERIOUS = ("serious", "critical")
_OPEN: dict[int, list[Any]] = {}
"""Thread → its browser with the number of users: Playwright can be started only once in a thread."""


@contextmanager
def chromium() -> Iterator[Any]:
    """Playwright's browser, run by the system's Chromium; skips where there is none.

    While it is open, asyncio takes this thread for busy: make what needs a study before.
    """
    program = shutil.which("chromium")
    if program is None:
        pytest.skip("chromium is not installed (apt-get install chromium)")
    from playwright.sync_api import sync_playwright

    thread = threading.get_ident()
    if thread not in _OPEN:
        playwright = sync_playwright().start()
        _OPEN[thread] = [playwright, playwright.chromium.launch(executable_path=program, args=FLAGS.split()), 0]
    shared = _OPEN[thread]
    shared[2] += 1
    try:
        yield shared[1]
    finally:
        shared[2] -= 1
        if shared[2] == 0:
            del _OPEN[thread]
            shared[1].close()
            shared[0].stop()


class BrowserPage:
    """A page of its own profile, and what went wrong on it: errors of scripts, and requests to other machines."""

    def __init__(self, browser: Any, *, width: int = 1280, height: int = 900, dark: bool = False) -> None:
        self._context = browser.new_context(
            viewport={"width": width, "height": height}, color_scheme="dark" if dark else "light"
        )
        self.page = self._context.new_page()
        self.errors: list[str] = []
        self.page.on("pageerror", lambda error: self.errors.append(str(error)))
        self.page.on("console", lambda said: self.errors.append(said.text) if said.type == "error" else None)
        self.page.on("request", self._watch)

    def _watch(self, request: Any) -> None:
        local = ("http://127.0.0.1", "http://localhost", "file:", "data:", "blob:", "about:")
        if not request.url.startswith(local):
            self.errors.append(f"asks another machine: {request.url}")

    def violations(self, *, levels: Sequence[str] = SERIOUS) -> list[str]:
        """What axe calls serious or critical, one line each."""
        from axe_playwright_python.sync_playwright import Axe

        found = Axe().run(self.page).response["violations"]
        return [
            f"{one['id']}: {one['help']}: {node['html'][:160]}"
            for one in found
            if one["impact"] in levels
            for node in one["nodes"]
        ]

    def close(self) -> None:
        self._context.close()
