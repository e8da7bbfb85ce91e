"""Which shards of a data set are finished, so that an export that was interrupted goes on with the others."""

from __future__ import annotations

from pathlib import Path

from convergebench.datasets.checksums import file_sha256


class Finished:
    """A list beside the data set in the making; a shard is on it when it is whole, with its check sum."""

    def __init__(self, root: Path, ledger: Path | None = None) -> None:
        self._root = root
        self._ledger = ledger or root.parent / "finished"
        self._known: dict[str, str] = {}
        if self._ledger.is_file():
            for line in self._ledger.read_text(encoding="utf-8").split("\n"):
                sha256, _, name = line.partition("  ")
                self._known[name] = sha256

    def has(self, shard: Path) -> bool:
        """Whether an earlier export finished it, and it still is what it was."""
        known = self._known.get(shard.relative_to(self._root).as_posix())
        return known is not None and shard.is_file() and file_sha256(shard) == known

    def add(self, shard: Path) -> None:
        """Note one that is whole; a line that a kill cut short names no check sum that fits."""
        with self._ledger.open("a", encoding="utf-8") as ledger:
            ledger.write(f"{file_sha256(shard)}  {shard.relative_to(self._root).as_posix()}\n")
