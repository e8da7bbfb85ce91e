"""Tables without pictures: those of the study's export parts, and the steps without a picture."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import IO, Any

from convergebench.datasets.fields import Table, without_pictures
from convergebench.datasets.parts import ExportedChain, ExportPart
from convergebench.datasets.secrets import Redactor
from convergebench.errors import ConvergeBenchError, StudyError
from convergebench.registry import error_text
from convergebench.sheets import Sheet

FOLDER = "tables"
_FLAGS = {True: "true", False: "false"}


class SideTables:
    """Writes them; a file is created with its first row, so that none is empty."""

    def __init__(self, root: Path, steps: Table, parts: Sequence[ExportPart], redactor: Redactor) -> None:
        self._root, self._parts, self._redactor = root / FOLDER, parts, redactor
        self._files: dict[Table, IO[str]] = {}
        self._held = ExitStack()
        self._sheets: dict[Table, Sheet] = {}
        self._without_image = without_pictures(steps)

    def chain(self, chain: ExportedChain) -> dict[str, int]:
        """Write the rows of every part for a chain; returns table → number of rows."""
        return {part.table.name: self.part(part, chain) for part in self._parts}

    def without_image(self, record: Mapping[str, Any]) -> None:
        """Write a step that gave no picture: a refusal, or a recording's end."""
        file = self._file(self._without_image, "jsonl")
        file.write(json.dumps(dict(record), ensure_ascii=False, allow_nan=False) + "\n")

    def files(self) -> dict[Table, Path]:
        """The tables that have rows, each with its file."""
        return {table: Path(file.name) for table, file in self._files.items()}

    def __enter__(self) -> SideTables:
        return self

    def __exit__(self, *failure: object) -> None:
        self._held.close()

    def part(self, part: ExportPart, chain: ExportedChain) -> int:
        """Write the rows of one part for a chain; returns their number."""
        identity, count = self._redactor.chain(chain.facts.id), 0
        try:
            for row in part.rows(chain):
                count += 1
                if part.table not in self._sheets:
                    self._sheets[part.table] = Sheet(self._file(part.table, "csv"), part.table.columns)
                own = {"chain_id": identity}
                if "id" in part.table.columns and "step_index" in row:
                    own["id"] = f"{identity}/{row['step_index']}"
                cells = {name: _FLAGS[cell] if isinstance(cell, bool) else cell for name, cell in row.items()}
                self._sheets[part.table].row({**self._redactor.cells(cells), **own})
        except ConvergeBenchError:
            raise
        except Exception as error:  # a part may be foreign code: every exception becomes a one-line error
            raise StudyError(f"the table '{part.table.name}' cannot be exported: {error_text(error)}") from error
        return count

    def _file(self, table: Table, suffix: str) -> IO[str]:
        if table not in self._files:
            self._root.mkdir(exist_ok=True)
            file = (self._root / f"{table.name}.{suffix}").open("w", encoding="utf-8", newline="")
            self._files[table] = self._held.enter_context(file)
        return self._files[table]
