"""A report as one file to mail, and as one page of PDF."""

from __future__ import annotations

import base64
import hashlib
import re
import shutil
import zlib
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from convergebench.report.input import ReportInput
from convergebench.report.one_file import one_file, write_html
from convergebench.report.one_page import one_page, write_pdf
from tests.report.chromium import errors, until


@pytest.fixture(scope="module")
def mailed(given: ReportInput, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The file alone in a folder."""
    path = tmp_path_factory.mktemp("mail") / "report.html"
    write_html(given, path)
    return path


def test_nothing_outside_the_file_is_named(mailed: Path) -> None:
    page = mailed.read_text(encoding="utf-8")
    markup = re.sub(r"<script>.*?</script>", "", page, flags=re.S)
    assert not re.findall(r'(?:src|href|data-full)="(?!data:|#|https?:)[^"]*"', markup)
    assert markup.count('src="data:image/webp;base64,') > 5
    assert "One file, made from a report: " in page
    assert "viewer.html" not in markup
    assert [path.name for path in mailed.parent.iterdir()] == ["report.html"]


def test_the_policy_names_the_scripts_and_styles_that_are_there(mailed: Path) -> None:
    page = mailed.read_text(encoding="utf-8")
    rules = re.search(r'Content-Security-Policy" content="([^"]*)"', page)
    assert rules is not None
    for text in [*re.findall(r"<script>(.*?)</script>", page, re.S), *re.findall(r"<style>(.*?)</style>", page, re.S)]:
        assert base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() in rules[1]


def test_a_small_limit_is_kept_and_what_is_left_out_is_told(report: Path) -> None:
    whole = one_file(report)
    size = len(whole.html.encode())
    assert whole.left_out == 0
    limit = size - 8_000
    small = one_file(report, limit)
    assert len(small.html.encode()) <= limit
    assert small.left_out > 0
    assert small.pictures + small.left_out == whole.pictures
    assert f"{small.left_out} pictures left out to keep the file small" in small.html.replace("\u202f", "")
    assert one_file(report, 1).pictures == 0


@pytest.mark.browser
def test_it_works_in_a_browser_from_disk(browser: Any, mailed: Path, tmp_path: Path) -> None:
    alone = tmp_path / "elsewhere.html"
    shutil.copy(mailed, alone)
    browser.get(alone.as_uri())
    errors(browser)
    browser.get(alone.as_uri())
    broken = "return [...document.images].filter(one => one.loading !== 'lazy' && !one.naturalWidth).length"
    assert until(lambda: browser.execute_script("return document.images.length")) > 5
    assert browser.execute_script(broken) == 0
    tab = "const tab = document.querySelector('[data-switch] button:nth-of-type(2)');"
    panel = browser.execute_script(f"{tab} tab.click(); return tab.dataset.panel")
    shown = "const one = document.getElementById(arguments[0]); return !one.hidden && one.innerHTML.length"
    assert until(lambda: browser.execute_script(shown, panel)) > 100
    browser.execute_script("document.getElementById('chains').scrollIntoView()")
    assert until(lambda: browser.execute_script("return document.querySelectorAll('#chain-table tbody tr').length"))
    listed = "return [...document.querySelectorAll('#chain-table img')].every(one => one.src.startsWith('data:'))"
    assert browser.execute_script(listed)
    assert browser.execute_script("return document.querySelectorAll('#chain-table a[href]').length") == 0
    assert errors(browser) == []


def test_the_pdf_is_one_page_and_the_same_for_the_same_run(given: ReportInput, tmp_path: Path) -> None:
    write_pdf(given, tmp_path / "a.pdf")
    write_pdf(given, tmp_path / "b.pdf")
    data = (tmp_path / "a.pdf").read_bytes()
    assert data == (tmp_path / "b.pdf").read_bytes()
    assert data.startswith(b"%PDF-")
    assert len(re.findall(rb"/Type /Page\b", data)) == 1
    assert (
        max(len(zlib.decompressobj().decompress(part)) for part in re.findall(rb"stream\n(.*?)\nendstream", data, re.S))
        > 1000
    )


def test_the_page_says_the_finding_the_ranking_and_its_uncertainty(given: ReportInput) -> None:
    page = one_page(given)
    words = " ".join(text.get_text().replace("\n", " ") for text in page.texts)
    assert given.analysis.headline[0] in words
    assert all(row["editor"] in words for row in given.ranked)
    assert page.axes, "pictures and charts"
    box = page.bbox
    for text in page.texts:
        extent = text.get_window_extent()
        assert extent.x0 >= box.x0, text.get_text()
        assert extent.x1 <= box.x1, text.get_text()
        assert extent.y0 >= 0, text.get_text()


def test_a_run_without_results_is_still_a_page(given: ReportInput, tmp_path: Path) -> None:
    nothing = replace(
        given.analysis,
        headline=(),
        ranking=given.analysis.ranking.clear(),
        curves=given.analysis.curves.clear(),
        pairwise=given.analysis.pairwise.clear(),
    )
    empty = replace(given, analysis=nothing, chains=given.chains.clear(), steps=given.steps.clear(),
                    measurements=given.measurements.clear())  # fmt: skip
    assert isinstance(empty.chains, pl.DataFrame)
    write_pdf(empty, tmp_path / "empty.pdf")
    assert (tmp_path / "empty.pdf").read_bytes().startswith(b"%PDF-")


def test_reports_of_other_studies_name_nothing_outside_either(copied: Path, restored_report: Path) -> None:
    for folder in (copied, restored_report):
        made = one_file(folder)
        markup = re.sub(r"<script>.*?</script>", "", made.html, flags=re.S)
        assert not re.findall(r'(?:src|href|data-full)="(?!data:|#|https?:)[^"]*"', markup)
        assert made.pictures > 3
        assert made.left_out == 0
