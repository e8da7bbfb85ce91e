"""Execute the notebooks of docs/notebooks again and keep their outputs.

python -m docs.run_notebooks
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from typing import Any

import nbformat.v4
from nbclient import NotebookClient

FOLDER = Path(__file__).resolve().parent / "notebooks"
SECONDS = 300
"""A cell that takes longer is an error."""


def notebooks() -> list[Path]:
    """Every notebook of the documentation."""
    return sorted(FOLDER.glob("*.ipynb"))


def executed(path: Path) -> Any:
    """The notebook with fresh outputs, run in an empty folder; a cell that fails raises."""
    notebook: Any = nbformat.v4.reads(path.read_text(encoding="utf-8"))  # type: ignore[no-untyped-call]
    with tempfile.TemporaryDirectory() as folder:
        NotebookClient(
            notebook, timeout=SECONDS, kernel_name="python3", resources={"metadata": {"path": folder}}
        ).execute()
    for cell in notebook.cells:
        cell.metadata.clear()  # when each cell began and ended is of no use to a reader
        for output in cell.get("outputs", ()):
            if "image/jpeg" in output.get("data", {}):  # PIL gives both; the PNG is four times as large
                output.data.pop("image/png", None)
    notebook.metadata.clear()
    notebook.metadata["language_info"] = {"name": "python"}
    return notebook


def main() -> None:
    """The command."""
    for path in notebooks():
        text = nbformat.v4.writes(executed(path))  # type: ignore[no-untyped-call]
        path.write_text(text + "\n", encoding="utf-8")
        sys.stdout.write(f"{path}\n")


if __name__ == "__main__":
    main()
