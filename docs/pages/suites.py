"""`docs/reference/suites.md`: what is in each shipped suite, from its manifest."""

from __future__ import annotations

from collections import Counter

from convergebench.documents import read_document
from convergebench.images import probe
from convergebench.images._table import TABLE
from convergebench.images.manifest import FileRow, ManifestFile, PackageRow
from convergebench.images.shipped import DATA
from convergebench.registry import load
from docs.pages.markdown import cell, code, first_line, table

HEAD = """# Suites

A suite is a name of this page, a folder of images, or a manifest (`.toml`). Most images come with the package as files;
those "as shipped" come from other installed packages (`pip install 'convergebench[photos]'`). Images whose source says
`drawn` were drawn by the project, with a renderer that is no longer part of the package. `cbench suite show NAME`
prints sizes as loaded; `cbench suite curate` makes a suite of your own ([tutorial](../tutorial.md)).
"""


def page() -> str:
    """One table a suite."""
    return "\n".join([HEAD, *map(_suite, TABLE)])


def _suite(name: str) -> str:
    manifest = read_document(DATA / f"{name}.toml", ManifestFile)
    kinds = Counter(row.kind for row in manifest.image)
    counts = ", ".join(f"{number} {kind}" for kind, number in kinds.items())
    rows = table(["image", "kind", "source", "size", "licence"], (_row(row) for row in manifest.image))
    return (
        f"## {name}\n\n{first_line(load('suites', name).__doc__)}\n\n{len(manifest.image)} images: {counts}.\n\n{rows}"
    )


def _row(row: FileRow | PackageRow) -> list[str]:
    size = "as shipped"
    if isinstance(row, FileRow):
        facts = probe(row.locate(DATA).read_bytes(), what=row.id)
        size = f"{facts.width}×{facts.height}"
    return [code(row.id), row.kind, cell(row.source), size, row.licence]
