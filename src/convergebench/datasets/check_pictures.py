"""Checking recorded chains: every picture is read and decoded once, before anything is written."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import partial

from convergebench.datasets.chains import Picture, RecordedChain, RecordedSource
from convergebench.datasets.storable import require_storable
from convergebench.errors import StudyError
from convergebench.images.decode import Alpha, decode, probe
from convergebench.progress import Progress
from convergebench.types import Kind, SourceImage


@dataclass(frozen=True)
class CheckedChain:
    """A chain whose pictures can all be read, with their hashes."""

    editor: str
    chain: RecordedChain
    source: SourceImage
    steps: tuple[str, ...]
    """sha256 of every step's file."""
    clean: SourceImage | None = None
    """What a restoration is compared with."""


def check_chains(
    chains: Sequence[RecordedChain], *, kind: Kind, known: frozenset[str], progress: Progress
) -> Iterator[CheckedChain | str]:
    """Each chain as it is, or one line that says what is wrong with it. `known` images were decoded before."""
    progress.chains, progress.steps = len(chains), sum(1 + len(chain.steps) for chain in chains)
    pool = ThreadPoolExecutor(max_workers=min(8, (os.cpu_count() or 1) + 1))
    try:
        checked = pool.map(partial(_check, kind=kind, known=known), chains)
        for chain, result in zip(chains, checked, strict=True):
            progress.chains_done += 1
            progress.steps_done += 1 + len(chain.steps)
            progress.steps_called = progress.steps_done
            yield result
    finally:  # after an interrupt, do not wait for the rest
        pool.shutdown(cancel_futures=True)


def _check(chain: RecordedChain, kind: Kind, known: frozenset[str]) -> CheckedChain | str:
    try:
        return _checked(chain, kind, known)
    except (StudyError, OSError) as error:
        return f"{chain.id[:200]}: {error}"


def _checked(chain: RecordedChain, kind: Kind, known: frozenset[str]) -> CheckedChain:
    require_storable(chain)
    source = _source(chain.source, chain, kind=kind, known=known)
    steps = tuple(_hashed(step.picture, "white", known) for step in chain.steps)
    clean = _source(chain.clean, chain, kind=kind, known=known) if chain.clean else None
    assert chain.editor is not None, "choose_chains() sets it"
    return CheckedChain(chain.editor, chain, source if clean is None else replace(source, clean=clean.id), steps, clean)


def _source(stated: RecordedSource, chain: RecordedChain, *, kind: Kind, known: frozenset[str]) -> SourceImage:
    picture = stated.picture
    # a transparent source is refused, since it cannot be compared; edited pictures are decoded on white
    sha256 = _hashed(picture, "refuse", known)
    _, width, height = probe(picture.read(), what=picture.where)
    if stated.known is not None:
        return replace(stated.known, sha256=sha256, width=width, height=height, read=picture.read)
    return SourceImage(
        id=stated.id,
        kind=stated.kind or kind,
        sha256=sha256,
        width=width,
        height=height,
        licence=stated.licence or chain.licence,
        source=stated.origin or f"{chain.origin}: {chain.id}",
        read=picture.read,
    )


def _hashed(picture: Picture, alpha: Alpha, known: frozenset[str]) -> str:
    data = picture.read()
    sha256 = hashlib.sha256(data).hexdigest()
    if f"i1:{sha256}" not in known:
        decode(data, what=picture.where, alpha=alpha)
    return sha256
