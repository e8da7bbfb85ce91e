"""What an open run with a store does besides its work: upload, back up, keep its cache small, and notice trouble.

Everything happens in threads of its own. The work itself is stopped only between two calls, when the store has not
answered for a long time or another folder has taken over; everything is in the run's folder then, and is uploaded when
the run is opened again.
"""

from __future__ import annotations

import logging
import os
import secrets
import sqlite3
import threading
import time
from dataclasses import replace
from pathlib import Path

from convergebench.errors import ConvergeBenchError, StudyError
from convergebench.store.journal import Journal
from convergebench.store.remote.backup import JournalBackup
from convergebench.store.remote.eviction import evict, trim
from convergebench.store.remote.files import RemoteFiles, StoreError
from convergebench.store.remote.settings import MARK, StoreSettings, read_mark, require_confirmed, write_settings
from convergebench.store.remote.uploads import UploadedFiles, Uploader
from convergebench.store.remote.writer import EVERY, claim, is_still, sign

PATIENCE = "CONVERGEBENCH_STORE_PATIENCE"
"""Environment variable: seconds for which a store may be unreachable before a run stops."""
USUAL_PATIENCE = 600.0
INTERVAL = 5.0
"""Seconds between two backups of the journal."""
TRIM_EVERY = 20.0
_AT_OPENING, _AT_CLOSING = 10.0, 20.0
"""Seconds for which a store that does not answer is tried when a run is opened, and when it is closed."""
_LONG = 5.0
"""Seconds of uploading at the end after which the user is told."""
_MUCH = 64_000_000
"""Bytes that are freed at once when the disk is full."""
_logger = logging.getLogger("convergebench.store")


def patience() -> float:
    """Seconds, from the environment or the usual ones."""
    named = os.environ.get(PATIENCE, "")
    try:
        seconds = float(named or USUAL_PATIENCE)
    except ValueError:
        seconds = -1.0
    if not 0 <= seconds < float("inf"):
        raise StudyError(f"{PATIENCE}={named} is not a number of seconds; give one such as 600")
    return seconds


class StoreKeeper:
    """Beside one open run; the run's lock makes it the only one of its folder."""

    def __init__(self, root: Path, journal: Journal, settings: StoreSettings) -> None:
        self._root, self._patience = root, patience()
        self._files = RemoteFiles(require_confirmed(root, settings))
        if not settings.writer:
            settings = replace(settings, writer=secrets.token_hex(8))
            write_settings(root, settings)
        self._settings, self._fault = settings, ""
        self._open()
        self.uploaded = UploadedFiles(root)
        self._uploader = Uploader(root, self._files, self.uploaded)
        self._backup = JournalBackup(root, journal, files=self._files, uploader=self._uploader, writer=settings.writer)
        self._ending, self._woken, self._trimming = threading.Event(), threading.Event(), threading.Lock()
        self._until: float | None = None
        self._is_current = False
        self._thread = threading.Thread(target=self._work, name="backup", daemon=True)
        self._thread.start()

    def _open(self) -> None:
        """The store is the right one, and nobody else writes it. One that does not answer is tried again later."""
        until, pause = time.monotonic() + min(_AT_OPENING, self._patience), 0.2
        while True:
            try:
                self._require_own()
                claim(self._files, self._settings.writer)
                return
            except StoreError as error:
                if error.final:
                    raise
                if time.monotonic() + pause > until:
                    _logger.warning("note: %s; the run goes on, and what it makes is uploaded later", error)
                    return
            time.sleep(pause)
            pause *= 2

    def _require_own(self) -> None:
        mark = read_mark(self._files)
        if mark is None or mark["id"] != self._settings.id:
            what = "has no" if mark is None else "has another run's"
            raise StoreError(
                f"{self._files.address.url} {what} {MARK}, so it is not the store of {self._root}; restore it, or "
                f"remove {self._root / 'store.json'} and type: cbench backup {self._root} --store NEW-URL",
                final=True,
            )

    def stored(self, file: str) -> None:
        """Upload this file when its turn comes."""
        self._uploader.add(file)

    def make_room(self, needed: int) -> bool:
        """The disk is full: remove files that the store has."""
        try:
            with self._trimming:
                return evict(self._root, max(needed, _MUCH), files=self._files, uploaded=self.uploaded) > 0
        except (ConvergeBenchError, OSError, sqlite3.Error):
            return False

    def require(self) -> None:
        """`StudyError` if no further call should be made: what it makes could not be brought to the store."""
        if self._fault:
            raise StudyError(self._fault)
        since = self._uploader.failing_since
        if since is not None and time.monotonic() - since > self._patience:
            raise StoreError(
                f"{self._uploader.reason} (for {time.monotonic() - since:,.0f} s); nothing is lost: "
                f"{len(self._uploader.pending):,} images wait in {self._root} and are uploaded when you run the same "
                "command again"
            )

    def _work(self) -> None:
        """Until the end: a backup every few seconds, a sign of life every minute, and a small cache."""
        signed = trimmed = time.monotonic()
        pause = 0.0
        begun = False
        while True:
            self._woken.wait(pause)
            self._woken.clear()
            ending = self._ending.is_set()
            try:
                if not begun:
                    self._uploader.add_left_behind()
                    begun = True
                if time.monotonic() - signed > EVERY:
                    self._sign()
                    signed = time.monotonic()
                if self._fault:
                    return
                if ending:
                    self._backup.look_again()
                done = self._backup.step(self._until if ending else None)
                self._uploader.told(None)
                self._is_current = done and ending
                if self._settings.cache_bytes is not None and (ending or time.monotonic() - trimmed > TRIM_EVERY):
                    with self._trimming:
                        trim(self._root, self._settings.cache_bytes, files=self._files, uploaded=self.uploaded)
                    trimmed = time.monotonic()
                if self._is_current:
                    sign(self._files, self._settings.writer, closed=True)
                    return
                pause = 0.1 if ending or not done else INTERVAL
            except StoreError as error:
                self._uploader.told(error)
                pause = min(max(2 * pause, 0.5), INTERVAL)
            except Exception as error:  # a fault here must not end the run; the user hears of it at the end
                self._uploader.told(StoreError(f"the backup of {self._root} failed: {type(error).__name__}: {error}"))
                pause = INTERVAL
            if ending and self._until is not None and time.monotonic() > self._until:
                return

    def _sign(self) -> None:
        if not is_still(self._files, self._settings.writer):
            self._fault = (
                f"{self._files.address.url} is written from another folder now, so this run stops; what it made is in "
                f"{self._root} (cbench merge joins two runs of one study)"
            )
            return
        sign(self._files, self._settings.writer)

    def close(self) -> None:
        """Bring everything to the store, as long as it answers; then end. What is left is uploaded the next time."""
        begun, told = time.monotonic(), False
        self._ending.set()
        try:
            while self._thread.is_alive():
                since, now = self._uploader.failing_since, time.monotonic()
                if since is not None and (now - since > self._patience or now - max(since, begun) > _AT_CLOSING):
                    break
                if not told and now - begun > _LONG:
                    _logger.warning("note: uploading to %s …", self._files.address.url)
                    told = True
                self._woken.set()
                self._thread.join(0.1)
        finally:
            self._until = 0.0
            self._woken.set()
            self._uploader.close()
            self._thread.join(2.0)
            self.uploaded.close()
        self._tell()

    @property
    def left(self) -> str:
        """After closing: what is only in the folder, as one line; empty if the store has everything."""
        if self._fault:
            return self._fault
        if self._is_current:
            return ""
        reason = self._uploader.reason or "the store is not up to date"
        return (
            f"{reason}; {len(self._uploader.pending):,} images and the end of the journal are only in {self._root}. "
            f"Later, type: cbench backup {self._root}"
        )

    def _tell(self) -> None:
        if self._uploader.damaged:
            _logger.warning(
                "note: %s images of %s are damaged and were not uploaded; type: cbench verify %s",
                f"{len(self._uploader.damaged):,}", self._root, self._root,
            )  # fmt: skip
        if self.left:
            _logger.warning("note: %s", self.left)
