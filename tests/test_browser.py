"""The browser of the tests leaves the tests' own thread alone, whatever happens to it."""

from __future__ import annotations

import asyncio
import shutil
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from tests.browser import _OPEN, BrowserPage, chromium

pytestmark = pytest.mark.browser


async def nothing() -> int:
    return 7


def test_asyncio_can_be_used_while_a_page_is_open() -> None:
    with chromium() as browser:
        page = browser.new_page()
        page.set_content("<p>one</p><p>two</p>")
        assert asyncio.run(nothing()) == 7
        assert [one.inner_text() for one in page.query_selector_all("p")] == ["one", "two"]
        assert page.evaluate("given => given[0].innerText", [page.query_selector("p")]) == "one"
        told: list[str] = []
        page.on("console", lambda said: told.append(said.text))
        page.evaluate("console.log('heard')")
        page.wait_for_timeout(200)
        assert told == ["heard"]
        page.close()


def test_two_that_need_it_share_one() -> None:
    with chromium() as browser, chromium() as other:
        assert browser is other
    assert not _OPEN


def test_a_browser_that_cannot_start_is_no_hindrance_to_the_next(monkeypatch: pytest.MonkeyPatch) -> None:
    with chromium() as browser:
        assert browser.is_connected()
    with monkeypatch.context() as patched:
        patched.setattr(shutil, "which", lambda name: "/bin/false")
        with pytest.raises(Exception, match=r"closed|launch"), chromium():
            pass
    assert asyncio.run(nothing()) == 7
    with chromium() as browser:
        assert browser.is_connected()


def test_a_request_that_is_still_answered_when_its_page_closes_harms_nothing() -> None:
    class Slow(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            if self.path == "/slow":
                time.sleep(1)
            self.send_response(200)
            self.end_headers()

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Slow) as server, chromium() as browser:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        address = f"http://127.0.0.1:{server.server_port}"
        one = BrowserPage(browser)
        one.page.goto(address)
        one.page.route("**/asked", lambda route: route.fulfill(response=route.fetch(url=f"{address}/slow")))
        one.page.evaluate("void fetch('/asked')")
        one.page.wait_for_timeout(200)
        one.close()
        time.sleep(1)
        other = BrowserPage(browser)
        assert other.page.evaluate("1 + 1") == 2
        other.close()
        server.shutdown()
