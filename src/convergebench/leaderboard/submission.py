"""Making a bundle from a run: what is refused, what is labelled, and the members in their order."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from convergebench.datasets.secret_scan import files_with_secrets
from convergebench.datasets.source import RunSource
from convergebench.errors import StudyError
from convergebench.leaderboard.archive import checksums_of, pack
from convergebench.leaderboard.bundle_card import bundle_card
from convergebench.leaderboard.chain import hash_chain
from convergebench.leaderboard.describing import describe
from convergebench.leaderboard.gathering import gather, submitted_metrics
from convergebench.leaderboard.layout import (
    ABOUT,
    CARD,
    CHAIN,
    CHECKSUMS,
    MANIFEST,
    MOST_BYTES,
    SIGNATURE,
    Tables,
    lines_of,
    member_of_table,
)
from convergebench.leaderboard.missing_rows import missing_measurements
from convergebench.leaderboard.private import public_manifest
from convergebench.leaderboard.sampling import member_of_image, sampled_chains, sampled_images
from convergebench.leaderboard.signing import sign
from convergebench.store.manifest import Manifest
from convergebench.studies.base import study_of

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

UNFINISHED = ("open", "stopped")
IMPORTED, PARTIAL = "imported recordings", "part of its suite"


@dataclass(frozen=True, slots=True)
class Submission:
    """A bundle before it is written."""

    about: dict[str, Any]
    head: str
    data: bytes
    members: dict[str, int]
    """Name → bytes before packing."""
    labels: tuple[str, ...] = ()
    """What readers of the leaderboard will be shown beside it."""
    signed_by: str = ""


@dataclass(frozen=True, slots=True)
class SubmitterFacts:
    """Who submits, as they want to be named."""

    name: str = ""
    contact: str = ""

    def document(self) -> dict[str, str]:
        """For `bundle.json`."""
        return {name: text for name, text in asdict(self).items() if text}


@dataclass(frozen=True)
class SubmitOptions:
    """How a bundle is made."""

    submitter: SubmitterFacts = field(default_factory=SubmitterFacts)
    key: Ed25519PrivateKey | None = None
    challenge: str = ""


def make_bundle(run: Path, options: SubmitOptions) -> Submission:
    """The bundle of a run; `StudyError` says why a run cannot be submitted."""
    with RunSource(run) as source:
        manifest = _submitted_manifest(source.manifest, run)
        tables = gather(source.records, manifest)
        _require_complete(manifest, tables, run)
        about = describe(manifest, tables, submitter=options.submitter.document())
        members = {ABOUT: _json(about), MANIFEST: _json(asdict(manifest))}
        chain = hash_chain(members[ABOUT], members[MANIFEST], tables)
        members[CARD] = bundle_card(about, manifest).encode()
        texts: dict[str, list[str]] = {name: [] for name in tables}
        for name, line in lines_of(tables):
            texts[name].append(line + "\n")
        members |= {member_of_table(name): "".join(lines).encode() for name, lines in texts.items()}
        members[CHAIN] = _json(chain.document(options.challenge))
        chosen = sampled_images(sampled_chains(chain.head, options.challenge, manifest.sources, tables), tables)
        rows = {row["id"]: row for row in tables["images"]}
        files = source.records.images()
        images = {member_of_image(rows[image]): source.read(files[image]) for image in chosen}
    checksums = checksums_of({**members, **images})
    members = {**members, CHECKSUMS: checksums, **images}
    signed = sign(options.key, chain.head, checksums) if options.key is not None else None
    if signed:
        members[SIGNATURE] = _json(signed)
    _require_no_secret(members)
    data = pack(members.items())
    if len(data) > MOST_BYTES:
        raise StudyError(
            f"the bundle would have {len(data) / 1e6:.0f} MB; at most {MOST_BYTES / 1e6:.0f} MB are accepted. "
            "Submit a run with fewer editors"
        )
    return Submission(
        about=about,
        head=chain.head,
        data=data,
        members={name: len(content) for name, content in members.items()},
        labels=tuple(labels_of(manifest, tables, signed=signed is not None)),
        signed_by=signed["public"] if signed else "",
    )


def _json(value: Any) -> bytes:
    return (json.dumps(value, ensure_ascii=False, indent=1, sort_keys=True, allow_nan=False) + "\n").encode()


def _submitted_manifest(manifest: Manifest, run: Path) -> Manifest:
    """The manifest without anything private; what is part of a key must not change by that."""
    if "comparison" not in study_of(manifest.study).analyses:
        raise StudyError(f"runs of '{manifest.study}' have no score over rounds, so they are not on a leaderboard")
    public = Manifest(**public_manifest(asdict(manifest), submitted_metrics(manifest)))
    for name, facts in manifest.editors.items():
        if public.editors[name]["fingerprint"] != facts["fingerprint"]:
            raise StudyError(
                f"the editor '{name}' of {run} is identified by a path or a key of this machine; a leaderboard needs "
                "an editor that others can name: install it as a package (docs/add-an-editor.md)"
            )
    if public.pairs != manifest.pairs:
        raise StudyError(f"an instruction of {run} holds a path or a key; such a run cannot be submitted")
    return public


def _require_complete(manifest: Manifest, tables: Tables, run: Path) -> None:
    if not tables["chains"]:
        raise StudyError(f"{run} has no chains yet; run its study first")
    open_chains = [row for row in tables["chains"] if row["status"] in UNFINISHED]
    if open_chains:
        raise StudyError(
            f"{len(open_chains)} of {len(tables['chains'])} chains of {run} are not finished (first: "
            f"{open_chains[0]['editor']}, {open_chains[0]['case']}); run its study to the end, then submit"
        )
    if not tables["measurements"]:
        raise StudyError(f"{run} has not been measured by a metric of this package; type: cbench measure {run}")
    missing = missing_measurements(manifest.metrics, tables)
    if missing:
        metric, count = missing[0]
        raise StudyError(f"{run} lacks {count} measurements of {metric}; type: cbench measure {run} --metric {metric}")


def labels_of(manifest: Manifest, tables: Tables, *, signed: bool) -> list[str]:
    """What a reader should see beside the numbers."""
    found = [] if signed else ["unsigned"]
    simulated = [name for name, facts in manifest.editors.items() if facts.get("simulated")]
    if len(simulated) == len(manifest.editors):
        found.append("simulated editors only")
    for status in ("failed", "refused"):
        count = sum(row["status"] == status for row in tables["chains"])
        if count:
            found.append(f"{count} chains {status}")
    empty = sum(row["value"] is None for row in tables["measurements"])
    if empty:
        found.append(f"{empty} values missing")
    if manifest.recordings:
        found.append(IMPORTED)
    images = manifest.spec.get("images", {})
    if images.get("limit") or images.get("kinds") or images.get("partial"):
        found.append(PARTIAL)
    return found


def _require_no_secret(members: dict[str, bytes]) -> None:
    """A last look at what is about to be written."""
    with TemporaryDirectory(prefix="convergebench-") as folder:
        root = Path(folder)
        for name, data in members.items():
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).write_bytes(data)
        found: Sequence[str] = files_with_secrets(root)
    if found:
        raise StudyError(
            f"{found[0]} of the bundle would hold what looks like a key ({len(found)} files); nothing was written"
        )
