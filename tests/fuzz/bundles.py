"""Result bundles of strangers: the zip file, and each of its members with checksums that fit again."""

from __future__ import annotations

import tempfile
from functools import cache, partial
from pathlib import Path

from convergebench.conductor.submitting import Submitter, submit
from convergebench.leaderboard.archive import BadArchive, unpack_bytes
from convergebench.leaderboard.checking import check_bytes
from convergebench.leaderboard.layout import ABOUT, CHAIN, CHECKSUMS, MANIFEST, SIGNATURE, member_of_table
from convergebench.leaderboard.signing import make_key
from tests.fuzz.target import FuzzTarget
from tests.leaderboard.runs import StandIn, draw_pictures, make_run
from tests.leaderboard.tampering import sealed

MEMBERS = (ABOUT, MANIFEST, CHAIN, CHECKSUMS, SIGNATURE, *map(member_of_table, ("images", "steps", "measurements")))


@cache
def bundle() -> bytes:
    """A signed bundle of a run of one picture."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        make_key(folder / "key.pem")
        pictures = draw_pictures(folder / "pictures", 1, side=32)
        run = make_run(folder / "run", pictures, {"m": StandIn("m")}, rounds=1, pairs=["flip-horizontal"])
        _, path = submit(run, Submitter("Example Lab", key=folder / "key.pem"), folder / "b.zip")
        return path.read_bytes()


def _whole(data: bytes) -> None:
    found = check_bytes("x.zip", data, measure_again=False)
    for fault in found.faults:
        assert "\n" not in fault, fault


def _member(name: str, data: bytes) -> None:
    members = {**unpack_bytes(bundle()), name: data}
    _whole(sealed(members) if name not in (CHECKSUMS, SIGNATURE) else _packed(members))


def _own(name: str) -> list[bytes]:
    return [unpack_bytes(bundle())[name]]


def _packed(members: dict[str, bytes]) -> bytes:
    from convergebench.leaderboard.archive import pack

    return pack(members.items())


TARGETS = {
    "bundle-zip": FuzzTarget(unpack_bytes, lambda: (bundle(),), (BadArchive,)),
    "bundle": FuzzTarget(_whole, lambda: (bundle(),)),
    **{f"bundle-{Path(name).stem}": FuzzTarget(partial(_member, name), partial(_own, name)) for name in MEMBERS},
}
