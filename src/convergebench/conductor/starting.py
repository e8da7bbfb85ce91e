"""A folder to start from: a study file, an editor, pictures and pairs that run as they are."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Mapping
from pathlib import Path

from convergebench.errors import StudyError
from convergebench.images.suite import load_suite
from convergebench.registry import suggest
from convergebench.sheets import csv_line
from convergebench.types import SourceImage

TEMPLATES = Path(__file__).parent / "templates"
STUDIES = ("roundtrip", "replicate", "audit", "factory", "restoration")
PICTURES = ("coffee-cup", "museum-hall")
"""Of the suite `quick`; both are CC0."""


def lay_out(folder: Path, study: str = "roundtrip") -> list[str]:
    """Write a study into a new or empty folder; the names of its files. All is written, or nothing.

    Everything is made in a hidden folder beside it, which then takes its place.
    """
    if study not in STUDIES:
        raise StudyError(f"--study {study}: no such start{suggest(study, STUDIES)} (there are: {', '.join(STUDIES)})")
    _require_free(folder)
    files = _files(study)
    target = folder.absolute()
    target.parent.mkdir(parents=True, exist_ok=True)
    beside = Path(tempfile.mkdtemp(prefix=f".{target.name}-", dir=target.parent))
    try:
        for name, content in files.items():
            path = beside / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
        _put(beside, target)
    except OSError as error:
        raise StudyError(f"{folder} cannot be written: {error.strerror or error}") from error
    finally:
        shutil.rmtree(beside, ignore_errors=True)
    return list(files)


def _put(made: Path, target: Path) -> None:
    """Rename the folder; into a folder that is there (it may be where the user is) its content, all of it or none."""
    made.chmod(0o777 & ~_umask())  # mkdtemp's folders are for their owner alone
    if not target.is_dir():
        made.rename(target)
        return
    moved: list[Path] = []
    try:
        for path in sorted(made.iterdir()):
            moved.append(path.rename(target / path.name))
    except BaseException:
        for path in moved:
            path.rename(made / path.name)
        raise


def _require_free(folder: Path) -> None:
    try:
        if folder.is_dir() and not folder.is_symlink():
            if any(folder.iterdir()):
                raise StudyError(f"{folder} is not empty; name a new folder, e.g. {_other_name(folder)}")
        elif folder.exists() or folder.is_symlink():
            raise StudyError(f"{folder} is a file or a link; name a new folder")
    except (OSError, ValueError) as error:
        raise StudyError(f"{str(folder)!a} cannot be used: {getattr(error, 'strerror', None) or error}") from error


def _other_name(folder: Path) -> str:
    name = folder.resolve().name or "study"
    number = next(n for n in range(2, 10_000) if not folder.resolve().with_name(f"{name}-{n}").exists())
    return f"{name}-{number}" if str(folder) == "." else str(folder.with_name(f"{name}-{number}"))


def _files(study: str) -> Mapping[str, bytes]:
    pictures = _pictures()
    pairs = {"pairs.toml": (TEMPLATES / "pairs.toml").read_bytes()} if study == "roundtrip" else {}
    readme = (TEMPLATES / "README.md").read_text(encoding="utf-8").format(
        study=study, pairs=", `pairs.toml` (the edits)" if pairs else "", credits=_credits(pictures)
    )  # fmt: skip
    return {
        "README.md": readme.encode(),
        "study.toml": (TEMPLATES / f"{study}.toml").read_bytes(),
        **pairs,
        "editor.py": (TEMPLATES / "editor.py.txt").read_bytes(),
        "images/kinds.csv": _sheet(pictures),
        **{f"images/{image.id}.png": image.read() for image in pictures},
    }


def _pictures() -> list[SourceImage]:
    found = {image.id: image for image in load_suite("quick").images}
    return [found[name] for name in PICTURES]


def _sheet(pictures: list[SourceImage]) -> bytes:
    """What `images/kinds.csv` says of each picture: the columns that a folder of images may have."""
    lines = [csv_line(["file", "kind", "title", "holds", "licence", "credit"])]
    for image in pictures:
        holds = "; ".join(image.holds or ())
        lines.append(csv_line([f"{image.id}.png", image.kind, image.title, holds, image.licence, image.credit]))
    return "".join(lines).encode()


def _credits(pictures: list[SourceImage]) -> str:
    return "; ".join(f"`{image.id}.png` ({image.licence}; {image.credit or image.source})" for image in pictures)


def _umask() -> int:
    now = os.umask(0)
    os.umask(now)
    return now
