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
        place(out / path, data)
        facts = {"id": image.id, "kind": image.kind, "licence": image.licence, "source": image.source}
        tables.append(toml_table("[[image]]", {**facts, "sha256": image.sha256, "path": path}))
    place(manifest, "\n".join(tables).encode())
    return manifest


def place(path: Path, data: bytes) -> None:
    """Write a file, whole or not at all, and never over one that is not the same."""
    if path.is_symlink() or path.exists():
        if path.is_file() and path.read_bytes() == data:
            return
        raise StudyError(f"{path} is already there and is another file; choose another --out")
    part = path.with_name(f".{path.name}.writing")
    part.write_bytes(data)
    part.replace(path)
