"""The page about importing names every layout, every flag and every licence as the code has them."""

from __future__ import annotations

import shlex
from pathlib import Path

import cv2
import numpy as np
import pytest
import typer

from convergebench.cli.main import app
from convergebench.datasets.layouts import LAYOUTS, load_layout
from convergebench.images.decode import decode
from convergebench.store.frames import RunFrames
from convergebench.store.manifest import read_manifest
from tests.cli.in_process import cbench
from tests.datasets import sets
from tests.docs.blocks import ROOT, blocks

PAGE = (ROOT / "docs" / "import.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", LAYOUTS)
def test_every_layout_has_its_row_with_its_licence(name: str) -> None:
    (row,) = [line for line in PAGE.splitlines() if line.startswith(f"| `{name}` |")]
    assert getattr(load_layout(name), "LICENCE", "") in row
    assert getattr(load_layout(name), "EDITOR", "") in row


def test_every_flag_is_told() -> None:
    commands = getattr(typer.main.get_command(app), "commands", {})
    flags = [flag for option in commands["import"].params for flag in option.opts if flag.startswith("--")]
    assert "--as" in flags
    for flag in flags:
        assert f"`{flag}" in PAGE or f" {flag} " in PAGE, flag


METHODS = {"hypir-results": 3, "diffbir-results": 5, "tsd-sr-results": 7}
"""Folder → how wide the filter is that stands for a method which runs elsewhere."""


def test_results_of_methods_that_ran_elsewhere_come_back_as_the_page_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("CONVERGEBENCH_CACHE", str(tmp_path / "cache"))
    sets.save(tmp_path / "photos" / "face" / "anna.png", sets.png(sets.scene()))
    told = [block.text for block in blocks(ROOT / "docs" / "import.md") if "--as restoration" in block.text]
    lines = [shlex.split(line) for text in told for line in text.splitlines()]
    assert [line[1] for line in lines] == ["degrade", "import", "import", "measure", "report", "import"]
    for program, *words in lines:
        assert program == "cbench"
        done = cbench(*words)
        assert done.code == 0, done.err
        if words[0] == "degrade":
            _restore_elsewhere(tmp_path)
    assert read_manifest(tmp_path / "runs" / "restored" / "manifest.json").study == "restoration"
    chains = RunFrames(tmp_path / "runs" / "restored").chains()
    assert set(chains["status"]) == {"finished"}
    cases = {editor: set(chains.filter(editor=editor)["case"]) for editor in ("HYPIR", "DiffBIR", "TSD-SR")}
    assert cases["HYPIR"] == cases["DiffBIR"] == cases["TSD-SR"]
    assert "anna.old-film/LF3/0" in cases["HYPIR"]
    assert (tmp_path / "runs" / "restored" / "report" / "index.html").is_file()


def _restore_elsewhere(root: Path) -> None:
    for path in sorted((root / "degraded" / "images").glob("*.*.png")):
        pixels = decode(path.read_bytes()).pixels
        for folder, width in METHODS.items():
            sets.save(root / folder / path.name, sets.png(np.asarray(cv2.medianBlur(pixels, width), np.uint8)))
