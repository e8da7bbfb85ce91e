"""The page about importing names every layout, every flag and every licence as the code has them."""

from __future__ import annotations

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
from tests.datasets import sets
from tests.docs.blocks import ROOT
from tests.docs.shell import Reader

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


def test_what_the_page_tells_to_type_works(reader: Reader, monkeypatch: pytest.MonkeyPatch) -> None:
    root = reader.root
    monkeypatch.setenv("CONVERGEBENCH_CACHE", str(root / "cache"))
    sets.magicbrush(root / "MagicBrush")
    sets.save(root / "photos" / "face" / "anna.png", sets.png(sets.scene()))
    reader.before["cbench import hypir-results"] = lambda: _restore_elsewhere(root)
    assert reader.page("docs/import.md") == 9
    assert read_manifest(root / "runs" / "magicbrush" / "manifest.json").study == "recorded"
    assert read_manifest(root / "runs" / "restored" / "manifest.json").study == "restoration"
    chains = RunFrames(root / "runs" / "restored").chains()
    assert set(chains["status"]) == {"finished"}
    cases = {editor: set(chains.filter(editor=editor)["case"]) for editor in ("HYPIR", "DiffBIR", "TSD-SR")}
    assert cases["HYPIR"] == cases["DiffBIR"] == cases["TSD-SR"]
    assert "anna.old-film/LF3/0" in cases["HYPIR"]
    assert (root / "runs" / "restored" / "report" / "index.html").is_file()


def _restore_elsewhere(root: Path) -> None:
    for path in sorted((root / "degraded" / "images").glob("*.*.png")):
        pixels = decode(path.read_bytes()).pixels
        for folder, width in METHODS.items():
            sets.save(root / folder / path.name, sets.png(np.asarray(cv2.medianBlur(pixels, width), np.uint8)))
