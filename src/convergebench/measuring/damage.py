"""Damaged image files of a run, and measurements that failed because of them."""

from __future__ import annotations

from collections.abc import Collection
from functools import cache
from pathlib import Path

from convergebench.errors import StudyError
from convergebench.images.decode import decode
from convergebench.store.images import DamagedImage, ImageStore
from convergebench.store.queries.measuring import blamed_measurements, forget_blamed, has_blamed_anchors
from convergebench.store.run import Run
from convergebench.store.tables import ImageRow


def require_undamaged(root: Path, files: Collection[str]) -> None:
    """`StudyError` about these damaged files, if there are any; call it when all else is done."""
    if files:
        one = len(files) == 1
        count = "1 damaged image" if one else f"{len(files):,} damaged images"
        them = "it" if one else "them"
        raise StudyError(
            f"{root} has {count} (first: {min(files)}), for which no value was stored; restore {them} and measure "
            f"again "
            f"(cbench verify {root} lists {them}, cbench recover {root} rebuilds the run without {them})"
        )


def forget_damaged(run: Run) -> int:
    """Remove failed measurements whose image was only damaged on disk; returns how many.

    They are kept if all files are intact and one of them still cannot be decoded.
    """
    blamed = blamed_measurements(run.journal)
    if not blamed and not has_blamed_anchors(run.journal):
        return 0
    stored = run.journal.images()

    @cache
    def is_undecodable(identity: str) -> bool:
        return identity in stored and _is_undecodable(run.images, stored[identity])

    wrong = [key for key, images in blamed if not any(is_undecodable(image) for image in images)]
    forget_blamed(run.journal, wrong)
    return len(wrong)


def _is_undecodable(images: ImageStore, row: ImageRow) -> bool:
    """Whether the file is intact and still no picture."""
    try:
        data = images.read(row.file, row.id)
    except DamagedImage:
        return False
    try:
        decode(data, what=row.file, alpha="white")
    except StudyError:
        return True
    return False
