"""Every check on a bundle, from the file to its sample images; faults that make later checks moot end it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from convergebench.errors import ConvergeBenchError
from convergebench.leaderboard.archive import BadArchive, unpack_bytes
from convergebench.leaderboard.bundle import ResultBundle, UnreadableBundle, limited, parse
from convergebench.leaderboard.chain import hash_chain
from convergebench.leaderboard.consistency import consistency_faults
from convergebench.leaderboard.layout import ABOUT, MANIFEST, MOST_BYTES
from convergebench.leaderboard.origin import origin_faults, version_faults
from convergebench.leaderboard.remeasuring import remeasure, sample_faults, skipped_text
from convergebench.leaderboard.signing import verify
from convergebench.leaderboard.submission import labels_of

LONGEST_CHALLENGE = 200


@dataclass(frozen=True)
class CheckedBundle:
    """A file and what was found about it; `bundle` is None where it could not be read."""

    name: str
    bundle: ResultBundle | None
    faults: tuple[str, ...]
    labels: tuple[str, ...] = ()
    key: str = ""
    """Id of the key that signed it; empty: unsigned."""
    head: str = ""
    remeasured: int = 0
    """Values that were measured again and agreed."""

    @property
    def accepted(self) -> bool:
        """Whether nothing is wrong with it."""
        return not self.faults and self.bundle is not None


def check_bundle(path: Path, *, challenge: str | None = None) -> CheckedBundle:
    """Check a file; with `challenge`, its sample images must be those that this word asks for."""
    try:
        if path.is_symlink() or not path.is_file():
            raise BadArchive("is not a plain file")
        if path.stat().st_size > MOST_BYTES:
            raise BadArchive(f"is larger than {MOST_BYTES / 1e6:.0f} MB")
        data = path.read_bytes()
    except (BadArchive, OSError) as error:
        return CheckedBundle(path.name, None, (f"the file {_reason(error)}",))
    return check_bytes(path.name, data, challenge=challenge)


def _reason(error: Exception) -> str:
    return f"cannot be read: {error.strerror}" if isinstance(error, OSError) else str(error)


def check_bytes(name: str, data: bytes, *, challenge: str | None = None, measure_again: bool = True) -> CheckedBundle:
    """The same for the content of a file; who has just made it need not measure its samples again."""
    try:
        bundle = parse(name, unpack_bytes(data), data)
    except BadArchive as error:
        return CheckedBundle(name, None, (f"the file {error}",))
    except UnreadableBundle as error:
        return CheckedBundle(name, None, tuple(error.reasons))
    head, said, faults = _chain(bundle, challenge)
    key = ""
    if bundle.signature is not None:
        try:
            key = verify(bundle.signature, head, bundle.members["checksums.sha256"]).key_id
        except ValueError as error:
            faults.append(f"signature.json {error}")
    faults += version_faults(bundle)
    if faults:
        return CheckedBundle(name, bundle, tuple(faults), key=key, head=head)
    faults += consistency_faults(bundle)
    if not faults:
        faults += origin_faults(bundle)
    if not faults:
        faults += sample_faults(bundle, head, said)
    values = 0
    skipped: tuple[str, ...] = ()
    if not faults and measure_again:
        try:
            again = remeasure(bundle)
            faults, values, skipped = list(again.faults), again.values, again.skipped
        except ConvergeBenchError as error:
            faults.append(f"the sample images cannot be measured: {' '.join(str(error).split())[:200]}")
    labels = labels_of(bundle.manifest, bundle.tables, signed=bool(key))
    if not values:
        labels.append("not measured again: no sample image may be published")
    elif skipped:
        labels.append(f"not measured again here: {skipped_text(skipped)}")
    return CheckedBundle(name, bundle, tuple(faults), tuple(labels), key, head, values)


def _chain(bundle: ResultBundle, challenge: str | None) -> tuple[str, str, list[str]]:
    """The head computed from the rows, the challenge that the bundle answers, and where its chain breaks."""
    found = hash_chain(bundle.members[ABOUT], bundle.members[MANIFEST], bundle.tables)
    answered = bundle.chain.get("challenge")
    if not isinstance(answered, str) or len(answered) > LONGEST_CHALLENGE:
        return found.head, "", ["chain.json: the challenge is not a text"]
    own = found.document(answered)
    faults = []
    if challenge is not None and answered != challenge:
        faults.append("chain.json: answers another challenge than the one that was given")
    if bundle.chain.get("start") != own["start"]:
        faults.append("hash chain: does not start from this bundle.json and manifest.json")
    elif bundle.chain != own:
        tables = bundle.chain.get("tables")
        said = tables if isinstance(tables, list) else []
        broken = [one["table"] for place, one in enumerate(own["tables"]) if place >= len(said) or said[place] != one]
        faults.append(f"hash chain: breaks in the table {broken[0]}" if broken else "hash chain: has another head")
    return found.head, answered, limited(faults)
