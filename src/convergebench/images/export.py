"""Export a suite as files with a locked manifest, to view, to share, or to run elsewhere byte for byte."""

from __future__ import annotations

from pathlib import Path

from convergebench.documents import toml_table
from convergebench.errors import StudyError
from convergebench.ids import canonical
from convergebench.images.decode import probe
from convergebench.images.suite import Suite
from convergebench.types import SourceImage

_SUFFIXES = {"image/jpeg": "jpg", "image/tiff": "tif"}


def export_suite(suite: Suite, out: Path) -> Path:
    """Write every image and `suite.toml` into a new folder; returns the manifest's path."""
    manifest = out / "suite.toml"
    if manifest.exists():
        raise StudyError(f"{manifest} already exists; choose another --out")
    (out / "images").mkdir(parents=True, exist_ok=True)
    head = {"name": suite.name, **({"version": suite.version} if suite.version > 1 else {})}
    tables = ["\n".join(f"{key} = {canonical(value)}" for key, value in head.items()) + "\n"]
    for image in suite.images:
        data = image.read()
        path = file_name(image.id, probe(data, what=f"image '{image.id}'").mime)
        write_once(out / path, data)
        tables.append(image_table(image, path))
    write_once(manifest, "\n".join(tables).encode())
    return manifest


def image_table(image: SourceImage, path: str) -> str:
    """The image's table in a manifest; `path` is its file's."""
    facts = {"id": image.id, "kind": image.kind, "licence": image.licence, "source": image.source}
    told: dict[str, object] = {"title": image.title, "credit": image.credit}
    told |= {"holds": list(image.holds)} if image.holds is not None else {}
    told |= {"focus": list(image.focus)} if image.focus != (0.5, 0.5) else {}
    told |= {"clean": image.clean, "degradation": image.degradation}
    told = {name: value for name, value in told.items() if value != ""}
    return toml_table("[[image]]", {**facts, **told, "sha256": image.sha256, "path": path})


def file_name(id: str, mime: str) -> str:
    """Path of an image in a suite's folder, relative to the manifest."""
    return f"images/{id}.{_SUFFIXES.get(mime, mime.removeprefix('image/'))}"


def write_once(path: Path, data: bytes) -> None:
    """Write a file atomically; raises `StudyError` if a different one is already there."""
    if path.is_symlink() or path.exists():
        if path.is_file() and path.read_bytes() == data:
            return
        raise StudyError(f"{path} already exists and differs; choose another --out")
    part = path.with_name(f".{path.name}.writing")
    part.write_bytes(data)
    part.replace(path)
