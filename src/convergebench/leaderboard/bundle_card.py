"""`README.md` of a bundle: what it is, how to check it, and under which licences its images are."""

from __future__ import annotations

from typing import Any

from convergebench.datasets.licences import read_licence
from convergebench.datasets.record import licence_of
from convergebench.datasets.sheet import as_text
from convergebench.store.manifest import Manifest
from convergebench.texts import plain_line

_TEXT = """# Result bundle: {study} on {suite}

Made by `cbench submit` of convergebench {package}. Check it with `cbench leaderboard check FILE`.

- study: {study}, {rounds} rounds, alignment {align}
- suite: {suite}, {images} images ({hash})
- edits: {edits}
- editors: {editors}
- submitted by: {submitter}

| member | what it holds |
| --- | --- |
| `bundle.json`, `manifest.json` | what was run, without paths, keys and addresses |
| `tables/*.jsonl` | rows of the run's journal, one JSON object per line; every number is computed from them again |
| `chain.json` | the hash chain over all rows |
| `images/` | images of a few chains, chosen by the head of the chain |
| `checksums.sha256` | SHA-256 of every member (`sha256sum -c`) |
| `signature.json` | Ed25519 signature over head and checksums, if signed |

## Licences

{licence}

| licence of the source images | images | meaning |
| --- | --- | --- |
{licences}

Images of sources whose licence restricts derived works are left out. Edited images are made by the models listed above;
their terms of use apply.
"""


def bundle_card(about: dict[str, Any], manifest: Manifest) -> str:
    """The card as Markdown."""
    counts: dict[str, int] = {}
    for source in manifest.sources:
        licence = licence_of(manifest, source)
        counts[licence] = counts.get(licence, 0) + 1
    rows = [f"| {_cell(text)} | {count} | {_meaning(text)} |" for text, count in sorted(counts.items())]
    submitter = about["submitter"]
    return _TEXT.format(
        study=_cell(about["study"]),
        suite=_cell(about["suite"]["name"]),
        images=about["suite"]["images"],
        hash=about["suite"]["hash"],
        package=_cell(about["package"]),
        rounds=about["rounds"],
        align=_cell(about["align"]),
        edits=_cell(", ".join(about["edits"]["labels"])),
        editors=_cell(
            ", ".join(name + (" (simulated)" if one["simulated"] else "") for name, one in about["editors"].items())
        ),
        submitter=_cell(", ".join(submitter.values()) or "not stated"),
        licence=about["licence"],
        licences="\n".join(rows),
    )


def _meaning(text: str) -> str:
    licence = read_licence(text)
    if licence.unstated:
        return "not stated: the submitter answers for the right to publish these images"
    if licence.restricted:
        return "restricted: no image of these is in the bundle"
    return f"free to share under its terms: {_cell(licence.address)}" if licence.understood else "read it before use"


def _cell(text: str) -> str:
    return as_text(plain_line(str(text))[:400]).replace("|", "\\|")
