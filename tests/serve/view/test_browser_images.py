"""Images and chains in real Chromium: rows and grid, keys, filters, and a run of many thousand images."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from tests.serve.view.look import Looker, looking

pytestmark = pytest.mark.browser

MANY = 28_000
LOADED = "[...document.querySelectorAll('.cell:not([hidden]) img')].filter(one => one.naturalWidth > 0).length"


@pytest.fixture
def looker(browser: Any, viewer: Any) -> Iterator[Looker]:
    with looking(browser, viewer.base) as found:
        yield found


def test_chains_are_rows_and_steps_are_columns(looker: Looker) -> None:
    looker.open("/run/drawn?tab=images")
    looker.until(f"{LOADED} > 10")
    assert len([one for one in looker.texts(".line:not([hidden]) .line-head") if one]) >= 3
    tops = looker.page.evaluate(
        "[...document.querySelector('.line:not([hidden])').querySelectorAll('.cell:not([hidden]) b')]"
        ".map(one => one.textContent)"
    )
    assert tops[:3] == ["source", "1", "2"]


def test_the_grid_is_walked_with_the_keys_and_opens_an_image(looker: Looker) -> None:
    looker.open("/run/drawn?tab=images&view=grid&sort=step")
    looker.until(f"{LOADED} > 5")
    looker.page.locator(".cell a[tabindex='0']").focus()
    looker.press("ArrowRight", "ArrowRight")
    looker.until("location.search.includes('at=2')")
    words = looker.page.evaluate("document.activeElement.title")
    looker.press("Enter")
    looker.until("document.body.dataset.ready === 'explorer'")
    assert words.split(",")[0] in looker.text("h1")
    looker.page.go_back()
    looker.until("document.body.dataset.ready === 'run'")
    looker.until(f"{LOADED} > 5")
    assert "at=2" in looker.page.url


def test_images_are_filtered_by_any_column(looker: Looker) -> None:
    looker.open("/run/drawn?tab=images&view=grid")
    looker.until(f"{LOADED} > 5")
    looker.page.get_by_label("column to filter by").select_option("editor")
    looker.page.get_by_label("value to compare with").fill("darker")
    looker.page.get_by_role("button", name="filter", exact=True).click()
    looker.until("location.search.includes('where=editor:is:darker')")
    looker.until("document.querySelector('.arrange [role=status]').innerText.match(/^1[24] images/)")
    titles = looker.page.evaluate("[...document.querySelectorAll('.cell:not([hidden]) a')].map(one => one.title)")
    assert titles
    assert all(title.startswith("darker") for title in titles)
    looker.page.get_by_role("button", name="remove the filter: editor is darker").click()
    looker.until("!location.search.includes('where')")


def test_a_number_must_be_a_number(looker: Looker) -> None:
    looker.open("/run/drawn?tab=images&view=grid")
    looker.page.get_by_label("column to filter by").select_option("step")
    looker.page.get_by_label("value to compare with").fill("many")
    looker.page.get_by_role("button", name="filter", exact=True).click()
    assert looker.page.evaluate("document.querySelector('form.where input').validationMessage") == "type a number"
    assert "where" not in looker.page.url


def test_images_are_sorted_by_a_metric(looker: Looker) -> None:
    looker.open("/run/drawn?tab=images&view=grid&sort=ssim&where=step:above:1")
    looker.until(f"{LOADED} > 3")
    under = looker.texts(".cell:not([hidden]) .under")
    values = [float(words.split("ssim")[1]) for words in under if "ssim" in words]
    assert len(values) > 3
    assert values == sorted(values)


def test_nothing_found_says_so(looker: Looker) -> None:
    looker.open("/run/drawn?tab=images&view=grid&find=zebra")
    looker.until("document.querySelector('.gallery .empty:not([hidden])')")
    assert looker.text(".gallery .empty") == "No image matches. Remove a filter."


def test_thumbnails_get_larger(looker: Looker) -> None:
    looker.open("/run/drawn?tab=images&view=grid&size=96")
    looker.until(f"{LOADED} > 3")
    width = "document.querySelector('.cell:not([hidden]) img').clientWidth"
    assert looker.page.evaluate(width) == 96
    looker.press("+")
    looker.until("location.search.includes('size=128')")
    assert looker.page.evaluate(width) == 128


def test_chains_are_listed_with_their_curve_and_sorted(looker: Looker) -> None:
    looker.open("/run/drawn?tab=chains")
    looker.until("document.querySelector('table.chains').dataset.rows === '6'")
    assert looker.page.locator("table.chains .spark polyline").count() >= 4
    looker.page.get_by_role("button", name="editor", exact=False).first.click()
    looker.until("location.search.includes('sort=editor')")
    looker.until("document.querySelector('table.chains tbody td').innerText === 'balks'")
    assert looker.page.locator("th[aria-sort=ascending]").count() == 1
    looker.open("/run/drawn?tab=chains&where=status:not:finished")
    looker.until("document.querySelector('table.chains').dataset.rows === '2'")
    assert "<b>this picture</b>" in looker.text("table.chains")


def many(looker: Looker) -> None:
    """Answer for a run of many images with the real ones again and again; thumbnails and all else stay real."""

    def answer(route: Any) -> None:
        asked = {name: values[0] for name, values in parse_qs(urlsplit(route.request.url).query).items()}
        real = json.loads(route.fetch(url=f"{looker.base}/api/runs/drawn/images?limit=1000").text())
        offset, limit = int(asked.get("offset", 0)), int(asked.get("limit", 200))
        rows = [real["rows"][place % len(real["rows"])] for place in range(offset, min(MANY, offset + limit))]
        route.fulfill(json={**real, "total": MANY, "rows": rows})

    looker.page.route("**/api/runs/drawn/images?*", answer)


def test_many_thousand_images_keep_the_page_small(looker: Looker) -> None:
    many(looker)
    looker.open("/run/drawn?tab=images&view=grid&size=64")
    looker.until(f"{LOADED} > 20", patience=5)
    assert "28 000 images" in looker.text(".arrange")
    counts = []
    places = (0.1, 0.9, 0.4, 0.7, 0.2, 0.99)
    for share in 2 * places:
        looker.page.evaluate(
            "share => { const box = document.querySelector('.grid'); box.scrollTop = share * box.scrollHeight }", share
        )
        looker.until(f"{LOADED} > 20")
        counts.append(looker.page.evaluate("document.querySelectorAll('.grid *').length"))
    assert max(counts) < 3000
    first, second = counts[: len(places)], counts[len(places) :]
    assert max(second) <= 1.1 * max(first), "no growth once there are enough elements for two screens"
    looker.open(f"/run/drawn?tab=images&view=grid&size=64&at={MANY - 1}")
    looker.until("document.querySelector('.grid').scrollTop > 10000")
    looker.until(f"{LOADED} > 5")
