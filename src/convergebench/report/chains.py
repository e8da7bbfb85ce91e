"""Names, links and data of chains. Data are scripts: a page opened from disk may load these, but not fetch files."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Mapping
from hashlib import blake2b
from pathlib import Path
from typing import Any
from urllib.parse import quote


def chain_key(editor: str, case: str) -> str:
    """The short name of a chain in links and file names."""
    return blake2b(f"{editor}\x1f{case}".encode(), digest_size=6).hexdigest()


def viewer_link(editor: str, case: str, step: int | None = None) -> str:
    """The link to a chain in the viewer, at a step if one is given."""
    return f"viewer.html#c={chain_key(editor, case)}" + (f"&s={step}" if step is not None else "")


def relative(path: Path, out: Path) -> str:
    """A link from a page in `out` to a file or folder."""
    return quote(Path(os.path.relpath(path, out)).as_posix())


def script(function: str, *values: object) -> str:
    """A call of one of the page's functions with plain data; safe to embed in a page."""
    texts = [json.dumps(plain(value), ensure_ascii=True, allow_nan=False, separators=(",", ":")) for value in values]
    return f"CB.{function}({','.join(texts)});\n".replace("<", "\\u003c")


def plain(value: object) -> Any:
    """The value for JSON: infinities as the strings `Infinity` and `-Infinity`, NaN as null."""
    if isinstance(value, float) and not math.isfinite(value):
        return None if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [plain(item) for item in value]
    if value is None or isinstance(value, str | int | float | bool):
        return value
    return str(value)
