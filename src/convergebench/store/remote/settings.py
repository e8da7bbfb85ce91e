"""`RUN/store.json`: where a run's images are kept besides the folder. A run without this file is all in its folder."""

from __future__ import annotations

import json
import os
import secrets
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from convergebench.errors import StudyError
from convergebench.store.images import STORE, write_synced
from convergebench.store.remote.address import StoreAddress, confirm, is_confirmed, parse_address
from convergebench.store.remote.files import RemoteFiles, StoreError
from convergebench.texts import short_line

FILE = STORE
MARK = "store.json"
"""The object at the URL that says whose images these are; one URL belongs to one run."""
FORMAT = 1
_MB = 1_000_000


@dataclass(frozen=True)
class StoreSettings:
    """The content of `store.json`."""

    url: str
    id: str
    """Also in the object `store.json` at the URL: a folder and a URL that do not belong together are noticed."""
    writer: str = ""
    """Under which name this folder backs up its journal; empty: it never has."""
    cache_mb: int | None = None
    """Most megabytes of images in the folder; None: all stay."""
    format: int = FORMAT

    @property
    def address(self) -> StoreAddress:
        """The URL, checked again: the file may have been written by anybody."""
        return parse_address(self.url, FILE)

    @property
    def cache_bytes(self) -> int | None:
        """The limit in bytes."""
        return None if self.cache_mb is None else self.cache_mb * _MB


def has_store(root: Path) -> bool:
    """Whether a run's images are kept at a URL too."""
    return (root / FILE).is_file()


def read_settings(root: Path) -> StoreSettings | None:
    """What `store.json` says; None without one. `StudyError` if it is damaged."""
    path = root / FILE
    if not path.is_file():
        return None
    cure = f"restore it from a copy, or remove it and type: cbench backup {root} --store URL"
    try:
        content = json.loads(path.read_bytes())
        if content.get("format", 0) > FORMAT:
            raise StudyError(f"{path} was written by a newer convergebench; upgrade with: pip install -U convergebench")
        found = StoreSettings(**content)
        whole = found.cache_mb is None or (isinstance(found.cache_mb, int) and found.cache_mb >= 0)
        if not whole or not all(isinstance(one, str) for one in (found.url, found.id, found.writer)):
            raise ValueError("a value has the wrong type")
    except (OSError, ValueError, TypeError, AttributeError, RecursionError) as error:
        raise StudyError(f"{path} is damaged ({short_line(error)}); {cure}") from error
    return found


def write_settings(root: Path, settings: StoreSettings) -> None:
    """Replace the file atomically."""
    write_synced(root / FILE, json.dumps(asdict(settings), indent=1).encode())


def require_confirmed(root: Path, settings: StoreSettings) -> StoreAddress:
    """The address of a run's store, if the user ever typed it; a run that came by mail must not choose it."""
    address = settings.address
    if not is_confirmed(address):
        raise StoreError(
            f"{root} says that its images are at {address.url}, which was never typed on this computer; if you trust "
            f"it, type: cbench verify {root} --store {address.url}",
            final=True,
        )
    return address


def confirm_typed(root: Path, typed: str) -> None:
    """`--store` for a run that has one: it must be the same, and is then confirmed on this computer."""
    address, settings = parse_address(typed), read_settings(root)
    if settings is None:
        raise StudyError(f"{root} has no store; to copy it to one, type: cbench backup {root} --store {address.url}")
    if settings.address.url != address.url:
        raise StudyError(f"{root} has its images at {settings.address.url}, not at {address.url}; leave --store out")
    confirm(address)


def attach(root: Path, typed: str, *, name: str, cache_mb: int | None = None) -> StoreSettings:
    """Keep this run's images at the URL from now on; a URL that has another run's is refused.

    For a run that has this store already, only the limit of its cache is changed.
    """
    address, before = parse_address(typed), read_settings(root)
    if before is not None:
        confirm_typed(root, typed)
        settings = before if cache_mb is None else replace(before, cache_mb=cache_mb)
    else:
        _require_apart(root, address)
        settings = StoreSettings(address.url, _marked(RemoteFiles(address), name), cache_mb=cache_mb)
        confirm(address)
    if settings != before:
        write_settings(root, settings)
    return settings


def require_attachable(root: Path, typed: str) -> None:
    """`StudyError` if `attach` would refuse this URL, or nothing can be written there; the folder is not touched."""
    address = parse_address(typed)
    if read_settings(root) is not None:
        confirm_typed(root, typed)
        return
    _require_apart(root, address)
    _marked(RemoteFiles(address), root.name)


def _require_apart(root: Path, address: StoreAddress) -> None:
    folder, run = address.folder, Path(os.path.realpath(root))
    if folder is not None and (
        run == (there := Path(os.path.realpath(folder))) or run in there.parents or there in run.parents
    ):
        raise StudyError(f"--store {address.url} and {root} are one inside the other; name a folder elsewhere")


def _marked(files: RemoteFiles, name: str) -> str:
    """Claim an unused URL; returns its id. One that was claimed and has nothing else yet is unused."""
    mark = read_mark(files)
    if mark is not None and files.sizes().keys() == {MARK}:
        return str(mark["id"])
    _require_unused(files, mark)
    identity = secrets.token_hex(16)
    files.write(MARK, json.dumps({"format": FORMAT, "id": identity, "run": name}).encode())
    return identity


def _require_unused(files: RemoteFiles, mark: dict[str, object] | None) -> None:
    url = files.address.url
    if mark is not None:
        raise StudyError(
            f"{url} has the images of another run, '{short_line(mark.get('run', ''))}'; name an unused prefix, or get "
            f"that run with: cbench recover {url} --run FOLDER"
        )
    if not files.is_empty():
        raise StudyError(f"{url} is not empty and is not a store; name an unused prefix")


def read_mark(files: RemoteFiles) -> dict[str, object] | None:
    """What the store says of itself; None if it is none."""
    data = files.read(MARK)
    if data is None:
        return None
    try:
        content = json.loads(data)
        if isinstance(content, dict) and isinstance(content.get("id"), str) and isinstance(content.get("format"), int):
            if content["format"] > FORMAT:
                raise StudyError(
                    f"{files.address.url} was written by a newer convergebench; type: pip install -U convergebench"
                )
            return content
    except ValueError:
        pass
    raise StoreError(f"{files.address.url}/{MARK} is damaged or was not written by convergebench", final=True)
