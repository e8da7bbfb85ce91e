"""`banana100`: `IMAGE/VARIANT/run_R/step_NNN.png`, with all records in `metadata.jsonl` and `metadata.csv`.

The published set's own layout was not available when this was written; this follows the description in its paper.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

from convergebench.datasets.fields import Table
from convergebench.datasets.formats.folders import FILE_NAME, FolderFormat
from convergebench.datasets.names import UniqueNames, safe
from convergebench.errors import StudyError
from convergebench.sheets import Sheet

OWN = ("README.md", "croissant.json", "checksums.sha256", "metadata.jsonl", "metadata.csv", "tables", "patches")
"""Other names at the top of the set, which no image folder may have."""


class Banana100(FolderFormat):
    """A folder per image, variant and run; with several editors a folder per editor around them."""

    name: ClassVar[str] = "banana100"

    def __init__(self, root: Path, splits: Sequence[str], *, editors: Sequence[str], shard_bytes: int) -> None:
        if len(splits) > 1:
            raise StudyError("--as banana100 has no splits; leave --splits out or use --as imagefolder")
        super().__init__(root, splits, editors=editors, shard_bytes=shard_bytes)
        self._tops = UniqueNames(OWN)
        self._runs = UniqueNames()
        self._sheets: dict[str, Sheet] = {}

    def folder(self, table: Table, split: str) -> str:
        """At the top; patches beside it."""
        return "patches" if table.name == "patches" else ""

    def place(self, table: Table, record: Mapping[str, Any]) -> str:
        """`coffee/replicate/run_0/step_017`."""
        names = ["editor", "image_name", "variant"] if len(self.editors) > 1 else ["image_name", "variant"]
        top, *below = (str(record[name]) for name in names)
        parts = [self._tops.of(top, safe(top)), *map(safe, below), f"run_{record['run_index']}"]
        patch = f"_patch_{record['patch_index']:02}" if "patch_index" in record else ""
        return f"{self._runs.of(record['chain_id'], '/'.join(parts))}/step_{record['step_index']:03}{patch}"

    def pattern(self, table: Table, split: str) -> str:
        """By name, since patches are below the top too."""
        return "patches/*/step_*_patch_*" if table.name == "patches" else "*/run_*/step_[0-9][0-9][0-9]"

    def _write(self, table: Table, split: str, row: Mapping[str, Any]) -> None:
        """The same row in both tables; lists and tables become JSON in the CSV."""
        super()._write(table, split, row)
        if table.name not in self._sheets:
            path = (self.root / self.metadata(table, split)).with_suffix(".csv")
            file = self.held.enter_context(path.open("w", encoding="utf-8", newline=""))
            self._sheets[table.name] = Sheet(file, [FILE_NAME.name, *table.columns])
        flat = {
            name: json.dumps(value, ensure_ascii=False) if isinstance(value, dict | list | bool) else value
            for name, value in row.items()
        }
        self._sheets[table.name].row(flat)

    def data_files(self, table: Table, split: str) -> list[str]:
        """The pictures and the one table that `datasets` may see: it refuses two."""
        around = "*/" * (4 if len(self.editors) > 1 else 3)
        below = f"{self.folder(table, split)}/" if self.folder(table, split) else ""
        suffixes = sorted(self.written[(table.name, split)].suffixes)
        return [self.metadata(table, split), *(f"{below}{around}step_*.{suffix}" for suffix in suffixes)]

    def layout(self) -> Sequence[str]:
        """Pictures and two tables."""
        editor = "EDITOR/" if len(self.editors) > 1 else ""
        return [
            f"`{editor}IMAGE/VARIANT/run_R/step_NNN.png` (or `.jpg`, `.webp` …): the images as received, `step_000` "
            f"the untouched source",
            "`metadata.jsonl`: one record per image, named by `file_name`; `metadata.csv` is the same as a table",
            "This layout is our reading of the Banana100 paper, not a copy of the published set's.",
        ]
