"""`hf`: a repository ready for the Hugging Face Hub: Parquet shards, the other tables as configurations beside them."""

from __future__ import annotations

from pathlib import Path
from typing import ClassVar

from convergebench.datasets.features import polars_schema
from convergebench.datasets.fields import Table
from convergebench.datasets.formats.parquet import Parquet
from convergebench.sheets import FORMULA

GIT_ATTRIBUTES = "*.parquet filter=lfs diff=lfs merge=lfs -text\n"
"""Large files go through the Hub's large-file storage."""


class Hub(Parquet):
    """As `parquet`, with what the Hub expects of a repository."""

    name: ClassVar[str] = "hf"

    def close(self) -> None:
        """Finish the shards and say which files are large."""
        super().close()
        (self.root / ".gitattributes").write_text(GIT_ATTRIBUTES, encoding="utf-8")

    def side_table(self, table: Table, file: Path) -> Path:
        """Parquet too: all configurations of a repository must have one form."""
        import polars as pl

        schema = polars_schema(table)
        kept = file.with_suffix(".parquet")
        rows = pl.scan_csv(file, schema=schema) if file.suffix == ".csv" else pl.scan_ndjson(file, schema=schema)
        if file.suffix == ".csv":  # no spreadsheet opens this one
            rows = rows.with_columns(pl.col(pl.String).str.replace(f"^'({FORMULA})", "${1}"))
        rows.sink_parquet(kept)
        file.unlink()
        return kept
