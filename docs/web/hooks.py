"""Hooks of MkDocs: pages from the top of the repository, notebooks, drawings. See `mkdocs.yml`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File, Files, InclusionLevel

ROOT = Path(__file__).resolve().parents[2]
if str(ROOT) not in sys.path:
    sys.path.insert(0, str(ROOT))

from docs.web import drawing, markdown, notebook, repository  # noqa: E402


def on_config(config: Any) -> Any:
    """List the design notes under the headings that `docs/design/README.md` gives them."""
    (notes,) = [entry for entry in config.nav if "Design notes" in entry]
    notes["Design notes"] += repository.design_notes()
    return config


def on_files(files: Files, config: Any) -> Files:
    """Add the pages whose text is not in `docs/`."""
    for file, page in repository.TOP.items():
        files.append(File.generated(config, page, content=(ROOT / file).read_text(encoding="utf-8")))
    for path in sorted((ROOT / "docs" / "notebooks").glob("*.ipynb")):
        text, pictures = notebook.page(path)
        files.append(File.generated(config, f"notebooks/{path.stem}.md", content=text))
        for name, content in pictures.items():
            files.append(File.generated(config, f"notebooks/{name}", content=content))
    for file in repository.linked_files():
        shown = repository.as_page(file)
        files.append(File.generated(config, repository.place(file), content=shown, inclusion=InclusionLevel.NOT_IN_NAV))
    return files


def on_page_markdown(text: str, page: Any, **_: Any) -> str:
    """The page as Python-Markdown reads it right, with links that work on the site."""
    source = page.file.src_uri
    if source.startswith("repository/"):
        return text
    text = markdown.titled(repository.relinked(drawing.drawn(text), source))
    return markdown.spaced(text)
