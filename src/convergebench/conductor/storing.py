"""Keeping a run's images and journal at a URL."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path

from convergebench.errors import StudyError
from convergebench.store.records import Records
from convergebench.store.run import Run, require_run


@dataclass(frozen=True)
class BackedUp:
    """What is at the store now."""

    url: str
    images: int


def check_store(root: Path, url: str, cache_mb: int | None = None, *, dry: bool = False) -> None:
    """`StudyError` for a URL that could not become the store of this run, before anything is begun or paid for.

    `dry`: only the URL itself is looked at, and nothing is sent.
    """
    from convergebench.store.remote.address import parse_address
    from convergebench.store.remote.settings import require_attachable

    if not url:
        if cache_mb is not None and not (root / "store.json").is_file():
            raise StudyError("--cache-mb is for runs with a store; add --store URL, or leave it out")
        return
    parse_address(url)
    if not dry:
        require_attachable(root, url)


@contextmanager
def exporting_to(out: str | None, *, document: bool = False) -> Iterator[Path | None]:
    """A path to export to: that of `out`, or of a temporary folder whose content is sent to the URL afterwards."""
    if out is None or "://" not in str(out):
        yield None if out is None else Path(out)
        return
    from convergebench.store.remote.address import parse_address
    from convergebench.store.remote.sending import begin_sending, send_file, send_folder

    address = parse_address(out, "--out")
    files = None if document else begin_sending(address)
    with tempfile.TemporaryDirectory(prefix="convergebench-") as folder:
        target = Path(folder) / address.url.rpartition("/")[2]
        yield target
        if files is None:
            send_file(address, target)
        else:
            send_folder(files, target)


def back_up(root: Path, url: str | None = None, *, cache_mb: int | None = None) -> BackedUp:
    """Upload everything that the store does not have; `StudyError` if that did not end well."""
    require_run(root)
    from convergebench.store.remote.settings import read_settings

    if url is None and not (root / "store.json").is_file():
        raise StudyError(f"{root} has no store; name one: cbench backup {root} --store s3://bucket/prefix")
    if url is not None:
        check_store(root, url)
    with Run.existing(root) as run:
        if url is not None or cache_mb is not None:
            run.keep_at(url or "", cache_mb=cache_mb)
    left = run.not_stored
    if left:
        raise StudyError(left)
    settings = read_settings(root)
    assert settings is not None
    with closing(Records(root / "run.sqlite")) as records:
        return BackedUp(settings.url, len(records.images()))
