"""The worn map in real Chromium: it lies over the image in the right colours, has a name, a legend and an address."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from convergebench.metrics.no_reference import decay_reading
from convergebench.metrics.no_reference.decay_reading import DecayReading
from convergebench.report.palette import INFERNO
from convergebench.report.worn import OPACITY
from tests.serve.view.drawn_runs import address, drawn_run, textured
from tests.serve.view.look import Looker, looking
from tests.serve.view.site import ServedView

pytestmark = pytest.mark.browser

LAID = "[...document.querySelectorAll('.pane')].every(one => one.dataset.drawn?.includes('worn '))"
WORDS = "looks like about 4 remakings (95\u00a0%: 2–7)"


@pytest.fixture(scope="module")
def drawn(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """`worn`: a textured picture; `tiny`: one that is too small to judge."""
    found = tmp_path_factory.mktemp("runs")
    some = {"darker": 0, "balks": 5, "refuses": 0}
    drawn_run(found / "worn", rounds=2, editors=some, metrics=[], report=False, sources=[textured(256, 128)])
    drawn_run(found / "tiny", count=1, rounds=1, side=16, editors={"darker": 30}, metrics=[], report=False)
    return found


@pytest.fixture
def viewer(drawn: Path) -> Iterator[ServedView]:
    """A server that has judged nothing yet."""
    with ServedView(drawn) as found:
        yield found
    assert found.told == []


@pytest.fixture
def looker(browser: Any, viewer: ServedView) -> Iterator[Looker]:
    with looking(browser, viewer.base) as found:
        yield found


@pytest.fixture
def known(monkeypatch: pytest.MonkeyPatch) -> None:
    """The left part is worn, the right one cannot be judged."""
    monkeypatch.setattr(decay_reading, "decay_map", lambda frame: np.array([[100, np.nan]], np.float32))
    monkeypatch.setattr(decay_reading, "read_decay", lambda frame: DecayReading(20.0, 4.0, 2.0, 7.0))


def halves(looker: Looker) -> tuple[np.ndarray, np.ndarray]:
    """The pixels left and right of the middle of the second pane, at 100 %."""
    found = looker.pixels(".pane", 1).astype(int)
    y, x = found.shape[0] // 2, found.shape[1] // 2
    return found[y - 30 : y + 30, x - 100 : x - 4], found[y - 30 : y + 30, x + 4 : x + 100]


def test_the_map_lies_over_the_image(looker: Looker, known: None) -> None:
    looker.open(address("darker", "step=2&zoom=128,64,1", run="worn"))
    looker.shown(2)
    plain = halves(looker)
    looker.press("6")
    looker.shown(2, "worn")
    looker.until(LAID)
    looker.page.wait_for_timeout(300)
    left, right = halves(looker)
    top = np.array([int(INFERNO[-1][at : at + 2], 16) for at in (1, 3, 5)])
    share = OPACITY / 255
    assert np.abs(left - (plain[0] * (1 - share) + top * share)).max() <= 3
    same = np.abs(right - plain[1]).max(axis=2) <= 2
    assert 0.5 < same.mean() < 0.97, "hatched, and else as it is"
    assert "mode=worn" in looker.page.url


def test_it_has_a_name_words_and_a_legend(looker: Looker, known: None) -> None:
    looker.open(address("darker", "step=2&mode=worn", run="worn"))
    looker.until(LAID)
    looker.until("document.querySelector('.scale button')")
    named = [one.get_attribute("aria-label") for one in looker.page.locator(".pane").all()]
    assert named == [f"worn map of source: {WORDS}", f"worn map of darker: step 2: {WORDS}"]
    assert looker.texts(".pane .name:not([hidden])") == [f"source, {WORDS}", f"darker: step 2, {WORDS}"]
    legend = looker.text(".scale")
    assert legend.index("as untouched") < legend.index("worn", 12)
    assert "cannot be judged: 2 of 4 parts" in legend
    assert looker.page.get_by_role("button", name="6 worn map").get_attribute("aria-pressed") == "true"
    assert looker.violations() == []


def test_it_can_be_hidden_by_key_and_by_button(looker: Looker, known: None) -> None:
    looker.open(address("darker", "step=2&mode=worn&zoom=128,64,1", run="worn"))
    looker.until("document.querySelector('.scale button')")
    looker.page.wait_for_timeout(300)
    with_map = halves(looker)[0]
    button = looker.page.get_by_role("button", name="hide the map")
    looker.press("o")
    looker.until("document.querySelector('.scale button').getAttribute('aria-pressed') === 'true'")
    looker.page.wait_for_timeout(200)
    assert np.abs(halves(looker)[0] - with_map).mean() > 20
    button.click()
    assert button.get_attribute("aria-pressed") == "false"
    looker.page.wait_for_timeout(200)
    assert np.abs(halves(looker)[0] - with_map).max() <= 2


def test_scrubbing_ends_with_the_map_of_the_step_that_is_shown(looker: Looker) -> None:
    looker.open(address("balks", "mode=worn", run="worn"))
    looker.press("ArrowRight", "ArrowRight")
    looker.shown(2, "worn")
    looker.until(LAID)
    assert "balks: step 2" in str(looker.page.locator(".pane").nth(1).get_attribute("aria-label"))
    assert "remakings" in looker.text(".pane:nth-child(2) .name")
    looker.press("1")
    looker.shown(2)
    assert looker.text(".scale") == ""
    assert looker.texts(".pane .name:not([hidden])") == ["source", "balks: step 2"]


def test_a_map_that_comes_too_late_is_not_shown(
    looker: Looker, viewer: ServedView, known: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    let, quick = threading.Event(), decay_reading.decay_map

    def late(frame: Any) -> Any:
        assert let.wait(20)
        return quick(frame)

    monkeypatch.setattr(decay_reading, "decay_map", late)
    looker.open(address("darker", "step=2&mode=worn", run="worn"))
    looker.shown(2, "worn")
    looker.page.wait_for_timeout(400)
    assert "looking for wear" in looker.text(".scale")
    looker.press("1")
    looker.shown(2)
    let.set()
    looker.page.wait_for_timeout(1000)
    assert looker.texts(".pane .name:not([hidden])") == ["source", "darker: step 2"]
    assert looker.text(".scale") == ""


@pytest.mark.parametrize(("editor", "step"), [("balks", 3), ("refuses", 1)])
def test_a_step_that_was_refused_says_so_beside_the_map_of_the_source(
    looker: Looker, known: None, editor: str, step: int
) -> None:
    looker.open(address(editor, f"step={step}&mode=worn", run="worn"))
    looker.until("document.querySelector('.scale button')")
    source, refused = looker.page.locator(".pane").all()
    assert source.get_attribute("aria-label") == f"worn map of source: {WORDS}"
    assert "No image: refused" in refused.inner_text()
    assert refused.get_attribute("aria-label") == f"{editor}: step {step}"


def test_an_image_that_cannot_be_judged_is_shown_with_one_line(looker: Looker) -> None:
    looker.open(address("darker", "step=1&mode=worn", run="tiny"))
    looker.until("document.querySelector('.scale .why')")
    lines = looker.texts(".scale .why")
    assert [one.split(": Where")[0] for one in lines] == ["source", "darker: step 1"]
    assert all("cannot be told" in one for one in lines)
    assert all(one.get_attribute("data-drawn") for one in looker.page.locator(".pane").all()), "the images are shown"
    looker.errors.clear()  # the browser reports the 422


@pytest.mark.parametrize("dark", [False, True])
def test_a_phone(browser: Any, viewer: ServedView, known: None, dark: bool) -> None:
    with looking(browser, viewer.base, width=390, height=844, dark=dark) as looker:
        looker.open(address("darker", "step=2&mode=worn", run="worn"))
        looker.until("document.querySelector('.scale button')")
        assert looker.overflow <= 0
        assert looker.violations() == []
