"""A notebook with its outputs as a page."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

_PICTURES = {"image/png": "png", "image/jpeg": "jpg"}


def page(path: Path) -> tuple[str, dict[str, bytes]]:
    """The page, and by name the pictures that it shows."""
    pictures: dict[str, bytes] = {}
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    first, *rest = [part for cell in cells for part in _cell(cell, path.stem, pictures)]
    download = f'<p><a href="../{path.name}" download>Download this notebook</a></p>'
    return "\n\n".join([first, download, *rest]) + "\n", pictures


def _cell(cell: dict[str, Any], stem: str, pictures: dict[str, bytes]) -> Iterator[str]:
    source = "".join(cell["source"])
    if cell["cell_type"] == "markdown":
        yield source
        return
    yield f"```python\n{source}\n```"
    for output in cell["outputs"]:
        data = output.get("data", {})
        for kind, suffix in _PICTURES.items():
            if kind in data:
                name = f"{stem}-{len(pictures) + 1}.{suffix}"
                pictures[name] = base64.b64decode("".join(data[kind]))
                yield f"![Output of the code above]({name})"
                break
        else:
            if output["output_type"] == "execute_result":
                yield f"```text\n{''.join(data['text/plain'])}\n```"
