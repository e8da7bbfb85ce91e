"""The viewer in the frame of a notebook, and a report in its sandbox, in real Chromium."""

from __future__ import annotations

import http.server
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from convergebench.api.viewing import RunViewer
from tests.browser import BrowserPage
from tests.serve.view.site import ServedView

pytestmark = pytest.mark.browser


@pytest.fixture
def notebook(made: Path) -> Iterator[str]:
    """A page of another site that shows a viewer as Jupyter does."""
    with RunViewer(made) as viewer:
        page = f"<!doctype html><title>notebook</title>{viewer._repr_html_()}".encode()

        class Notebook(http.server.BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                self.send_response(200)
                self.send_header("content-type", "text/html")
                self.end_headers()
                self.wfile.write(page)

            def log_message(self, format: str, *words: Any) -> None:
                """Say nothing."""

        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Notebook)
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield f"http://localhost:{server.server_port}/"
        finally:
            server.shutdown()
            thread.join()
            server.server_close()


def test_a_notebook_of_another_site_shows_the_viewer_in_a_frame(browser: Any, notebook: str) -> None:
    one = BrowserPage(browser)
    try:
        one.page.goto(notebook)
        frame = one.page.frames[-1]
        end = time.monotonic() + 30
        while time.monotonic() < end and frame.evaluate("document.body.dataset.ready") != "run":
            time.sleep(0.1)
        assert frame.evaluate("document.body.dataset.ready") == "run"
        assert "token" not in frame.url
        assert one.errors == []
    finally:
        one.close()


def test_the_scripts_of_a_report_run_and_reach_nothing(browser: Any, runs: Path) -> None:
    report = runs / "small" / "report"
    report.mkdir()
    (report / "beside.js").write_text("document.title = 'loaded';")
    (report / "index.html").write_text('<p class="finding">Found.</p><script src="beside.js"></script>')
    with ServedView(runs) as site:
        address = site.data("/api/runs")["runs"][0]["report"]
        one = BrowserPage(browser)
        try:
            one.page.goto(site.base + address)
            assert one.page.title() == "loaded"
            asked = "fetch('/api/runs').then(reply => reply.text()).catch(() => 'blocked')"
            assert one.page.evaluate(asked) == "blocked"
            assert (
                one.page.evaluate("(() => { try { return document.cookie } catch { return 'blocked' } })()")
                == "blocked"
            )
        finally:
            one.close()
