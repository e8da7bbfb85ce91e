"""Runs while they are made, in real Chromium: another process writes, the page follows; and a page that starts one."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from convergebench.cli.viewing import trying_for
from convergebench.serve.view.shelf import RunShelf
from tests.serve.view.drawn_runs import address, pictures
from tests.serve.view.look import looking
from tests.serve.view.site import ServedView

pytestmark = pytest.mark.browser

LONG = 60.0
"""Seconds that a process may take to begin or to end."""


@pytest.fixture(scope="module")
def growing(drawn: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServedView]:
    """An empty folder where runs may be made."""
    folder = tmp_path_factory.mktemp("growing")
    trying = trying_for(RunShelf([folder]), wanted=True)
    with ServedView(folder, trying=trying) as found:
        yield found
    trying.close()
    assert found.told == []


@pytest.fixture
def writer(growing: ServedView) -> Iterator[subprocess.Popen[bytes]]:
    """A process that takes its time for every step of the run `slow`."""
    command = [sys.executable, "-m", "tests.serve.view.drawn_runs", str(growing.places[0] / "slow"), "0.8"]
    process = subprocess.Popen(command)
    yield process
    process.kill()
    process.wait()


def test_the_page_follows_a_process_that_writes(browser: Any, growing: ServedView, writer: Any) -> None:
    with looking(browser, growing.base) as looker:
        looker.open("/")
        looker.until("document.querySelector('.badge.live')", patience=LONG)
        looker.page.locator("td.name a", has_text="slow").click()
        looker.until("document.querySelector('.now:not([hidden]) .newest li')", patience=LONG)
        first = looker.text(".live-facts")
        assert "per minute" in first
        assert "$" in first
        looker.until(f"document.querySelector('.live-facts').innerText !== {first!r}")
        with looking(browser, growing.base) as other:  # a chain grows under the eyes of a second person
            other.open(address("darker", run="slow"))
            seen = other.page.locator(".film li").count()
            other.until(f"document.querySelectorAll('.film li').length > {seen}", patience=LONG)
        looker.until("!document.querySelector('.badge.live')", patience=LONG)
        assert writer.wait(LONG) == 0
        looker.until("document.querySelector('figure[data-drawn]')", patience=LONG)


def test_a_dropped_picture_becomes_a_run(browser: Any, growing: ServedView, tmp_path: Path) -> None:
    (tmp_path / "mine.png").write_bytes(pictures(1)[0].read())
    with looking(browser, growing.base) as looker:
        looker.open("/try")
        looker.page.get_by_role("button", name="start").click()
        looker.until("document.querySelector('.problem').innerText === 'Choose a picture first.'")
        looker.page.locator("input[type=file]").set_input_files(tmp_path / "mine.png")
        looker.page.locator("#editor-choice").select_option("sim-jpeg")
        looker.page.locator("#pair-choice").select_option("flip-horizontal")
        looker.page.locator("#rounds-choice").fill("2")
        looker.page.get_by_role("button", name="start").click()
        looker.until("location.search.includes('run=')", patience=LONG)
        looker.until("document.querySelectorAll('.film.grown img').length === 5", patience=LONG)
        looker.until("document.querySelector('.bar [role=status]').innerText === 'Done.'", patience=LONG)
        looker.page.get_by_role("link", name="open the run").click()
        looker.until("document.body.dataset.ready === 'run'")
        assert looker.page.url.split("/run/")[1].split("?")[0]


def test_what_is_no_picture_is_refused_in_one_line(browser: Any, growing: ServedView, tmp_path: Path) -> None:
    (tmp_path / "fake.png").write_bytes(b"no pixels here")
    with looking(browser, growing.base) as looker:
        looker.open("/try")
        looker.page.locator("input[type=file]").set_input_files(tmp_path / "fake.png")
        looker.page.get_by_role("button", name="start").click()
        looker.until("document.querySelector('.problem').innerText.length > 10")
        assert "run=" not in looker.page.url
        looker.errors.clear()  # the browser reports the refusal
