"""What a page may do: run the scripts that we wrote into it, show pictures, and nothing that somebody slipped in."""

from __future__ import annotations

import base64
import hashlib
import re
import shutil
from pathlib import Path
from typing import Any

import pytest

from convergebench.report.environment import TEMPLATES
from tests.report.chromium import errors, until

SLIPPED_IN = """
<script>document.documentElement.dataset.broken = "inline script"</script>
<script src="slipped.js"></script>
<img src="nowhere.png" onerror="document.documentElement.dataset.broken = 'handler'">
<a id="lure" href="javascript:document.documentElement.dataset.broken = 'address'">x</a>
<iframe srcdoc="<script>parent.document.documentElement.dataset.broken = 'frame'</script>"></iframe>
<base href="https://example.org/">
<style>h1{color:rgb(1,2,3)}</style>
<form id="form" action="https://example.org/"></form>
<object data="slipped.js"></object>
"""


def pages(folder: Path) -> list[Path]:
    return sorted(folder.glob("*.html"))


def policy_of(page: str) -> dict[str, str]:
    (found,) = re.findall(r'<meta http-equiv="Content-Security-Policy" content="([^"]*)">', page)
    return dict(part.split(" ", 1) for part in found.replace("&#39;", "'").split("; "))


def test_every_page_begins_with_a_strict_policy(report: Path, copied: Path) -> None:
    for path in (*pages(report), *pages(copied)):
        page = path.read_text(encoding="utf-8")
        assert page.startswith("<!doctype html>")
        rules = policy_of(page)
        assert rules["default-src"] == rules["base-uri"] == rules["form-action"] == "'none'"
        assert "unsafe" not in rules["script-src"] + rules["style-src-elem"]
        assert page.index("Content-Security-Policy") < min(page.index("<style"), page.index("<script"))
        for tag, rule in (("script", "script-src"), ("style", "style-src-elem")):
            for text in re.findall(f"<{tag}>(.*?)</{tag}>", page, re.DOTALL):
                digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
                assert f"'sha256-{digest}'" in rules[rule], path.name


def test_no_template_has_a_handler_or_a_script_of_its_own() -> None:
    for path in TEMPLATES.glob("*.html"):
        text = path.read_text(encoding="utf-8")
        assert not re.findall(r"\son[a-z]+\s*=", text), path.name
        assert "javascript:" not in text
        # data in JSON is not run, whatever it holds
        tags = re.findall(r'<(script(?! type="application/json")|style|base|form|iframe|object)\b', text)
        assert path.name == "base.html" or not tags, path.name


@pytest.mark.browser
def test_pages_work_under_their_policy_and_nothing_else_does(browser: Any, report: Path, tmp_path: Path) -> None:
    run = shutil.copytree(report.parent, tmp_path / "run")
    folder = run / report.name
    (folder / "slipped.js").write_text("document.documentElement.dataset.broken = 'own file'")
    for path in pages(folder):
        address = path.as_uri()
        errors(browser)
        browser.get(address)
        until(lambda: browser.execute_script("return document.readyState") == "complete")
        assert not errors(browser), f"{path.name} breaks its own policy"
        colour = browser.execute_script("return getComputedStyle(document.querySelector('h1')).color")
        path.write_text(path.read_text(encoding="utf-8").replace("<body>", f"<body>{SLIPPED_IN}"), encoding="utf-8")
        browser.get(f"{address}?again")
        until(lambda: browser.execute_script("return document.readyState") == "complete")
        browser.execute_script("document.getElementById('lure').click(); document.getElementById('form').submit()")
        assert browser.current_url.startswith(address)
        assert browser.execute_script("return document.documentElement.dataset.broken || ''") == ""
        assert browser.execute_script("return document.baseURI").startswith("file:")
        assert browser.execute_script("return getComputedStyle(document.querySelector('h1')).color") == colour
        assert browser.execute_script("return typeof CB") == "object", "our own script still runs"
    errors(browser)
