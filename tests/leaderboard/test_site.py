"""The site: finding first, everything links, nothing is loaded from elsewhere, the same bundles give the same bytes."""

from __future__ import annotations

import csv
import json
import re
import shutil
import xml.etree.ElementTree as ElementTree
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from convergebench.leaderboard.checking import check_bundle
from convergebench.report.wording import number
from tests.browser import BrowserPage, chromium
from tests.cli.in_process import cbench
from tests.leaderboard.conftest import World
from tests.leaderboard.runs import StandIn, draw_pictures, make_run
from tests.leaderboard.tampering import Forged


class Built:
    """A folder of bundles and the site made from it."""

    def __init__(self, bundles: Path, site: Path) -> None:
        self.bundles, self.site = bundles, site
        done = cbench("leaderboard", "build", bundles, "--into", site)
        assert done.code == 0, done.err
        self.said = done.out

    @property
    def data(self) -> dict[str, Any]:
        found: dict[str, Any] = json.loads((self.site / "data" / "leaderboard.json").read_text())
        return found

    def text(self, page: str = "index.html") -> str:
        return (self.site / page).read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def built(world: World) -> Built:
    """Two models, a simulated run, a cheat, a hostile name, one not comparable and one tampered bundle."""
    folder = world.root / "bundles"
    folder.mkdir()
    shutil.copy(world.bundle, folder / "first.zip")
    sims = make_run(world.root / "sims", world.pictures, {"sim-perfect": "sim-perfect", "sim-blur": "sim-blur"})
    shutil.copy(world.submitted(sims, "sims", unsigned="yes"), folder)
    sly = make_run(world.root / "sly", world.pictures, {"<script>alert(1)</script>": StandIn("sly", "nothing")})
    shutil.copy(world.submitted(sly, "sly", by="=HYPERLINK(1)", unsigned="yes"), folder)
    few = make_run(
        world.root / "few", draw_pictures(world.root / "few-images" / "pictures", 3), {"few": StandIn("few")}
    )
    shutil.copy(world.submitted(few, "few"), folder)
    forged = Forged(world.bundle)
    forged.tables["chains"][0]["planned"] = 5
    (folder / "forged.zip").write_bytes(forged.bytes())
    key = check_bundle(world.bundle).key
    (folder / "board.toml").write_text(f'title = "Example board"\n[keys]\n"{key}" = "Example Lab, confirmed"\n')
    return Built(folder, world.root / "site")


def test_the_command_says_what_it_did(built: Built) -> None:
    assert "forged.zip: rejected\n  chain model-a" in built.said
    assert "3 models, 4 bundles accepted, 1 rejected, 1 not compared" in built.said


def test_the_finding_comes_first_with_its_number(built: Built) -> None:
    (headline,) = re.findall(r"<h1>(.*?)</h1>", built.text(), re.S)
    assert re.sub(r"<[^>]+>", "", headline).startswith("model-b")
    assert "6 images" in headline
    assert built.data["boards"][0]["finding"].startswith("model-b")


def test_every_score_on_the_page_is_in_the_data(built: Built) -> None:
    rows = [row for row in built.data["rows"] if row["filter"] == "all"]
    assert [row["name"] for row in rows if not row["simulated"]][:2] == ["model-b", "model-a"]
    page = built.text()
    for row in rows:
        assert number(row["score"], 1) in page
        assert row["n_cases"] == 12
    assert {row["filter"] for row in built.data["rows"]} == {"all", "category:geometric", "category:scene_objects"}


def test_simulated_editors_are_ranked_apart(built: Built) -> None:
    ranked = {row["name"]: row["rank"] for row in built.data["rows"] if row["filter"] == "all"}
    assert ranked["model-b"] == ranked["sim-perfect"] == 1
    assert built.text().index('id="simulated"') > built.text().index('id="ranking"')


def test_what_is_not_compared_is_listed_with_the_reason(built: Built) -> None:
    page = built.text()
    assert "lacks 6 of the 12 cases of the board" in page
    assert "is finished with 2 of 5 rounds" in page
    assert built.data["rejected"][0]["file"] == "forged.zip"


def test_an_editor_that_does_nothing_is_marked(built: Built) -> None:
    assert "edits happened in 0 % of rounds" in built.text()


def test_names_of_submitters_are_shown_and_harm_nothing(built: Built) -> None:
    assert "<script>alert(1)</script>" not in built.text()
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in built.text()
    with (built.site / "data" / "leaderboard.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert {row["submitter"] for row in rows} == {"Example Lab", "'=HYPERLINK(1)"}
    assert all(re.fullmatch(r"[a-z0-9-]+\.html", path.name) for path in (built.site / "models").iterdir())


def test_a_confirmed_key_has_a_name_and_others_do_not(built: Built) -> None:
    assert "Example Lab, confirmed" in built.text()
    assert "unsigned" in built.text()


def test_every_link_leads_to_a_file_of_the_site(built: Built) -> None:
    for page in built.site.rglob("*.html"):
        for link in re.findall(r'(?:href|src)="([^"#]+)"', page.read_text(encoding="utf-8")):
            if not link.startswith("data:"):
                assert not link.startswith(("/", "http")), link
                assert (page.parent / link).resolve().is_file(), f"{page.name}: {link}"


def test_the_feed_is_atom_and_names_every_submission(built: Built) -> None:
    tree = ElementTree.fromstring(built.text("feed.xml"))
    space = {"a": "http://www.w3.org/2005/Atom"}
    titles = [entry.findtext("a:title", "", space) for entry in tree.findall("a:entry", space)]
    assert len(titles) == 5
    assert "model-a on roundtrip on pictures" in titles


def test_what_github_pages_needs_is_there(built: Built) -> None:
    assert (built.site / ".nojekyll").read_bytes() == b""
    assert "cbench leaderboard build" in built.text("README.md")


def test_the_same_bundles_give_the_same_bytes_whatever_the_files_are_called(built: Built, tmp_path: Path) -> None:
    again = tmp_path / "again"
    again.mkdir()
    for path in built.bundles.iterdir():
        shutil.copy(path, again / ("zz.zip" if path.name == "first.zip" else path.name))
    other = Built(again, tmp_path / "site").site
    files = sorted(path.relative_to(other) for path in other.rglob("*") if path.is_file())
    assert files == sorted(path.relative_to(built.site) for path in built.site.rglob("*") if path.is_file())
    assert all((other / name).read_bytes() == (built.site / name).read_bytes() for name in files)


def test_a_new_build_removes_pages_of_models_that_are_gone(built: Built, tmp_path: Path) -> None:
    site, fewer = tmp_path / "site", tmp_path / "fewer"
    shutil.copytree(built.site, site)
    (site / "CNAME").write_text("example.org")
    fewer.mkdir()
    shutil.copy(built.bundles / "sims.zip", fewer)
    Built(fewer, site)
    assert sorted(path.name for path in (site / "models").iterdir()) == ["sim-blur.html", "sim-perfect.html"]
    assert (site / "CNAME").exists()


def test_without_a_bundle_the_page_says_how_to_submit(tmp_path: Path) -> None:
    (tmp_path / "none").mkdir()
    page = Built(tmp_path / "none", tmp_path / "site").text()
    assert "No result has been accepted yet." in page
    assert "cbench submit RUN" in page


@pytest.mark.parametrize(
    ("into", "said"), [("bundles", "holds the bundles"), ("other", "is not a leaderboard"), ("file", "is a file")]
)
def test_nothing_of_somebody_else_is_overwritten(tmp_path: Path, into: str, said: str) -> None:
    (tmp_path / "bundles").mkdir()
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "thesis.tex").write_text("x")
    (tmp_path / "file").write_text("x")
    done = cbench("leaderboard", "build", tmp_path / "bundles", "--into", tmp_path / into)
    assert done.code == 2
    assert said in done.err


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with chromium() as found:
        yield found


@pytest.mark.parametrize(("width", "dark"), [(1280, False), (390, True)])
@pytest.mark.parametrize("page", ["index.html", "models/model-a.html"])
def test_pages_are_accessible_and_ask_nobody(built: Built, browser: Any, page: str, width: int, dark: bool) -> None:
    shown = BrowserPage(browser, width=width, dark=dark)
    try:
        shown.page.goto(f"file://{built.site / page}")
        assert shown.violations() == []
        assert shown.errors == []
        assert shown.page.evaluate("document.documentElement.scrollWidth") <= width
    finally:
        shown.close()


@pytest.mark.parametrize("page", ["index.html", "models/model-a.html"])
def test_charts_come_alive(built: Built, browser: Any, page: str) -> None:
    shown = BrowserPage(browser)
    try:
        shown.page.goto(f"file://{built.site / page}")
        shown.page.locator(".vega").first.scroll_into_view_if_needed()
        shown.page.wait_for_selector(".vega .live svg", timeout=15_000)
        assert shown.page.locator(".vega[data-failed]").count() == 0
        assert shown.errors == []
    finally:
        shown.close()


def test_a_filter_shows_its_own_ranking_and_stays_in_the_address(built: Built, browser: Any) -> None:
    shown = BrowserPage(browser)
    try:
        shown.page.goto(f"file://{built.site / 'index.html'}")
        shown.page.select_option("#filter", "category:geometric")
        visible = shown.page.locator(".panel:visible")
        assert visible.count() == 1
        assert "n = 6 cases from 6 images" in visible.inner_text()
        address = shown.page.url
        shown.page.goto("about:blank")
        shown.page.goto(address)
        assert shown.page.locator(".panel:visible").get_attribute("data-filter") == "category:geometric"
        assert shown.errors == []
    finally:
        shown.close()
