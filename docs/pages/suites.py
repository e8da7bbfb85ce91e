"""`docs/reference/suites.md`: what is in each shipped suite, from its manifest (nothing is drawn)."""

from __future__ import annotations

from collections import Counter

from convergebench.documents import read_document
from convergebench.images._table import TABLE
from convergebench.images.manifest import FileRow, ManifestFile, PackageRow, RecipeRow
from convergebench.images.shipped import DATA
from convergebench.registry import load
from docs.pages.markdown import cell, code, first_line, table

HEAD = """# Suites

A suite is a name of this page, a folder of images, or a manifest (`.toml`). Drawn pictures are made on first use and
kept in a cache; photographs come from installed packages (`pip install 'convergebench[photos]'`). `cbench suite show
NAME` prints sizes as loaded; `cbench suite curate` makes a suite of your own ([tutorial](../tutorial.md)).
"""


def page() -> str:
    """One table a suite."""
    return "\n".join([HEAD, *map(_suite, TABLE)])


def _suite(name: str) -> str:
    manifest = read_document(DATA / f"{name}.toml", ManifestFile)
    kinds = Counter(row.kind for row in manifest.image)
    counts = ", ".join(f"{number} {kind}" for kind, number in kinds.items())
    rows = table(["image", "kind", "made of", "size", "licence"], (_row(row) for row in manifest.image))
    return (
        f"## {name}\n\n{first_line(load('suites', name).__doc__)}\n\n{len(manifest.image)} images: {counts}.\n\n{rows}"
    )


def _row(row: FileRow | PackageRow | RecipeRow) -> list[str]:
    if isinstance(row, RecipeRow):
        return [code(row.id), row.kind, f"drawn: {row.recipe}, seed {row.seed}", f"{row.width}×{row.height}", "CC0-1.0"]
    if isinstance(row, PackageRow):
        size = f"at most {row.long_side} long" if row.long_side else "as shipped"
        return [code(row.id), row.kind, cell(row.source), size, row.licence]
    return [code(row.id), row.kind, cell(row.source), "as stored", row.licence]
