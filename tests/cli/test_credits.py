"""Whoever shows or hands on the pictures of a run finds the lines of credit that their licences ask for."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import pytest

from convergebench.images.encode import encode_png
from tests.cli.in_process import cbench
from tests.metrics.pictures import photograph

CREDIT = "Photo: Jo Doe, “Astronaut”, CC BY 2.0"
SUITE = """
name = "credited"
[[image]]
id = "anna"
kind = "face"
title = "A woman in a space suit"
holds = ["woman", "glasses"]
licence = "CC-BY-2.0"
author = "Jo Doe"
credit = "{credit}"
sha256 = "{sha256}"
path = "anna.png"
[image.origin]
registry = "pypi"
package = "scikit-image"
version = "0.25"
path = "skimage/a.png"
sha256 = "{sha256}"
"""
STUDY = """
study = "roundtrip"
editors = ["sim-jpeg"]
images = { suite = "suite.toml" }
edits = { pairs = ["hat", "glasses"] }
measure = { metrics = ["psnr"] }
roundtrip = { rounds = 1 }
"""


def test_the_report_the_manifest_and_the_card_of_a_data_set_credit_every_picture(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    data = encode_png(photograph("astronaut", 64, 64))
    (tmp_path / "anna.png").write_bytes(data)
    text = SUITE.format(credit=CREDIT, sha256=hashlib.sha256(data).hexdigest())
    (tmp_path / "suite.toml").write_text(text, encoding="utf-8")
    (tmp_path / "study.toml").write_text(STUDY, encoding="utf-8")
    done = cbench("run", "study.toml", "--run", "run", "--plots", "none", "--workers", 1)
    assert done.code == 0, done.err
    assert "left out: glasses on anna: it already shows glasses" in done.err
    source = json.loads((tmp_path / "run" / "manifest.json").read_text(encoding="utf-8"))["sources"]["anna"]
    assert (source["credit"], source["package"], source["origin"]) == (CREDIT, "pypi scikit-image 0.25", "photograph")
    page = (tmp_path / "run" / "report" / "index.html").read_text(encoding="utf-8")
    assert "Pictures used: 1 source image, with licence and credit" in page
    assert f"<td>CC-BY-2.0</td><td>{CREDIT}</td>" in page
    assert "glasses on anna: it already shows glasses" in page
    done = cbench("export", "run", "--as", "imagefolder", "--out", "set")
    assert done.code == 0, done.err
    card = (tmp_path / "set" / "README.md").read_text(encoding="utf-8")
    assert f"- `anna`: {CREDIT}. Jo Doe; pypi scikit-image 0.25, skimage/a.png" in card
    assert "chains start from photographs" in card
