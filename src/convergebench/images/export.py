"""A suite written out as files with a locked manifest, to look at, to share, to run elsewhere byte for byte."""

from __future__ import annotations

from pathlib import Path

from convergebench.documents import toml_table
from convergebench.errors import StudyError
from convergebench.ids import canonical
from convergebench.images.decode import probe
from convergebench.images.suite import Suite

SUFFIXES = {"image/jpeg": "jpg", "image/tiff": "tif"}


def export_suite(suite: Suite, out: Path) -> Path:
    """Write every image and `suite.toml` into a new folder; returns the manifest's path."""
    manifest = out / "suite.toml"
    if manifest.exists():
        raise StudyError(f"{manifest} is already there; choose another --out")
    (out / "images").mkdir(parents=True, exist_ok=True)
    tables = [f"name = {canonical(suite.name)}\n"]
    for image in suite.images:
        data = image.read()
        mime = probe(data, what=f"image '{image.id}'").mime
        path = f"images/{image.id}.{SUFFIXES.get(mime, mime.removeprefix('image/'))}"
        (out / path).write_bytes(data)
        facts = {"id": image.id, "kind": image.kind, "licence": image.licence, "source": image.source}
        tables.append(toml_table("[[image]]", {**facts, "sha256": image.sha256, "path": path}))
    manifest.write_text("\n".join(tables), encoding="utf-8")
    return manifest
