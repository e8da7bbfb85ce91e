"""The page about Python and the notebook do what they show."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import nbformat.v4
import pytest

from docs.run_notebooks import executed, notebooks
from tests.docs.blocks import ROOT
from tests.docs.shell import Reader
from tests.same.compare import first_difference


def test_every_block_of_the_page_runs_in_order(reader: Reader) -> None:
    assert reader.page("docs/python-api.md") == 0
    assert reader.names["run"].ranking.height == 2
    assert reader.names["found"].height > 0
    assert reader.names["audit"].page.is_file()


def shown(notebook: Any) -> list[str]:
    """The results of the cells as text; lines of progress hold the time and are left out."""
    return [
        output.data["text/plain"]
        for cell in notebook.cells
        for output in cell.get("outputs", ())
        if output.output_type == "execute_result"
    ]


@pytest.mark.parametrize("path", notebooks(), ids=lambda path: path.stem)
def test_a_notebook_gives_the_same_results_again(path: Path) -> None:
    kept = nbformat.v4.reads(path.read_text(encoding="utf-8"))  # type: ignore[no-untyped-call]
    again = executed(path)
    now, then = shown(again), shown(kept)
    assert len(now) == len(then), "out of date; run: python -m docs.run_notebooks"
    parted = [found for old, new in zip(then, now, strict=True) if (found := first_difference(old, new))]
    assert not parted, f"out of date; run: python -m docs.run_notebooks\n{parted[0]}"
    progress = [
        output for cell in again.cells for output in cell.get("outputs", ()) if output.output_type == "display_data"
    ]
    assert progress[0].data["text/plain"].startswith("editing   48/48 steps · 6/6 chains")
    assert "<progress" in progress[0].data["text/html"]


def test_the_notebook_is_small_and_names_nobodys_folders() -> None:
    for path in notebooks():
        text = path.read_text(encoding="utf-8")
        assert len(text) < 400_000
        assert str(Path.home()) not in text
        assert str(ROOT) not in text
