"""Finding weight files on this machine, and keeping those that were fetched or added.

Places, in order: the folders in `$CONVERGEBENCH_WEIGHTS`, the store in the user's cache folder, packages that happen to
be installed (looked into, never imported), and the hub's own cache. A file counts only if its checksum is the declared
one; where none is declared, the checksum of its first arrival is recorded beside it and must stay.
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
"""Beside kept files: what each held when it arrived."""
LEFTOVER = 7 * 24 * 3600.0
"""Seconds after which what a killed process left half done is thrown away."""


class Found(NamedTuple):
    """Where a weight lies and how it got there."""

    path: Path
    """The file, or the folder when there are several."""
    place: str
    """`folder`, `store`, `package` or `hub cache`."""


def store_folder() -> Path:
    """Where fetched and added weights are kept."""
    return cache_folder() / "weights"


def named_folders() -> list[Path]:
    """The folders a person named, first one first."""
    named = os.environ.get("CONVERGEBENCH_WEIGHTS", "")
    # not Path.expanduser, which raises for the home of somebody unknown; such a folder is merely not there
    return [Path(os.path.expanduser(one)) for one in named.split(os.pathsep) if one]  # noqa: PTH111


def locate(name: str) -> Path:
    """The verified file (or folder of files) of a weight, or one line with the command that gets it."""
    weight = find_weight(name)
    found = search(weight)
    if found is None:
        raise Prerequisite(missing(weight))
    return found.path


def missing(weight: Weight) -> str:
    """What to say when it is not here."""
    others = spoilt(weight)
    other = f" ({others[0]} is there, but is another file: its checksum differs)" if others else ""
    return f"the weights '{weight.name}' are not here{other}; type: {how_to_get(weight)}"


def how_to_get(weight: Weight) -> str:
    """The command to type."""
    return f"cbench weights fetch {weight.name}" if weight.sources else f"cbench weights add {weight.name} PATH"


def spoilt(weight: Weight) -> list[Path]:
    """Files that have a name of this weight's and hold something else."""
    return [path for path, file, sums in _candidates(weight) if path.is_file() and not _is(path, file, sums)]


def incomplete(weight: Weight) -> list[Path]:
    """Files that should be beside others of this weight's and are not there."""
    lost: dict[Path, list[Path]] = {}
    for path, file, _ in _candidates(weight):
        folder = Path(str(path).removesuffix(file.path))
        if folder.is_dir() and not path.is_file():
            lost.setdefault(folder, []).append(path)
    return [path for paths in lost.values() if len(paths) < len(weight.files) for path in paths]


def search(weight: Weight) -> Found | None:
    """The first place that has every file of it, whole."""
    for folder in named_folders():
        found = _in_folder(folder, weight)
        if found is not None:
            return Found(found, "folder")
    kept = store_folder() / weight.name
    if all(_is(kept / file.path, file, _sums(kept)) for file in weight.files):
        return Found(_path(kept, weight), "store")
    return _in_packages(weight) or _in_hub_cache(weight)


def identity(name: str) -> str:
    """One word for what is in a weight's files: declared checksums, or those of the files that are here."""
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


def keep(weight: Weight, files: Mapping[str, Path]) -> Path:
    """Check these files, then put them into the store all at once; nothing is left behind if one is wrong."""
    for file in weight.files:
        path = files[file.path]
        if not _is(path, file):
            raise StudyError(
                f"{path} is not the file '{file.path}' of '{weight.name}': "
                f"sha256 {sha256_of(path)[:12]}… instead of {file.sha256[:12]}…; nothing was kept"
            )
    with scratch_folder() as scratch:
        arriving = scratch / weight.name
        for file in weight.files:
            target = arriving / file.path
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(files[file.path], target)
        lines = [f"{sha256_of(arriving / file.path)}  {file.path}\n" for file in weight.files]
        (arriving / SUMS).write_text("".join(lines), encoding="utf-8")
        final = store_folder() / weight.name
        _put(arriving, final, scratch)
    return _path(final, weight)


@contextmanager
def scratch_folder() -> Iterator[Path]:
    """A folder in the store for what is not whole yet; gone afterwards, or swept up later if this process is killed."""
    root = store_folder()
    root.mkdir(parents=True, exist_ok=True)
    for old in root.glob(".arriving-*"):
        with suppress(OSError):
            if time.time() - old.stat().st_mtime > LEFTOVER:
                shutil.rmtree(old, ignore_errors=True)
    with tempfile.TemporaryDirectory(dir=root, prefix=".arriving-", ignore_cleanup_errors=True) as scratch:
        yield Path(scratch)


def _put(arriving: Path, final: Path, scratch: Path) -> None:
    """Give a folder its place; whatever stands there, even what another process put there this moment, makes way."""
    for attempt in range(100):
        try:
            arriving.rename(final)
        except OSError as error:
            if error.errno not in (errno.ENOTEMPTY, errno.EEXIST, errno.ENOTDIR):
                raise
            with suppress(FileNotFoundError):  # the other process has moved it meanwhile
                final.rename(scratch / f"before-{attempt}")
        else:
            return
    raise StudyError(f"{final} is being written by others again and again; try later")


def gather(weight: Weight, path: Path) -> dict[str, Path]:
    """Which file below a path a person gave is which file of the weight."""
    if path.is_file():
        if len(weight.files) > 1:
            raise StudyError(f"'{weight.name}' has {len(weight.files)} files; give the folder that holds them")
        return {weight.files[0].path: path}
    if not path.is_dir():
        raise StudyError(f"there is nothing at {path}")
    found = {}
    for file in weight.files:
        matches = [one for one in _named(path, file) if one.is_file()]
        if not matches:
            raise StudyError(f"{path} has no file '{file.path}', which '{weight.name}' needs")
        found[file.path] = next((one for one in matches if _is(one, file)), matches[0])
    return found


def _is(path: Path, file: WeightFile, sums: Mapping[str, str] | None = None) -> bool:
    """Whether this is that file; one without a declared checksum must be what it was when it arrived."""
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


def _named(folder: Path, file: WeightFile) -> list[Path]:
    return [folder / file.path, folder / Path(file.path).name]


def _candidates(weight: Weight) -> Iterator[tuple[Path, WeightFile, Mapping[str, str]]]:
    for folder in [*named_folders(), store_folder()]:
        sums = _sums(folder / weight.name)
        for file in weight.files:
            yield folder / weight.name / file.path, file, sums


def _in_folder(folder: Path, weight: Weight) -> Path | None:
    own = folder / weight.name
    for base in (own, folder):
        if all(_is(base / file.path, file, _sums(base)) for file in weight.files):
            return _path(base, weight)
    if len(weight.files) == 1:
        return _by_checksum(folder, weight.files[0])
    return None


def _by_checksum(folder: Path, file: WeightFile) -> Path | None:
    """A file under another name, as long as it is known what to look for."""
    if not file.sha256 or not file.size or not folder.is_dir():
        return None
    alike = (path for path in sorted(folder.iterdir()) if path.is_file() and path.stat().st_size == file.size)
    return next((path for path in alike if _is(path, file)), None)


def _in_packages(weight: Weight) -> Found | None:
    for source in weight.sources:
        if not source.package:
            continue
        try:
            installed = importlib.metadata.distribution(source.package)
        except importlib.metadata.PackageNotFoundError:
            continue
        paths = [Path(str(installed.locate_file(member))) for member in source.members]
        if all(_is(path, file) for path, file in zip(paths, weight.files, strict=True)):
            if len(paths) == 1:
                return Found(paths[0], "package")
            bases = {
                path.as_posix().removesuffix(f"/{file.path}") for path, file in zip(paths, weight.files, strict=True)
            }
            if len(bases) == 1:
                return Found(Path(bases.pop()), "package")
    return None


def _in_hub_cache(weight: Weight) -> Found | None:
    sources = [source for source in weight.sources if source.hub]
    if not sources:
        return None
    try:
        from huggingface_hub import try_to_load_from_cache
    except ImportError:
        return None
    for source in sources:
        paths = []
        for member in source.members:
            path = try_to_load_from_cache(source.hub, member, revision=source.revision or None)
            paths.append(Path(path) if isinstance(path, str) else None)
        if all(path and _is(path, file) for path, file in zip(paths, weight.files, strict=True)):
            first = paths[0]
            assert first is not None
            base = first if len(paths) == 1 else Path(str(first).removesuffix(weight.files[0].path))
            if all((base / file.path).is_file() for file in weight.files[1:]):
                return Found(base, "hub cache")
    return None
