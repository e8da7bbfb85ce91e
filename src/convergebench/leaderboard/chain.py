"""The hash chain over the rows of a bundle: every link hashes the link before it and one row.

The chain starts from the hashes of `bundle.json` and `manifest.json`, so its head stands for all that the bundle
claims. Changing, removing, adding or exchanging a row changes every later link; the heads at the end of each table show
in which table a chain breaks.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import Any

from convergebench.leaderboard.layout import BUNDLE_FORMAT, COLUMNS, Tables, line_of


@dataclass(frozen=True, slots=True)
class HashChain:
    """Start and head of a chain, and per table (rows, head after its last row)."""

    start: str
    head: str
    tables: dict[str, tuple[int, str]]

    def document(self, challenge: str) -> dict[str, Any]:
        """`chain.json`."""
        return {
            "start": self.start,
            "head": self.head,
            "challenge": challenge,
            "tables": [{"table": name, "rows": rows, "head": head} for name, (rows, head) in self.tables.items()],
        }


def hash_chain(about: bytes, manifest: bytes, tables: Tables) -> HashChain:
    """The chain over these rows, in the order of the tables and of the rows in them."""
    start = head = chain_start(about, manifest)
    ends: dict[str, tuple[int, str]] = {}
    for name in COLUMNS:
        for row in tables[name]:
            head = next_link(head, name, line_of(row))
        ends[name] = len(tables[name]), head
    return HashChain(start, head, ends)


def chain_start(about: bytes, manifest: bytes) -> str:
    """The link before the first row."""
    parts = (hashlib.sha256(part).hexdigest() for part in (about, manifest))
    return _sha256(f"convergebench bundle {BUNDLE_FORMAT}", *parts)


def next_link(previous: str, table: str, line: str) -> str:
    """The link of one row."""
    return _sha256(previous, table, line)


def _sha256(*parts: str) -> str:
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()
