"""The site builds without a warning, has every page, shows what was written, and asks no other host for anything."""

from __future__ import annotations

import re
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path

import pytest
import yaml

from docs.web import drawing, markdown, notebook, repository
from tests.browser import BrowserPage, chromium
from tests.docs.blocks import ROOT
from tests.docs.site import built, served

pytest.importorskip("material")
LOADED = ("script", "link", "img", "iframe", "source", "video", "audio", "object", "embed")


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return built(tmp_path_factory.mktemp("built") / "site")


class Loads(HTMLParser):
    """What a page loads."""

    def __init__(self) -> None:
        super().__init__()
        self.addresses: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in LOADED:
            self.addresses += [value or "" for name, value in attrs if name in ("src", "href", "srcset", "data")]


class Loader(yaml.SafeLoader):  # type: ignore[misc]
    """Reads mkdocs.yml without making what it names."""


Loader.add_multi_constructor("tag:yaml.org,2002:python/", lambda loader, suffix, node: None)


def listed(entry: object) -> Iterator[str]:
    if isinstance(entry, str):
        yield entry
    elif isinstance(entry, dict):
        yield from (page for value in entry.values() for page in listed(value))
    elif isinstance(entry, list):
        yield from (page for value in entry for page in listed(value))


def test_every_page_of_the_documentation_is_in_the_navigation() -> None:
    nav = yaml.load((ROOT / "mkdocs.yml").read_text(encoding="utf-8"), Loader)["nav"]
    named = [*listed(nav), *listed(repository.design_notes())]
    written = {path.relative_to(ROOT / "docs").as_posix() for path in (ROOT / "docs").rglob("*.md")}
    missing = sorted(written - set(named))
    assert not missing, f"not in the navigation of mkdocs.yml: {', '.join(missing)}"
    assert sorted(named) == sorted(set(named)), "a page stands twice in the navigation"


def test_no_page_loads_anything_from_another_host(site: Path) -> None:
    pages = list(site.rglob("*.html"))
    assert len(pages) > 90
    for path in pages:
        reader = Loads()
        reader.feed(path.read_text(encoding="utf-8"))
        assert not [one for one in reader.addresses if one.startswith(("http:", "https:", "//"))], path
    for path in (*site.rglob("*.css"),):
        assert not re.search(r"url\(['\"]?(?:https?:)?//", path.read_text(encoding="utf-8")), path


def test_lists_and_tables_are_lists_and_tables(site: Path) -> None:
    for path in site.rglob("*.html"):
        for paragraph in re.findall(r"<p>(.*?)</p>", path.read_text(encoding="utf-8"), re.S):
            assert "| ---" not in paragraph, f"{path}: {paragraph[:80]}"
            assert not re.search(r"\n(?:- |\d+\. )", paragraph), f"{path}: {paragraph[:80]}"


def test_files_of_the_repository_that_pages_link_to_are_shown(site: Path) -> None:
    taxonomy = site / "repository" / "src" / "convergebench" / "edits" / "data" / "taxonomy.toml" / "index.html"
    assert "Pico-Banana-400K" in taxonomy.read_text(encoding="utf-8")
    start = (site / "index.html").read_text(encoding="utf-8")
    assert 'href="repository/src/convergebench/edits/data/taxonomy.toml/"' in start
    assert 'href="tutorial/"' in start
    assert "docs/tutorial.md" not in start


@pytest.mark.parametrize("link", ["no-such-page.md", "index.md#no-such-anchor", "/absolute", "folder/"])
def test_a_link_that_leads_nowhere_is_an_error(link: str, tmp_path: Path) -> None:
    from mkdocs.exceptions import Abort

    pages = tmp_path / "docs"
    pages.mkdir()
    (pages / "index.md").write_text(f"# Start\n\n[gone]({link})\n", encoding="utf-8")
    with pytest.raises(Abort):
        built(tmp_path / "site", docs_dir=str(pages), nav=["index.md"], hooks=[], theme="mkdocs")


def test_links_are_changed_outside_code_only() -> None:
    text = "[a](docs/audit.md#flags) [b](LICENSE) [c](https://x.org/docs/audit.md)\n```text\n[d](docs/audit.md)\n```\n"
    assert repository.relinked(text, "index.md") == (
        "[a](audit.md#flags) [b](repository/LICENSE.md) [c](https://x.org/docs/audit.md)\n```text\n[d](docs/audit.md)\n```\n"
    )
    assert repository.relinked("[e](../../CHANGELOG.md)", "design/rooms.md") == "[e](../changelog.md)"
    assert repository.relinked("[f](gone.md)", "faq.md") == "[f](gone.md)"


def test_what_python_markdown_needs_is_added() -> None:
    assert markdown.spaced("Why:\n- one\n  more\n- two\n") == "Why:\n\n- one\n  more\n- two\n"
    assert markdown.spaced("<!-- a -->\n| b |\n| --- |\n") == "<!-- a -->\n\n| b |\n| --- |\n"
    assert markdown.spaced("```sh\nx\n- y\n```\n") == "```sh\nx\n- y\n```\n"
    assert markdown.titled("<!-- file: a.py -->\n```python\n") == '```python title="a.py"\n'


def test_a_drawing_has_every_arrow_downwards_and_no_boxes_that_overlap() -> None:
    chart = "  a --> b\n  b --> c\n  a --> c\n  d --> c"
    svg = drawing.drawn(f"x\n```mermaid\nflowchart TD\n{chart}\n```\ny")
    assert svg.count("marker-end") == 4
    boxes = [tuple(map(int, one)) for one in re.findall(r'<rect x="(-?\d+)" y="(\d+)"', svg)]
    assert len(boxes) == 4
    assert all(abs(x - u) >= 104 for x, y in boxes for u, v in boxes if y == v and x != u)
    assert drawing.depths(drawing.arrows(chart)) == {"a": 0, "b": 1, "c": 2, "d": 0}
    with pytest.raises(ValueError, match="circle"):
        drawing.svg([("a", "b"), ("b", "a")])
    with pytest.raises(ValueError, match="arrows"):
        drawing.arrows("a -.-> b")


def test_a_notebook_is_shown_with_its_outputs() -> None:
    text, pictures = notebook.page(ROOT / "docs" / "notebooks" / "first-steps.ipynb")
    assert text.startswith("# First steps in Python\n")
    assert sorted(name.partition(".")[2] for name in pictures) == ["jpg", "png"]
    assert all(f"]({name})" in text for name in pictures)
    assert "shape: (" in text


@pytest.mark.browser
@pytest.mark.parametrize(("width", "dark"), [(1440, False), (390, True)])
def test_pages_are_accessible_and_fit_and_search_finds(site: Path, width: int, dark: bool) -> None:
    with served(site) as address, chromium() as browser:
        window = BrowserPage(browser, width=width, dark=dark)
        page = window.page
        for name in ("", "everyday/", "results/audit/", "design/rooms/"):
            page.goto(address + name)
            page.wait_for_load_state("load")
            assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), name
        assert window.violations() == []
        assert page.evaluate("getComputedStyle(document.body).backgroundColor") == (
            "rgb(21, 23, 27)" if dark else "rgb(255, 253, 249)"
        )
        if width > 1000:
            page.goto(address)
            page.fill("input[data-md-component=search-query]", "several machines")
            page.wait_for_selector("a.md-search-result__link")
            assert "several-machines/" in "".join(
                page.eval_on_selector_all("a.md-search-result__link", "all => all.map(one => one.href)")
            )
        assert window.errors == []
        window.close()
