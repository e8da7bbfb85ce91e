"""Objects below a URL: read, written whole or not at all, listed, removed; every failure is an error of one line."""

from __future__ import annotations

import os
import secrets
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

from convergebench.errors import Prerequisite, StudyError
from convergebench.redaction import redact
from convergebench.store.images import write_synced
from convergebench.store.remote.address import LOCAL, StoreAddress
from convergebench.store.unfinished import PART
from convergebench.texts import short_line

T = TypeVar("T")

_WHOLE_PUTS = ("s3", "s3a", "gs", "gcs", "abfs", "abfss", "az", "adl", "oss", "oci", "memory")
"""Stores in which an object appears when it is complete; elsewhere a temporary file is renamed."""
_PACKAGES = {
    "s3": "'convergebench[s3]'", "s3a": "'convergebench[s3]'", "gs": "gcsfs", "gcs": "gcsfs", "abfs": "adlfs",
    "abfss": "adlfs", "az": "adlfs", "oss": "ossfs", "oci": "ocifs", "sftp": "paramiko", "ssh": "paramiko",
    "smb": "smbprotocol", "hdfs": "pyarrow", "hf": "huggingface_hub",
}  # fmt: skip
_FINAL = (PermissionError, FileNotFoundError, NotADirectoryError, IsADirectoryError, ValueError, TypeError)
_FINAL_NAMES = (
    "NoCredentialsError",
    "PartialCredentialsError",
    "ProfileNotFound",
    "TokenRetrievalError",
    "RefreshError",
)
"""Errors of client libraries that waiting does not cure."""


_READ_BY_CLIENTS = ("AWS_", "FSSPEC_", "GOOGLE_", "GCSFS_", "AZURE_")
"""Variables that client libraries read when they are opened: after a change they are opened anew."""
_SYSTEMS: dict[tuple[str, int, int], tuple[Any, str]] = {}
"""Opened file systems by URL, process and environment. They stay open: closing one from another thread is not safe."""
_LOCK = threading.Lock()


class StoreError(StudyError):
    """The store did not do what was asked; `final` if trying again will not help."""

    def __init__(self, message: str, *, final: bool = False) -> None:
        super().__init__(message)
        self.final = final

    def __reduce__(self) -> tuple[Callable[..., StoreError], tuple[str, bool]]:
        """For pickling: workers raise it in another process."""
        return _store_error, (str(self), self.final)


def _store_error(message: str, final: bool) -> StoreError:
    return StoreError(message, final=final)


class RemoteFiles:
    """Names below one address, such as `images/ab/cd.png`. Safe to call from any thread; each process has its own."""

    def __init__(self, address: StoreAddress) -> None:
        self.address = address

    def __reduce__(self) -> tuple[type[RemoteFiles], tuple[StoreAddress]]:
        """In a worker process: the same store, opened anew."""
        return RemoteFiles, (self.address,)

    def _system(self) -> tuple[Any, str]:
        settings = sorted((name, value) for name, value in os.environ.items() if name.startswith(_READ_BY_CLIENTS))
        key = (self.address.url, os.getpid(), hash(tuple(settings)))
        with _LOCK:
            if key not in _SYSTEMS:
                _SYSTEMS[key] = _opened(self.address)
            return _SYSTEMS[key]

    def _asked(self, what: str, work: Callable[[Any, str], T], missing: T | None = None) -> T | None:
        try:
            return work(*self._system())
        except FileNotFoundError as error:
            if what == "written":
                raise self._failed(what, error) from error
            return missing
        except (StoreError, Prerequisite):
            raise
        except Exception as error:
            raise self._failed(what, error) from error

    def _failed(self, what: str, error: Exception) -> StoreError:
        final = isinstance(error, _FINAL) or type(error).__name__ in _FINAL_NAMES
        reason = short_line(redact(" ".join(str(error).split())) or type(error).__name__)
        return StoreError(f"{self.address.url} cannot be {what}: {reason}", final=final)

    def read(self, name: str) -> bytes | None:
        """The whole object; None if there is none."""

        def work(system: Any, root: str) -> bytes:
            data: bytes = system.cat_file(f"{root}/{name}")
            return data

        return self._asked("read", work)

    def write(self, name: str, data: bytes) -> None:
        """Make or replace an object: readers see the old one or the new one, never a part."""

        def work(system: Any, root: str) -> None:
            path = f"{root}/{name}"
            if self.address.protocol in LOCAL:
                write_synced(Path(path), data)
            elif self.address.protocol in _WHOLE_PUTS:
                system.pipe_file(path, data)
            else:
                _renamed_into_place(system, path, data)

        self._asked("written", work)

    def size(self, name: str) -> int | None:
        """Bytes of an object; None if there is none."""

        def work(system: Any, root: str) -> int | None:
            found = system.info(f"{root}/{name}")
            return int(found["size"]) if found.get("type") == "file" else None

        return self._asked("read", work)

    def sizes(self, folder: str = "") -> dict[str, int]:
        """Every object below a folder, with its bytes."""

        def work(system: Any, root: str) -> dict[str, int]:
            start = f"{root}/{folder}".rstrip("/")
            found = system.find(start, detail=True)
            head = len(root.rstrip("/")) + 1
            return {path[head:]: int(facts["size"]) for path, facts in found.items() if path != start}

        return self._asked("read", work, {}) or {}

    def is_empty(self) -> bool:
        """Whether there is nothing at the address yet."""
        return not self._asked("read", lambda system, root: bool(system.ls(root, detail=False)), False)

    def remove(self, name: str) -> None:
        """Remove an object; one that is gone already is no error."""
        self._asked("changed", lambda system, root: system.rm_file(f"{root}/{name}"))


def _renamed_into_place(system: Any, path: str, data: bytes) -> None:
    folder, _, name = path.rpartition("/")
    system.makedirs(folder, exist_ok=True)
    part = f"{folder}/{PART}{secrets.token_hex(8)}"
    try:
        system.pipe_file(part, data)
        if system.info(part)["size"] != len(data):
            raise OSError(f"only a part of {name} arrived")
        if system.exists(path):  # not every system replaces a file by renaming
            system.rm_file(path)
        system.mv(part, path)
    except BaseException:
        if system.exists(part):
            system.rm_file(part)
        raise


def _opened(address: StoreAddress) -> tuple[Any, str]:
    """The file system and the path of the address in it."""
    import fsspec

    options = {"use_listings_cache": False, "skip_instance_cache": True}
    try:
        system, path = fsspec.core.url_to_fs(address.url, **options)
    except (ImportError, ValueError) as error:
        package = _PACKAGES.get(address.protocol)
        if isinstance(error, ValueError) and package is None:
            raise StoreError(
                f"{address.url}: no installed package knows {address.protocol}:// ({short_line(str(error))}); for S3, "
                "type: pip install 'convergebench[s3]'",
                final=True,
            ) from error
        cure = f"type: pip install {package}" if package else f"install the fsspec driver of {address.protocol}://"
        raise Prerequisite(f"{address.url} needs another package; {cure}") from error
    return system, str(path).rstrip("/")
