"""The rating page in real Chromium against the real server: keys, clicks, reload, a phone, all four modes."""

from __future__ import annotations

import shutil
import zlib
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from convergebench.store.frames import RunFrames
from convergebench.store.rating_book import RatingBook, book_path
from tests.report.chromium import errors, until
from tests.serve.rating.process import RatingProcess, ServedSite, rating_process

pytestmark = pytest.mark.browser

PRESSED = ".levels [aria-pressed=true]"
CHECKS = (Path(__file__).parent / "page_checks.js").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def root(made: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return Path(shutil.copytree(made, tmp_path_factory.mktemp("browser") / "run"))


@pytest.fixture
def served(root: Path, request: pytest.FixtureRequest) -> Iterator[ServedSite]:
    """A server with a plan of this test's own."""
    with closing(ServedSite(root, plan=f"p{zlib.crc32(request.node.name.encode())}", **request.param)) as found:
        yield found


def plan(**request: Any) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("served", [request], indirect=True, ids=["plan"])


def opened(browser: Any, served: RatingProcess | ServedSite, rater: int = 0) -> None:
    browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
    errors(browser)
    browser.get(served.base + served.links[rater])
    until(lambda: browser.execute_script("return document.body.dataset.ready"))


def press(browser: Any, *keys: str, kind: str = "keydown") -> None:
    """One key after the other, each when the pictures are there and the answer before is kept."""
    for key in keys:
        until(lambda: browser.execute_script("return !document.body.classList.contains('busy')"))
        if browser.execute_script("return document.body.dataset.shown") == "rate":
            until(lambda: browser.execute_script("return document.body.dataset.sight"))
        browser.execute_script(
            "const [key, kind] = arguments, options = {key, bubbles: true, cancelable: true};"
            "document.body.dispatchEvent(new KeyboardEvent(kind, options))",
            *(key, kind),
        )


def check(browser: Any, name: str) -> list[Any]:
    """What a check of `page_checks.js` finds."""
    return list(browser.execute_script(f"{CHECKS}\nreturn {name}()"))


def ready(browser: Any, wanted: str) -> None:
    until(lambda: browser.execute_script("return document.body.dataset.ready") == wanted)


def answers(root: Path, rater: int = 1) -> dict[int, dict[str, float | None]]:
    with closing(RatingBook.open(book_path(root, "score"), read_only=True)) as book:
        return {position: dict(answer.values) for position, answer in book.answers(rater).items()}


def test_two_people_rate_by_keys_at_the_same_time(browser: Any, second_browser: Any, run: Path) -> None:
    with rating_process(run, "--raters", "2", "--images", "2", "--methods", "gentle,harsh") as served:
        rate_together(browser, second_browser, served, run)


def rate_together(browser: Any, second_browser: Any, served: RatingProcess, root: Path) -> None:
    people = ((browser, 0, "5"), (second_browser, 1, "1"))
    for one, rater, _ in people:
        opened(one, served, rater)
        assert one.execute_script("return document.body.dataset.shown") == "intro"
        press(one, "Enter")
        ready(one, "0:0")
    for place in range(1, 5):
        for one, _, key in people:
            press(one, key)
        for one, _, _ in people:
            ready(one, f"{place}:{place}" if place < 4 else "end")
    for one, _, _ in people:
        assert "Thank you" in one.find_element("id", "end").text
        assert errors(one) == []
    assert list(answers(root, 1).values()) == [{"score": 5.0}] * 4
    assert list(answers(root, 2).values()) == [{"score": 1.0}] * 4
    code, said, _ = served.stop()
    assert (code, said.partition(" (")[0]) == (0, "8 ratings added from 8 answers")
    frames = RunFrames(root)
    rated = {(row["rater"][-2:], row["value"]) for row in frames.ratings().iter_rows(named=True)}
    frames.close()
    assert rated == {("01", 5.0), ("02", 1.0)}


def test_reload_and_restart_go_on_and_answers_can_be_changed(browser: Any, run: Path) -> None:
    served, root = RatingProcess(run, "--images", "3"), run
    opened(browser, served)
    press(browser, "Enter", "3", "4")
    ready(browser, "2:2")
    browser.refresh()
    ready(browser, "2:2")
    served.kill()
    press(browser, "x")
    until(lambda: browser.execute_script("return document.body.dataset.waiting"))
    assert "Not kept yet" in browser.find_element("id", "trouble").text
    again = RatingProcess(root, port=served.port)
    try:
        ready(browser, "3:3")
        assert not browser.find_element("id", "trouble").is_displayed()
        assert answers(root) == {1: {"score": 3.0}, 2: {"score": 4.0}, 3: {"score": None}}
        press(browser, "Backspace", "Backspace", "Backspace")
        ready(browser, "0:3")
        pressed = [one.get_attribute("data-value") for one in browser.find_elements("css selector", PRESSED)]
        assert pressed == ["3.0"]
        press(browser, "0")
        ready(browser, "3:3")
        assert answers(root)[1] == {"score": 0.0}
    finally:
        again.kill()
    severe = [line for line in errors(browser) if "ERR_CONNECTION" not in line]
    assert severe == []


@plan(images=2)
def test_pictures_are_compared_in_place_and_zoomed_to_their_own_pixels(browser: Any, served: ServedSite) -> None:
    opened(browser, served)
    press(browser, "Enter")
    until(lambda: browser.execute_script("return document.body.dataset.sight") == "0")
    under = "return getComputedStyle(document.querySelector('[data-role=result] .under')).visibility"
    assert browser.execute_script(under) == "hidden"
    press(browser, " ")
    assert browser.execute_script(under) == "visible"
    assert browser.find_element("css selector", "[data-role=result] figcaption").text == "damaged"
    press(browser, " ", kind="keyup")
    assert browser.execute_script(under) == "hidden"
    for wanted in (64, 128, 256):
        press(browser, "z")
        found = check(browser, "pictureSizes")
        assert [one[:2] for one in found] == [[wanted, wanted]] * 2
        assert found[0][2:] == found[1][2:], "both show the same part"
    press(browser, "z")
    assert browser.execute_script("return document.getElementById('scale').textContent") == "fit"
    press(browser, "w")
    clip = browser.execute_script("return document.querySelector('.under').style.clipPath")
    assert clip.startswith("inset(0px ")
    assert clip != "inset(0px)"
    assert served.answers() == {}
    assert errors(browser) == []


@plan(mode="pairs", images=2)
def test_pairs_by_arrows_and_by_touch_on_a_phone(browser: Any, served: ServedSite) -> None:
    opened(browser, served)
    press(browser, "Enter", "ArrowLeft", "ArrowRight", "ArrowDown", "x")
    ready(browser, "4:4")
    browser.execute_cdp_cmd(
        "Emulation.setDeviceMetricsOverride", {"width": 390, "height": 844, "deviceScaleFactor": 2, "mobile": True}
    )
    until(lambda: browser.execute_script("return document.body.dataset.sight") == "4")
    for view in ("input", "second", "first"):
        browser.find_element("css selector", f".views [data-view={view}]").click()
        assert check(browser, "shownPanes") == [view]
    browser.find_elements("css selector", ".levels button")[2].click()
    ready(browser, "5:5")
    assert [one["preference"] for one in served.answers().values()] == [1.0, 0.0, 0.5, None, 0.0]
    assert errors(browser) == []


@plan(mode="axes", images=2, show_clean=True)
def test_four_axes_are_kept_one_by_one(browser: Any, served: ServedSite) -> None:
    opened(browser, served)
    press(browser, "Enter", "4", "0")
    until(lambda: served.answers() == {1: {"overall": 4.0, "semantics": 0.0}})
    browser.refresh()
    ready(browser, "0:0")
    current = "return document.querySelector('.question.current').dataset.name"
    assert browser.execute_script(current) == "detail", "it goes on at the first open question"
    press(browser, "1", "7")
    ready(browser, "1:1")
    assert served.answers() == {1: {"overall": 4.0, "semantics": 0.0, "detail": -3.0, "sharpness": 3.0}}
    press(browser, "ArrowDown", "2", "x")
    ready(browser, "2:2")
    assert set(served.answers()[2].values()) == {None}
    roles = browser.execute_script("return [...document.querySelectorAll('.pane')].map(pane => pane.dataset.role)")
    assert roles == ["input", "result", "clean"]
    assert errors(browser) == []


@plan(mode="label", items=4)
def test_failures_are_marked_without_a_proposal_in_sight(browser: Any, served: ServedSite) -> None:
    opened(browser, served)
    press(browser, "Enter", "Enter")
    assert "Mark what is wrong" in browser.find_element("id", "trouble").text, "Enter alone is no answer"
    press(browser, "1", "3", "1", "Enter")
    ready(browser, "1:1")
    press(browser, "0")
    ready(browser, "2:2")
    press(browser, "x")
    ready(browser, "3:3")
    browser.find_element("css selector", "[data-question=new-object]").click()
    browser.find_element("id", "keep").click()
    ready(browser, "end")
    marked = [{name for name, value in one.items() if value} for one in served.answers().values()]
    assert marked == [{"invented-texture"}, set(), set(), {"new-object"}]
    assert set(served.answers()[3].values()) == {None}
    assert errors(browser) == []


@plan(images=1, raters=4, repeats=0.0, attention=0.0)
def test_everything_has_a_name_fits_the_screen_and_can_be_read(browser: Any, served: ServedSite) -> None:
    looks = [(width, scheme) for width in (1440, 390) for scheme in ("light", "dark")]
    for rater, (width, scheme) in enumerate(looks):
        opened(browser, served, rater)
        screen = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 500}
        browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", screen)
        media = {"features": [{"name": "prefers-color-scheme", "value": scheme}]}
        browser.execute_cdp_cmd("Emulation.setEmulatedMedia", media)
        look_at(browser, "intro")
        press(browser, "Enter")
        ready(browser, "0:0")
        look_at(browser, "rate")
        low = "return document.getElementById('unsure').getBoundingClientRect().bottom <= innerHeight"
        assert browser.execute_script(low), "all of it is in sight without scrolling"
        assert check(browser, "tooSmall") == []
        press(browser, "5", "4", "3")
        ready(browser, "end")
        look_at(browser, "end")
    assert errors(browser) == []
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})


def look_at(browser: Any, shown: str) -> None:
    assert browser.execute_script("return document.body.dataset.shown") == shown
    assert check(browser, "unnamed") == []
    assert check(browser, "faint") == []
    assert browser.execute_script("return document.documentElement.scrollWidth <= innerWidth")
