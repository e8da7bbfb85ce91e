"""The keys of images, steps, answers and measurements.

A step is keyed by its history, never by its pixels: an editor that once returns its input unchanged
must be called again in the next round, not answered from the journal. Each key starts with a version tag
(`s1:`) so that a change of the canonical form is visible.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping


def canonical(value: object) -> str:
    """The canonical JSON text of a value: sorted keys, no spaces, no NaN."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)


def _hash(value: object) -> str:
    # lone surrogates are hashed too: the store decides whether a value can be stored
    return hashlib.blake2b(canonical(value).encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()


def image_id(data: bytes) -> str:
    """Content address of image bytes exactly as received."""
    return "i1:" + hashlib.sha256(data).hexdigest()


def step_id(
    *, parent: str, instruction: str, settings: Mapping[str, object], fingerprint: str, replicate: int, draw: int = 0
) -> str:
    """Key of one edit: parent step, instruction and settings, editor, replicate, draw."""
    # `draw` was added later: left out where it is 0, so that keys of older runs stay the same
    return "s1:" + _hash([parent, instruction, dict(settings), fingerprint, replicate, *([draw] if draw else [])])


def part_id(
    *, step: str, fingerprint: str, request: Mapping[str, object], image: bytes, history: tuple[str, ...], number: int
) -> str:
    """Key of one call of a composite editor's part: step, part, request and history, number of the call."""
    return "p1:" + _hash([step, fingerprint, dict(request), image_id(image), list(history), number])


def answer_id(
    *, parents: tuple[str, ...], role: str, payload: Mapping[str, object], fingerprint: str, replicate: int
) -> str:
    """Key of one question to a language or vision model."""
    return "a1:" + _hash([list(parents), role, dict(payload), fingerprint, replicate])


def comparison_id(*, editor: str, case: str, subject: str, reference: str | None, role: str, lag: int) -> str:
    """Key of one comparison to be measured."""
    return "m1:" + _hash([editor, case, subject, reference, role, lag])


def fingerprint(name: str, version: int, options: Mapping[str, object]) -> str:
    """The identity of an editor or metric, such as `sim-jpeg@1:4f0c…`; results of two fingerprints never mix."""
    return f"{name}@{version}:{_hash(dict(options))[:12]}"


def content_hash(value: object) -> str:
    """Short hash of data (suites, pairs, prompts) for the manifest."""
    return "d1:" + _hash(value)


def seed_from(key: str, base: int) -> int:
    """A 31-bit seed for one step, fixed by its key and the study's seed."""
    digest = hashlib.blake2b(f"{base}:{key}".encode(), digest_size=8).digest()
    return int.from_bytes(digest, "big") >> 33
