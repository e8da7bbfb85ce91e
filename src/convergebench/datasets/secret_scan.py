"""Looking for keys in a folder that is about to be published: keys in use, and whatever has the form of a key.

Records are redacted when they are written. This is the second look, at what is really in the files: texts, the text
columns of tables, and pictures, whose metadata may hold what a program wrote there.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path

from convergebench.datasets.checksums import NAME as CHECKSUMS
from convergebench.redaction import SECRET, SHORTEST, redact

_FORMS = re.compile(
    rb"(?<![A-Za-z0-9])(?:sk-[A-Za-z0-9_-]{24,}|hf_[A-Za-z0-9]{30,}|AIza[\w-]{35}|r8_[A-Za-z0-9]{36,}"
    rb"|xai-[A-Za-z0-9]{40,}|github_pat_\w{40,}|gh[pousr]_[A-Za-z0-9]{36}|AKIA[0-9A-Z]{16}"
    rb"|-----BEGIN [A-Z ]*PRIVATE KEY-----)"
)
"""Keys of well-known providers."""
_TEXTS = frozenset({"", ".md", ".json", ".jsonl", ".csv", ".txt", ".toml", ".gitattributes", ".sha256"})
_AT_ONCE = 1 << 16
"""Letters that are searched together."""


def files_with_secrets(folder: Path) -> list[str]:
    """Files that hold what is, or looks like, a key; the key itself is not repeated."""
    files = sorted(path for path in folder.rglob("*") if path.is_file() and path.name != CHECKSUMS)
    return [path.relative_to(folder).as_posix() for path in files if _holds_secret(path)]


def _holds_secret(path: Path) -> bool:
    if path.suffix == ".parquet":
        return any(map(_has_secret_bytes, _pictures(path))) or any(map(_is_secret, _columns(path)))
    if path.suffix.lower() in _TEXTS:
        text = path.read_text(encoding="utf-8", errors="replace")
        return any(_is_secret(text[at : at + _AT_ONCE]) for at in range(0, len(text), _AT_ONCE - 200))
    return _has_secret_bytes(path.read_bytes())


def _has_secret_bytes(data: bytes) -> bool:
    """For pictures: whole secrets of the environment, as they are, and the forms of keys."""
    own = (value.encode() for name, value in os.environ.items() if SECRET.search(name) and len(value) >= SHORTEST)
    return _FORMS.search(data) is not None or any(value in data for value in own)


def _is_secret(text: str) -> bool:
    return _FORMS.search(text.encode("utf-8", "replace")) is not None or redact(text) != text


def _columns(path: Path) -> Iterator[str]:
    """The texts of a table, each once, many together."""
    import polars as pl

    names = [name for name, kind in pl.read_parquet_schema(path).items() if kind == pl.String]
    for name in names:
        if re.search(r"(?:^|_)(?:sha256|step_key|step_keys)$", name):  # hashes
            continue
        texts = pl.read_parquet(path, columns=[name])[name].drop_nulls().unique().to_list()
        joined = "\n".join(texts)
        yield from (joined[at : at + _AT_ONCE] for at in range(0, len(joined), _AT_ONCE - 200))


def _pictures(path: Path) -> Iterator[bytes]:
    import polars as pl

    names = [name for name, kind in pl.read_parquet_schema(path).items() if isinstance(kind, pl.Struct)]
    for name in names:
        for row in pl.read_parquet(path, columns=[name])[name]:
            if row is not None and isinstance(row.get("bytes"), bytes):
                yield row["bytes"]
