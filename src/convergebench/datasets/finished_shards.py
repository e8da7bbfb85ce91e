"""Which shards of an export are finished, so that an interrupted export continues with the others."""

from __future__ import annotations

from pathlib import Path

from convergebench.datasets.checksums import file_sha256


class FinishedShards:
    """A list of complete shards and their checksums, kept beside the unfinished data set."""

    def __init__(self, root: Path, ledger: Path | None = None) -> None:
        self._root = root
        self._ledger = ledger or root.parent / "finished"
        self._known: dict[str, str] = {}
        if self._ledger.is_file():
            for line in self._ledger.read_text(encoding="utf-8").split("\n"):
                sha256, _, name = line.partition("  ")
                self._known[name] = sha256

    def has(self, shard: Path) -> bool:
        """Whether an earlier export finished it and its content is unchanged."""
        known = self._known.get(shard.relative_to(self._root).as_posix())
        return known is not None and shard.is_file() and file_sha256(shard) == known

    def add(self, shard: Path) -> None:
        """Add a complete shard; a line cut short by a kill never matches a checksum."""
        with self._ledger.open("a", encoding="utf-8") as ledger:
            ledger.write(f"{file_sha256(shard)}  {shard.relative_to(self._root).as_posix()}\n")
