"""What somebody does who wants a better place: edit members, then make checksums, chain and signature fit again."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from convergebench.leaderboard.archive import checksums_of, pack, unpack_bytes
from convergebench.leaderboard.chain import hash_chain
from convergebench.leaderboard.checking import CheckedBundle, check_bytes
from convergebench.leaderboard.describing import describe
from convergebench.leaderboard.layout import (
    ABOUT,
    CHAIN,
    CHECKSUMS,
    COLUMNS,
    MANIFEST,
    SIGNATURE,
    Row,
    Tables,
    in_order,
    line_of,
    member_of_table,
    row_of,
)
from convergebench.leaderboard.sampling import member_of_image, sampled_chains, sampled_images
from convergebench.leaderboard.signing import read_key, sign
from convergebench.store.images import open_images
from convergebench.store.manifest import Manifest

Members = dict[str, bytes]


class Forged:
    """The parts of a bundle, open to changes; `bytes` puts them together as an honest tool would."""

    def __init__(self, bundle: Path) -> None:
        self.members: Members = unpack_bytes(bundle.read_bytes())
        self.manifest: dict[str, Any] = json.loads(self.members[MANIFEST])
        self.about: dict[str, Any] = json.loads(self.members[ABOUT])
        self.tables: Tables = {
            name: [row_of(line) for line in self.members[member_of_table(name)].decode().splitlines()]
            for name in COLUMNS
        }

    def rows(self, table: str, keep: Callable[[Row], bool]) -> None:
        """Leave out rows of a table."""
        self.tables[table] = [row for row in self.tables[table] if keep(row)]

    def without_case(self, gone: Callable[[Row], bool]) -> None:
        """Leave out cases and all that belongs to them."""
        cases = {row["id"] for row in self.tables["cases"] if gone(row)}
        steps = {row["step"] for row in self.tables["chain_steps"] if row["case"] in cases}
        comparisons = {row["id"] for row in self.tables["comparisons"] if row["case"] in cases}
        self.rows("cases", lambda row: row["id"] not in cases)
        for name in ("chains", "chain_steps", "comparisons"):
            self.rows(name, lambda row: row["case"] not in cases)
        self.rows("steps", lambda row: row["id"] not in steps)
        self.rows("attempts", lambda row: row["step"] not in steps)
        self.rows("measurements", lambda row: row["comparison"] not in comparisons)
        used = {row["image"] for name in ("cases", "steps") for row in self.tables[name]}
        self.rows("images", lambda row: row["id"] in used)

    def bytes(self, *, key: Path | None = None, run: Path | None = None, describe_again: bool = True) -> bytes:
        """A whole bundle again; with `run`, its sample images are those that the new head chooses."""
        tables = {name: in_order(name, rows) for name, rows in self.tables.items()}
        if describe_again:
            manifest = Manifest(**self.manifest)
            self.about = describe(manifest, tables, submitter=self.about["submitter"], package=self.about["package"])
        members = {**self.members, ABOUT: _json(self.about), MANIFEST: _json(self.manifest)}
        for name, rows in tables.items():
            members[member_of_table(name)] = "".join(line_of(row) + "\n" for row in rows).encode()
        chain = hash_chain(members[ABOUT], members[MANIFEST], tables)
        members[CHAIN] = _json(chain.document(json.loads(self.members[CHAIN])["challenge"]))
        if run is not None:
            members = {name: data for name, data in members.items() if not name.startswith("images/")}
            chosen = sampled_images(sampled_chains(chain.head, "", self.manifest["sources"], tables), tables)
            rows_of = {row["id"]: row for row in tables["images"]}
            store = open_images(run)
            for image in chosen:
                name = member_of_image(rows_of[image])
                digest = image.removeprefix("i1:")
                file = f"images/{digest[:2]}/{digest[2:]}.{name.rsplit('.', 1)[1]}"
                members[name] = store.read(file, image)
        members.pop(SIGNATURE, None)
        return sealed(members, key=key, head=chain.head)


def sealed(members: Members, *, key: Path | None = None, head: str = "") -> bytes:
    """A zip file of these members with checksums that fit, signed if there is a key."""
    own = {name: data for name, data in members.items() if name not in (CHECKSUMS, SIGNATURE)}
    checksums = checksums_of(own)
    order = [name for name in own if not name.startswith("images/")]
    images = [name for name in own if name.startswith("images/")]
    own = {name: own[name] for name in (*order, *images)}
    checksums = checksums_of(own)
    whole = {**{name: own[name] for name in order}, CHECKSUMS: checksums, **{name: own[name] for name in images}}
    if key is not None:
        whole[SIGNATURE] = _json(sign(read_key(key), head, checksums))
    return pack(whole.items())


def reasons(data: bytes) -> str:
    """Why a bundle is rejected, as one text; empty if it is accepted."""
    found: CheckedBundle = check_bytes("x.zip", data)
    return "\n".join(found.faults)


def _json(value: Any) -> bytes:
    return (json.dumps(value, ensure_ascii=False, indent=1, sort_keys=True) + "\n").encode()
