"""Pieces of a backup, named by the hash of their content: written once, checked at every read."""

from __future__ import annotations

import hashlib
import zlib
from collections.abc import Collection

from convergebench.store.remote.fetching import read_patiently
from convergebench.store.remote.files import RemoteFiles

MOST = 256 * 2**20
"""A piece that claims to be larger is not ours."""


class DamagedBackup(Exception):
    """A piece is missing, or is not what its name says."""


class Blobs:
    """The pieces of one writer."""

    def __init__(self, files: RemoteFiles, writer: str) -> None:
        self._files, self.folder = files, f"journal/{writer}/pieces"
        self.known: set[str] = set()
        """Those that are surely at the store."""

    def look(self) -> None:
        """Find out what is there from earlier sessions."""
        self.known = {name.rpartition("/")[2] for name in self._files.sizes(self.folder)}

    def put(self, data: bytes) -> str:
        """Write a piece unless it is there; returns its name."""
        name = hashlib.sha256(data).hexdigest()
        if name not in self.known:
            self._files.write(f"{self.folder}/{name}", zlib.compress(data, 1))
            self.known.add(name)
        return name

    def get(self, name: str) -> bytes:
        """A piece, checked."""
        found = read_patiently(self._files, f"{self.folder}/{name}")
        if found is None:
            raise DamagedBackup(f"{self.folder}/{name} is missing")
        try:
            unpacked = zlib.decompressobj()
            data = unpacked.decompress(found, MOST)
        except zlib.error as error:
            raise DamagedBackup(f"{self.folder}/{name} is damaged") from error
        if hashlib.sha256(data).hexdigest() != name:
            raise DamagedBackup(f"{self.folder}/{name} is damaged")
        return data

    def keep_only(self, names: Collection[str]) -> None:
        """Remove the pieces that no kept backup needs."""
        for name in self.known - set(names):
            self._files.remove(f"{self.folder}/{name}")
            self.known.discard(name)
