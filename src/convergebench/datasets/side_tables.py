"""Tables without pictures beside the records: all measurements, all failure labels, and steps that gave no picture."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from contextlib import ExitStack
from pathlib import Path
from types import TracebackType
from typing import IO, Any

from convergebench.datasets.fields import LABELS, MEASUREMENTS, Table, without_pictures
from convergebench.datasets.secrets import Blotter
from convergebench.datasets.source import ChainFacts, Label, Value
from convergebench.redaction import redact
from convergebench.sheets import Sheet

FOLDER = "tables"


class SideTables:
    """Each file is made when its first row comes, so that there are no empty ones."""

    def __init__(self, root: Path, steps: Table, blotter: Blotter) -> None:
        self._root = root / FOLDER
        self._blotter = blotter
        self._files: dict[str, IO[str]] = {}
        self._held = ExitStack()
        self._sheets: dict[str, Sheet] = {}
        self.tables = {table.name: table for table in (MEASUREMENTS, LABELS, without_pictures(steps))}

    def measurements(self, chain: ChainFacts, values: Iterable[Value]) -> int:
        """Every number of a chain, infinite ones too; how many there were."""
        identity = self._blotter.chain(chain.id)
        rows = [
            {
                "id": f"{identity}/{value.step}",
                "chain_id": identity,
                "step_index": value.step,
                **{name: getattr(value, name) for name in ("metric", "role", "lag", "align", "value", "status")},
                "detail": redact(value.detail),
                "fingerprint": value.fingerprint,
            }
            for value in values
        ]
        return self._rows("measurements", rows)

    def labels(self, chain: ChainFacts, labels: Iterable[Label]) -> int:
        """Every label of a chain, by whomever; how many there were."""
        said = {None: None, 0: "false", 1: "true"}
        identity = self._blotter.chain(chain.id)
        rows = [
            {
                **label._asdict(),
                "chain_id": identity,
                "present": said[label.present],
                "detail": redact(label.detail),
                "by": redact(label.by),
            }
            for label in labels
        ]
        return self._rows("labels", rows)

    def without_image(self, record: Mapping[str, Any]) -> None:
        """A step that was refused, or a recording's end."""
        file = self._file("without_image", "jsonl")
        file.write(json.dumps(dict(record), ensure_ascii=False, allow_nan=False) + "\n")

    def files(self) -> dict[str, Path]:
        """Table → its file."""
        return {name: Path(file.name) for name, file in self._files.items()}

    def __enter__(self) -> SideTables:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._held.close()

    def _rows(self, table: str, rows: list[dict[str, Any]]) -> int:
        if rows and table not in self._sheets:
            self._sheets[table] = Sheet(self._file(table, "csv"), self.tables[table].columns)
        for row in rows:
            self._sheets[table].row(row)
        return len(rows)

    def _file(self, table: str, suffix: str) -> IO[str]:
        if table not in self._files:
            self._root.mkdir(exist_ok=True)
            file = (self._root / f"{table}.{suffix}").open("w", encoding="utf-8", newline="")
            self._files[table] = self._held.enter_context(file)
        return self._files[table]
