"""The rating page in real Chromium, opened from disk: rate by keys and by clicks, come back later, download, add."""

from __future__ import annotations

import csv
import io
from pathlib import Path
from typing import Any

import pytest

from convergebench.conductor.factory_rated import add_ratings
from convergebench.conductor.factory_rating import write_rating_page
from convergebench.sheets import csv_line
from convergebench.store.frames import RunFrames
from convergebench.studies.factory_table import CRITERIA
from tests.factory_run import factory_run
from tests.report.chromium import errors, until

pytestmark = pytest.mark.browser

TYPED = "const box = document.getElementById('rater'); box.value = arguments[0]; box.dispatchEvent(new Event('input'))"


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("factory") / "run"
    factory_run(path, count=8, metrics=())
    return path


@pytest.fixture
def page(browser: Any, root: Path, tmp_path: Path) -> Path:
    """A page that no test has answered yet, open in the browser."""
    path = write_rating_page(root, tmp_path / "rate.html", count=6).path
    browser.get(path.as_uri())
    browser.execute_script("localStorage.clear()")
    # Opened anew, not reloaded: a reload would fill the form with what the browser remembers of it.
    browser.get("about:blank")
    browser.get(path.as_uri())
    ready(browser)
    errors(browser)
    return path


def ready(browser: Any) -> str:
    """Place and number of edits that are wholly scored."""
    return str(until(lambda: browser.execute_script("return document.body.dataset.ready")))


def press(browser: Any, *keys: str, kind: str = "keydown") -> None:
    for key in keys:
        browser.execute_script(
            "document.body.dispatchEvent(new KeyboardEvent(arguments[1], {key: arguments[0], bubbles: true}))",
            key,
            kind,
        )


def text(browser: Any, name: str) -> str:
    return str(browser.execute_script("return document.getElementById(arguments[0]).textContent", name))


def file_of(browser: Any) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(browser.execute_script("return CB.ratingsFile()"))))


def test_two_edits_are_rated_downloaded_and_added_to_the_run(
    browser: Any, page: Path, root: Path, tmp_path: Path
) -> None:
    press(browser, "1", "2", "3", "0", "ArrowRight")
    assert ready(browser) == "1:1"
    for row, column in enumerate((4, 3, 2, 0)):
        browser.execute_script(
            "document.querySelectorAll('.criterion')[arguments[0]].querySelectorAll('button')[arguments[1]].click()",
            *(row, column),
        )
    assert ready(browser) == "1:2"
    browser.execute_script(TYPED, "Anna Ålund")

    with browser.page.expect_download() as waiting:
        browser.page.evaluate("document.getElementById('download').click()")
    waiting.value.save_as(tmp_path / "ratings.csv")
    rows = list(csv.DictReader((tmp_path / "ratings.csv").read_text(encoding="utf-8").splitlines()))
    assert [row["value"] for row in rows] == ["0", "0.25", "0.5", "", "1", "0.75", "0.5", "0"]
    assert [row["question"] for row in rows] == [*CRITERIA, *CRITERIA]
    assert {row["rater"] for row in rows} == {"Anna Ålund"}
    assert len({row["made"] for row in rows}) == 2, "one time per showing"
    done = add_ratings(root, [tmp_path / "ratings.csv"])
    assert (done.added, done.people) == (8, ("Anna Ålund",))
    frames = RunFrames(root)
    found = frames.ratings()
    frames.close()
    assert found.height == 9, "the second edit has all four values, so it has a score too"
    assert errors(browser) == []


def test_answers_are_there_when_the_page_is_opened_again(browser: Any, page: Path) -> None:
    press(browser, "5", "5", "5", "5", "ArrowRight", "3")
    before = file_of(browser)
    browser.get("about:blank")
    browser.get(page.as_uri())
    assert ready(browser) == "1:1", "it goes on at the first edit without all scores"
    assert file_of(browser) == before
    assert len(before) == 5


def test_answers_do_not_go_over_to_other_edits(browser: Any, page: Path, root: Path, tmp_path: Path) -> None:
    press(browser, "5", "5")
    for seed, expected in ((7, 0), (0, 2)):
        browser.get(write_rating_page(root, tmp_path / "rate.html", count=6, seed=seed).path.as_uri())
        ready(browser)
        assert len(file_of(browser)) == expected


def test_a_changed_answer_keeps_the_time_of_its_showing(browser: Any, page: Path) -> None:
    press(browser, "1")
    (before,) = file_of(browser)
    press(browser, "ArrowUp", "4")
    (after,) = file_of(browser)
    assert (before["value"], after["value"]) == ("0", "0.75")
    assert before["made"] == after["made"]


def test_a_key_shows_the_input_in_place_of_the_edit_while_it_is_held(browser: Any, page: Path) -> None:
    shown = "return getComputedStyle(document.getElementById('under')).visibility"
    same = "return document.getElementById('under').src === document.getElementById('before').src"
    assert browser.execute_script(shown) == "hidden"
    press(browser, "b")
    assert (browser.execute_script(shown), text(browser, "which")) == ("visible", "input")
    assert browser.execute_script(same)
    press(browser, "b", kind="keyup")
    assert (browser.execute_script(shown), text(browser, "which")) == ("hidden", "edited")


def test_neither_editor_nor_case_is_to_be_seen(browser: Any, page: Path) -> None:
    for _ in range(9):
        seen = browser.execute_script("return document.body.innerText + document.title")
        assert "instant" not in seen
        assert "picture-0" not in seen
        press(browser, "ArrowRight")


@pytest.mark.parametrize(
    ("name", "told"), [("", "Write your name"), ("=1+1", "formula"), ("People", "stands for everybody")]
)
def test_no_file_without_a_name_that_can_be_added(browser: Any, page: Path, name: str, told: str) -> None:
    press(browser, "1")
    browser.execute_script(TYPED, name)
    browser.execute_script(
        "window.clicked = 0; HTMLAnchorElement.prototype.click = function () { window.clicked += 1; };"
        "document.getElementById('download').click()"
    )
    assert told in text(browser, "trouble")
    assert browser.execute_script("return window.clicked") == 0


def test_typing_a_name_with_digits_rates_nothing(browser: Any, page: Path) -> None:
    browser.find_element("id", "rater").send_keys("rater 5b")
    assert browser.execute_script("return document.getElementById('rater').value") == "rater 5b"
    assert file_of(browser) == []


@pytest.mark.parametrize("name", ["=cmd", "a,b", 'say "hi"', "'+x", "-1+1", "plain"])
def test_cells_are_written_as_every_csv_file_of_the_project(browser: Any, page: Path, name: str) -> None:
    press(browser, "1")
    browser.execute_script(TYPED, name)
    last = browser.execute_script("return CB.ratingsFile()").splitlines()[1]
    assert f",{csv_line([name]).strip()}," in last


@pytest.mark.parametrize("width", [1280, 390])
def test_the_page_fits_the_screen(browser: Any, page: Path, width: int) -> None:
    browser.resize(width)
    browser.refresh()
    ready(browser)
    assert browser.execute_script("return document.documentElement.scrollWidth") <= width
    browser.resize()
    assert errors(browser) == []
