"""Damaged files of a run and the measurements that were once taken of them."""

from __future__ import annotations

from collections.abc import Collection
from contextlib import closing
from pathlib import Path

from convergebench.errors import StudyError
from convergebench.images.decode import decode
from convergebench.store.images import DamagedImage, read_image
from convergebench.store.journal import connect
from convergebench.store.run import Run

_BLAMED = """
  select m.rowid_key, k.subject, k.reference, k.via, c.image from (
    select comparison || char(10) || metric || char(10) || align || char(10) || fingerprint rowid_key, comparison
    from measurements where status = 'unreadable' or (status = 'source-unfit' and detail like 'images/%')) m
  join comparisons k on k.id = m.comparison left join cases c on c.id = k."case" """

_BLAMED_ANCHORS = "status = 'unreadable' or (status = 'source-unfit' and detail like 'images/%')"


def require_undamaged(root: Path, files: Collection[str]) -> None:
    """Tell of damaged files, once everything else is done."""
    if files:
        one = len(files) == 1
        count = "1 damaged image" if one else f"{len(files):,} damaged images"
        them = "it" if one else "them"
        raise StudyError(
            f"{root} has {count} (first: {min(files)}), for which nothing was stored; restore {them} and measure again "
            f"(cbench verify {root} lists {them}, cbench recover {root} rebuilds the run without {them})"
        )


def forget_damaged(run: Run) -> int:
    """Remove values that blame an image for what was the damage of its file; returns how many.

    They stay where every file is what its name says and one of them is no picture all the same.
    """
    rows = list(run.journal.rows(_BLAMED))
    anchors = list(run.journal.rows(f"select 1 from anchors where {_BLAMED_ANCHORS} limit 1"))
    if not rows and not anchors:
        return 0
    files: dict[str, str] = dict(run.journal.rows("select id, file from images"))
    undecodable: dict[str, bool] = {}

    def is_no_picture(identity: str) -> bool:
        if identity not in undecodable:
            undecodable[identity] = _is_no_picture(run.root, files.get(identity, ""), identity)
        return undecodable[identity]

    wrong = [key for key, *images in rows if not any(is_no_picture(image) for image in images if image)]
    # the one writer of this run is this process, and its journal only adds
    with closing(connect(run.journal.path)) as connection:
        connection.execute("begin immediate")
        connection.executemany(
            "delete from measurements where comparison = ? and metric = ? and align = ? and fingerprint = ?",
            [key.split("\n") for key in wrong],
        )
        connection.execute(f"delete from anchors where {_BLAMED_ANCHORS}")
        connection.execute("commit")
    return len(wrong)


def _is_no_picture(root: Path, file: str, identity: str) -> bool:
    """Whether the bytes are right and cannot be decoded."""
    try:
        data = read_image(root, file, identity)
    except DamagedImage:
        return False
    try:
        decode(data, what=file, alpha="white")
    except StudyError:
        return True
    return False
