"""Splits of a data set by source image, so that no picture is on both sides."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from convergebench.errors import StudyError

NAMES = {1: ("train",), 2: ("train", "test"), 3: ("train", "validation", "test")}
BY_ORIGIN = "origin"


@dataclass(frozen=True)
class Splits:
    """How source images are assigned to splits."""

    shares: tuple[float, ...] = (1.0,)
    by_origin: bool = False
    """Photographs in one split, drawings in another."""

    def deal(self, sources: Mapping[str, str | None], seed: int) -> dict[str, str]:
        """sha256 of every source → its split; `sources` gives each one's origin."""
        if self.by_origin:
            return {sha256: origin or "unknown" for sha256, origin in sources.items()}
        names = NAMES[len(self.shares)]
        if len(sources) < len(names):
            raise StudyError(
                f"{len(names)} splits need {len(names)} different source images, this run has {len(sources)}; "
                "leave --splits out or ask for fewer"
            )
        order = sorted(sources, key=lambda sha256: hashlib.sha256(f"{seed}:{sha256}".encode()).digest())
        counts = _counts(self.shares, len(order))
        split_of = [name for name, count in zip(names, counts, strict=True) for _ in range(count)]
        return dict(zip(order, split_of, strict=True))


def read_splits(text: str | None) -> Splits:
    """`0.8,0.1,0.1`, `0.9,0.1`, `origin`, or nothing for one split."""
    if text is None:
        return Splits()
    if text.strip() == BY_ORIGIN:
        return Splits(by_origin=True)
    try:
        shares = tuple(float(part) for part in text.split(","))
    except ValueError:
        shares = ()
    if len(shares) not in NAMES or not all(share > 0 for share in shares) or abs(sum(shares) - 1) > 1e-6:
        raise StudyError(f"--splits {text}: give two or three shares that add up to 1 (0.8,0.1,0.1), or: origin")
    return Splits(shares)


def ordered(splits: Iterable[str]) -> list[str]:
    """Each once: train, validation, test, then others by name."""
    usual = NAMES[3]
    return sorted(set(splits), key=lambda name: (usual.index(name) if name in usual else len(usual), name))


def _counts(shares: tuple[float, ...], total: int) -> list[int]:
    """Images per split: at least one, else as close to the shares as possible."""
    counts = [max(1, round(share * total)) for share in shares]
    while sum(counts) != total:
        step = 1 if sum(counts) < total else -1
        free = [index for index, count in enumerate(counts) if count + step >= 1]
        worst = max(free, key=lambda index: step * (shares[index] * total - counts[index]))
        counts[worst] += step
    return counts
