"""Finds weight files on this machine, and stores those that were fetched or added.

Searched in order: the folders in `$CONVERGEBENCH_WEIGHTS`, the store in the user's cache folder, installed packages
(read, never imported), and the hub's cache. A file counts only if it has the declared checksum; where none is declared,
the checksum of the first download is recorded beside the file and must stay.
"""

from __future__ import annotations

import errno
import importlib.metadata
import os
import shutil
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

from convergebench.errors import Prerequisite, StudyError
from convergebench.folders import cache_folder
from convergebench.ids import content_hash
from convergebench.weights.catalogue import Weight, WeightFile, find_weight
from convergebench.weights.checksums import sha256_of

SUMS = "SHA256SUMS"
"""Beside stored files: their checksums when they were added."""
SCRATCH_SECONDS = 7 * 24 * 3600.0
"""Seconds after which the scratch folder of a killed process is deleted."""


class FoundWeight(NamedTuple):
    """Where a weight was found."""

    path: Path
    """The file, or the folder when there are several."""
    place: str
    """`folder`, `store`, `package` or `hub cache`."""


def store_folder() -> Path:
    """The folder of fetched and added weights."""
    return cache_folder() / "weights"


def named_folders() -> list[Path]:
    """The folders in `$CONVERGEBENCH_WEIGHTS`, in order."""
    named = os.environ.get("CONVERGEBENCH_WEIGHTS", "")
    # not Path.expanduser, which raises for the home of an unknown user; such a folder simply does not exist
    return [Path(os.path.expanduser(one)) for one in named.split(os.pathsep) if one]  # noqa: PTH111


def locate(name: str) -> Path:
    """The verified file (or folder of files) of a weight, or a `Prerequisite` with the command that gets it."""
    weight = find_weight(name)
    found = search(weight)
    if found is None:
        raise Prerequisite(missing(weight))
    return found.path


def missing(weight: Weight) -> str:
    """The error message for a weight that is not on this machine."""
    others = mismatched(weight)
    other = f" ({others[0]} exists, but is a different file: its checksum differs)" if others else ""
    return f"the weights '{weight.name}' are not here{other}; type: {how_to_get(weight)}"


def how_to_get(weight: Weight) -> str:
    """The command that gets a weight."""
    return f"cbench weights fetch {weight.name}" if weight.sources else f"cbench weights add {weight.name} PATH"


def mismatched(weight: Weight) -> list[Path]:
    """Files with the name of a file of this weight, but another checksum."""
    return [path for path, file, sums in _candidates(weight) if path.is_file() and not _matches(path, file, sums)]


def incomplete(weight: Weight) -> list[Path]:
    """Files that are missing from folders that hold other files of this weight."""
    absent: dict[Path, list[Path]] = {}
    for path, file, _ in _candidates(weight):
        folder = Path(str(path).removesuffix(file.path))
        if folder.is_dir() and not path.is_file():
            absent.setdefault(folder, []).append(path)
    return [path for paths in absent.values() if len(paths) < len(weight.files) for path in paths]


def search(weight: Weight) -> FoundWeight | None:
    """The first place that has every file of the weight, intact."""
    for folder in named_folders():
        found = _in_folder(folder, weight)
        if found is not None:
            return FoundWeight(found, "folder")
    kept = store_folder() / weight.name
    if all(_matches(kept / file.path, file, _sums(kept)) for file in weight.files):
        return FoundWeight(_path(kept, weight), "store")
    return _in_packages(weight) or _in_hub_cache(weight)


def identity(name: str) -> str:
    """A hash of a weight's checksums, declared or of the files on this machine; `unknown` without either."""
    weight = find_weight(name)
    sums = [file.sha256 for file in weight.files]
    if not all(sums):
        found = search(weight)
        if found is None:
            return "unknown"
        base = found.path if len(weight.files) > 1 else found.path.parent
        names = [file.path for file in weight.files] if len(weight.files) > 1 else [found.path.name]
        sums = [sha256_of(base / one) for one in names]
    return content_hash(sums)


def add_to_store(weight: Weight, files: Mapping[str, Path]) -> Path:
    """Verify these files and move them into the store together; nothing is stored if one is wrong."""
    for file in weight.files:
        path = files[file.path]
        if not _matches(path, file):
            raise StudyError(
                f"{path} is not the file '{file.path}' of '{weight.name}': "
                f"sha256 {sha256_of(path)[:12]}… instead of {file.sha256[:12]}…; nothing was kept"
            )
    with scratch_folder() as scratch:
        staged = scratch / weight.name
        for file in weight.files:
            target = staged / file.path
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(files[file.path], target)
        lines = [f"{sha256_of(staged / file.path)}  {file.path}\n" for file in weight.files]
        (staged / SUMS).write_text("".join(lines), encoding="utf-8")
        final = store_folder() / weight.name
        _move_into_place(staged, final, scratch)
    return _path(final, weight)


@contextmanager
def scratch_folder() -> Iterator[Path]:
    """A temporary folder in the store; deleted afterwards, or by a later call if this process is killed."""
    root = store_folder()
    root.mkdir(parents=True, exist_ok=True)
    for old in root.glob(".arriving-*"):
        with suppress(OSError):
            if time.time() - old.stat().st_mtime > SCRATCH_SECONDS:
                shutil.rmtree(old, ignore_errors=True)
    with tempfile.TemporaryDirectory(dir=root, prefix=".arriving-", ignore_cleanup_errors=True) as scratch:
        yield Path(scratch)


def _move_into_place(staged: Path, final: Path, scratch: Path) -> None:
    """Move a folder to its place and replace any folder there, even one that another process has just put there."""
    for attempt in range(100):
        try:
            staged.rename(final)
        except OSError as error:
            if error.errno not in (errno.ENOTEMPTY, errno.EEXIST, errno.ENOTDIR):
                raise
            with suppress(FileNotFoundError):  # the other process has moved it meanwhile
                final.rename(scratch / f"before-{attempt}")
        else:
            return
    raise StudyError(f"{final} is being written by other processes; try again later")


def match_files(weight: Weight, path: Path) -> dict[str, Path]:
    """Match the files at a path that the user gave to the files of the weight."""
    if path.is_file():
        if len(weight.files) > 1:
            raise StudyError(f"'{weight.name}' has {len(weight.files)} files; give the folder that contains them")
        return {weight.files[0].path: path}
    if not path.is_dir():
        raise StudyError(f"there is nothing at {path}")
    found = {}
    for file in weight.files:
        matches = [one for one in _possible_paths(path, file) if one.is_file()]
        if not matches:
            raise StudyError(f"{path} has no file '{file.path}', which '{weight.name}' needs")
        found[file.path] = next((one for one in matches if _matches(one, file)), matches[0])
    return found


def _matches(path: Path, file: WeightFile, sums: Mapping[str, str] | None = None) -> bool:
    """Whether the path holds this file; without a declared checksum, the recorded one decides."""
    if not path.is_file():
        return False
    expected = file.sha256 or (sums or {}).get(file.path, "")
    if file.sha256 and file.size and path.stat().st_size != file.size:
        return False
    return not expected or sha256_of(path) == expected


def _sums(folder: Path) -> dict[str, str]:
    path = folder / SUMS
    if not path.is_file():
        return {}
    lines = path.read_text(encoding="utf-8").splitlines()
    return {name: checksum for checksum, _, name in (line.partition("  ") for line in lines)}


def _path(folder: Path, weight: Weight) -> Path:
    return folder / weight.files[0].path if len(weight.files) == 1 else folder


def _possible_paths(folder: Path, file: WeightFile) -> list[Path]:
    return [folder / file.path, folder / Path(file.path).name]


def _candidates(weight: Weight) -> Iterator[tuple[Path, WeightFile, Mapping[str, str]]]:
    for folder in [*named_folders(), store_folder()]:
        sums = _sums(folder / weight.name)
        for file in weight.files:
            yield folder / weight.name / file.path, file, sums


def _in_folder(folder: Path, weight: Weight) -> Path | None:
    own = folder / weight.name
    for base in (own, folder):
        if all(_matches(base / file.path, file, _sums(base)) for file in weight.files):
            return _path(base, weight)
    if len(weight.files) == 1:
        return _by_checksum(folder, weight.files[0])
    return None


def _by_checksum(folder: Path, file: WeightFile) -> Path | None:
    """A file of any name with the declared size and checksum."""
    if not file.sha256 or not file.size or not folder.is_dir():
        return None
    same_size = (path for path in sorted(folder.iterdir()) if path.is_file() and path.stat().st_size == file.size)
    return next((path for path in same_size if _matches(path, file)), None)


def _in_packages(weight: Weight) -> FoundWeight | None:
    for source in weight.sources:
        if not source.package:
            continue
        try:
            installed = importlib.metadata.distribution(source.package)
        except importlib.metadata.PackageNotFoundError:
            continue
        if any(len(parts) != 1 for parts in source.parts):
            continue  # cut up in the package: whole only in the store
        paths = [Path(str(installed.locate_file(member))) for (member,) in source.parts]
        if all(_matches(path, file) for path, file in zip(paths, weight.files, strict=True)):
            if len(paths) == 1:
                return FoundWeight(paths[0], "package")
            bases = {
                path.as_posix().removesuffix(f"/{file.path}") for path, file in zip(paths, weight.files, strict=True)
            }
            if len(bases) == 1:
                return FoundWeight(Path(bases.pop()), "package")
    return None


def _in_hub_cache(weight: Weight) -> FoundWeight | None:
    sources = [source for source in weight.sources if source.hub]
    if not sources:
        return None
    try:
        from huggingface_hub import try_to_load_from_cache
    except ImportError:
        return None
    for source in sources:
        paths = []
        for (member,) in source.parts:
            path = try_to_load_from_cache(source.hub, member, revision=source.revision or None)
            paths.append(Path(path) if isinstance(path, str) else None)
        if all(path and _matches(path, file) for path, file in zip(paths, weight.files, strict=True)):
            first = paths[0]
            assert first is not None
            base = first if len(paths) == 1 else Path(str(first).removesuffix(weight.files[0].path))
            if all((base / file.path).is_file() for file in weight.files[1:]):
                return FoundWeight(base, "hub cache")
    return None
