"""Long pages fold: the finding stays open, the rest is one click away."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

import pytest
from markupsafe import Markup

from convergebench.report.folding import INSIDE, fold, in_reading_order, shown_section
from convergebench.report.sections._table import TABLE
from convergebench.report.titles import study_title


@dataclass(frozen=True)
class Section:
    name: str
    title: str = "Title"
    inside: str = ""


def test_a_fold_keeps_the_heading_in_its_summary_and_the_anchor_inside() -> None:
    html = Markup('\n<section id="cost" class="x">\n<h2>What it <b>cost</b></h2>\n<p>5</p>\n</section>')
    found = str(fold(html, "Cost", "dollars & seconds"))
    summary, _, body = found.partition("</summary>")
    assert "<h2>What it <b>cost</b></h2>" in summary
    assert "dollars &amp; seconds" in summary
    assert body.strip().startswith('<section id="cost" class="x">')
    assert found.count("<h2>") == 1
    assert "open" not in found.partition("<summary>")[0]


def test_a_section_without_a_heading_gets_its_title() -> None:
    assert "<h2>A &lt;b&gt;</h2>" in fold(Markup("<p>text</p>"), "A <b>", "inside")


def test_markup_that_is_not_ours_stays_escaped_in_a_fold() -> None:
    found = fold("<script>alert(1)</script>", "x", "y")
    assert "<script>" not in found


def test_a_section_of_a_plug_in_is_open_unless_it_says_what_is_inside() -> None:
    html = Markup('<section id="own"><h2>Own</h2><table></table></section>')
    assert shown_section(Section("own"), html) == {"name": "own", "title": "Title", "html": html, "folded": False}
    assert shown_section(Section("own", inside="more"), html)["folded"]


def test_a_section_with_nothing_to_show_is_folded() -> None:
    html = Markup('<section id="ratings"><h2>Ratings</h2><p class="empty">None yet.</p></section>')
    assert shown_section(Section("ratings"), html)["folded"]
    full = Markup(str(html).replace("</section>", "<figure></figure></section>"))
    assert not shown_section(Section("ratings"), full)["folded"]


def test_open_sections_come_first_and_each_kind_keeps_its_order() -> None:
    names = [("a", True), ("b", False), ("c", True), ("d", False)]
    found = in_reading_order([{"name": name, "folded": folded} for name, folded in names])
    assert [one["name"] for one in found] == ["b", "d", "a", "c"]


def test_every_name_that_folds_is_a_section() -> None:
    from convergebench.report.audit.sections import SECTIONS

    assert set(INSIDE) <= {*TABLE, *(section.name for section in SECTIONS)}


@pytest.mark.parametrize(
    ("manifest", "title"),
    [
        ({"spec": {"title": " Cures "}, "study": "roundtrip"}, "Cures"),
        ({"spec": {"title": ""}, "study": "replicate", "editors": [{"name": "a"}]}, "Replication study of a"),
        ({"study": "roundtrip", "editors": [{"name": n} for n in "abcd"]}, "Round-trip study of 4 editors"),
        ({"study": "own", "editors": [{"name": "a"}, {"name": "b"}]}, "Study “own” of a, b"),
        ({}, "Study"),
    ],
)
def test_a_page_is_headed_by_the_studys_title_or_a_plain_one(manifest: dict[str, object], title: str) -> None:
    assert study_title(manifest) == title


def test_the_page_folds_all_but_the_essentials(report: Path) -> None:
    page = (report / "index.html").read_text(encoding="utf-8")
    parts = page.split('<details class="fold">')
    assert re.findall(r'<section id="(\w+)"', parts[0]) == ["ranking", "curves", "worst"]
    folded = ["survival", "settling", "breakdown", "adherence", "diagnostics", "chains", "cost", "made", "terms"]
    assert [re.findall(r'<section id="(\w+)"', part) for part in parts[1:]] == [[name] for name in folded]
    assert page.count('class="inside"') == len(parts) - 1


def test_nothing_of_a_finding_stands_in_tooltips_alone(report: Path) -> None:
    page = (report / "index.html").read_text(encoding="utf-8")
    body = re.sub(r"(?s)<svg.*?</svg>|<script.*?</script>", "", page)
    assert not re.findall(r'title="[^"]*\d', body)
    numbers = body.partition('<details class="numbers">')[2].partition("</details>")[0]
    heads = re.findall(r"<th[^>]*>(.*?)</th>", numbers)
    assert heads[-1] == "after 5", "the last round that was run"
    assert re.search(r"<small>[^<]*n \d", numbers)
