"""Real Chromium through Playwright, for tests that use a page as a person does; axe finds what is not accessible."""

from __future__ import annotations

import shutil
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any

import pytest

FLAGS = (
    "--no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking "
    "--disable-component-update --disable-sync --hide-scrollbars --force-device-scale-factor=1"
)
SERIOUS = ("serious", "critical")
STARTS_IN = 120_000.0
"""Milliseconds: beside other tests Chromium can need more than Playwright's own limit of thirty seconds."""

PATIENCE = 90_000.0
"""Milliseconds that a page has for what a test waits for, three times Playwright's own limit."""


class ThreadOfBrowser:
    """Where Playwright lives: it keeps an event loop running, and in the tests' own thread nothing else could run one.

    Everything that is Playwright's is handed out as a `There`, so tests use pages as if they were in this thread.
    """

    def __init__(self) -> None:
        self._pool = ThreadPoolExecutor(1, "browser")
        self._number = self._pool.submit(threading.get_ident).result()

    def do(self, act: Callable[[], Any]) -> Any:
        """What `act` gives in the browser's thread; what a page tells is heard there already."""
        if threading.get_ident() == self._number:
            return self._hand_out(act())
        return self._hand_out(self._pool.submit(act).result())

    def end(self) -> None:
        self._pool.shutdown(wait=False)

    def _hand_out(self, found: Any) -> Any:
        if isinstance(found, list):
            return [self._hand_out(one) for one in found]
        owner = getattr(found, "__self__", found)
        return There(self, found) if type(owner).__module__.startswith("playwright") else found


class There:
    """An object or a method of Playwright's, used from another thread."""

    def __init__(self, thread: ThreadOfBrowser, found: Any) -> None:
        self._thread = thread
        self._found = found

    def __getattr__(self, name: str) -> Any:
        return self._thread.do(lambda: getattr(self._found, name))

    def __call__(self, *given: Any, **named: Any) -> Any:
        values, options = _found(list(given)), _found(named)
        return self._thread.do(lambda: self._found(*values, **options))

    def __enter__(self) -> Any:
        return self._thread.do(self._found.__enter__)

    def __exit__(self, *ended: Any) -> None:
        self._thread.do(lambda: self._found.__exit__(*ended))


def _found(given: Any) -> Any:
    if isinstance(given, list):
        return [_found(one) for one in given]
    if isinstance(given, dict):
        return {name: _found(one) for name, one in given.items()}
    return given._found if isinstance(given, There) else given


@dataclass
class _Opened:
    browser: Any
    users: int
    end: Callable[[], None]


_OPEN: list[_Opened] = []
"""The browser that is open, if one is: files and fixtures that need one at the same time share it."""


@contextmanager
def chromium() -> Iterator[Any]:
    """Playwright's browser, run by the system's Chromium; skips where there is none."""
    program = shutil.which("chromium")
    if program is None:
        pytest.skip("chromium is not installed (apt-get install chromium)")
    if not _OPEN:
        try:
            _OPEN.append(_start(program))
        except Exception:  # beside other programs a browser sometimes dies while it starts
            _OPEN.append(_start(program))
    shared = _OPEN[0]
    shared.users += 1
    try:
        yield shared.browser
    finally:
        shared.users -= 1
        if shared.users == 0:
            _OPEN.clear()
            shared.end()


def _start(program: str) -> _Opened:
    from playwright.sync_api import sync_playwright

    thread = ThreadOfBrowser()
    playwright = thread.do(lambda: sync_playwright().start())

    def end() -> None:
        # a browser that does not end as it should is no fault of what was tested; the next one has its own thread
        with suppress(Exception):
            playwright.stop()
        thread.end()

    try:
        browser = playwright.chromium.launch(executable_path=program, args=FLAGS.split(), timeout=STARTS_IN)
    except BaseException:
        end()
        raise
    return _Opened(browser, 0, end)


class BrowserPage:
    """A page of its own profile, and what went wrong on it: errors of scripts, and requests to other machines."""

    def __init__(self, browser: Any, *, width: int = 1280, height: int = 900, dark: bool = False) -> None:
        self._context = browser.new_context(
            viewport={"width": width, "height": height}, color_scheme="dark" if dark else "light"
        )
        self._context.set_default_timeout(PATIENCE)
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
        # a request that a test still answers would otherwise fail whatever is done next
        self.page.unroute_all(behavior="ignoreErrors")
        self._context.close()
