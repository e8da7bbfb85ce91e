"""The head of a data-set card: YAML that the Hugging Face Hub and `datasets` read."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from convergebench.datasets.fields import Table
from convergebench.datasets.formats.base import Format
from convergebench.datasets.licences import read_licence
from convergebench.datasets.tally import Tally

TAGS = ("image", "image-editing", "image-quality-assessment", "iterative-editing", "degradation", "convergebench")
_SIZES = ((1_000, "n<1K"), (10_000, "1K<n<10K"), (100_000, "10K<n<100K"), (1_000_000, "100K<n<1M"))


def front_matter(name: str, tally: Tally, form: Format, tables: Sequence[Table], side: Mapping[Table, str]) -> str:
    """Licence, size, and for every table where its files are and which types its columns have."""
    licence = card_licence(tally)
    configs: list[dict[str, Any]] = [_config(form, table, default=index == 0) for index, table in enumerate(tables)]
    # `datasets` reads all configurations of a set in one form, so that other tables can only be one beside Parquet
    configs += [{"config_name": table.name, "data_files": file} for table, file in side.items() if form.name == "hf"]
    head: dict[str, Any] = {
        "license": licence,
        **({"license_name": "see-the-card", "license_link": "README.md"} if licence == "other" else {}),
        "pretty_name": name,
        "task_categories": ["image-to-image"],
        "size_categories": [_size(tally.pictures)],
        "tags": [*TAGS, *(["simulated"] if tally.simulated else [])],
        "configs": configs,
        **({"dataset_info": [_info(form, table) for table in tables]} if form.typed_by_info else {}),
    }
    return "\n".join(["---", *_block(head, 0), "---", ""])


def card_licence(tally: Tally) -> str:
    """One word for the whole set: the licence that all records have, untouched sources too, else `other`."""
    found = {read_licence(licence).hub for licence in tally.licences}
    return found.pop() if len(found) == 1 else "other"


def _config(form: Format, table: Table, *, default: bool) -> dict[str, Any]:
    splits = [split for split in form.splits if form.of(table.name, split).records]
    return {
        "config_name": table.name,
        **({"default": True} if default else {}),
        "data_files": [{"split": split, "path": form.data_files(table, split)} for split in splits],
        **({} if form.typed_by_info else {"features": form.card_table(table)}),
    }


def _info(form: Format, table: Table) -> dict[str, Any]:
    found = {split: form.of(table.name, split) for split in form.splits if form.of(table.name, split).records}
    sizes = [(form.root / file).stat().st_size for one in found.values() for file in one.files]
    return {
        "config_name": table.name,
        "features": form.card_table(table),
        "splits": [
            {"name": split, "num_bytes": one.bytes, "num_examples": one.records} for split, one in found.items()
        ],
        "download_size": sum(sizes),
        "dataset_size": sum(one.bytes for one in found.values()),
    }


def _size(count: int) -> str:
    return next((word for limit, word in _SIZES if count < limit), "1M<n<10M")


def _block(value: Any, indent: int) -> Iterator[str]:
    """A value in block style; single values as JSON, which YAML reads alike."""
    space = " " * indent
    for key, inner in value.items():
        if isinstance(inner, list) and inner and isinstance(inner[0], dict):
            yield f"{space}{key}:"
            for one in inner:
                first, *rest = _block(one, indent + 2)
                yield f"{space}- {first.lstrip()}"
                yield from rest
        else:
            yield f"{space}{key}: {json.dumps(inner, ensure_ascii=False)}"
