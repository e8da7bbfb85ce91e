"""Stops that are nobody's wish: a full disk, a missing key. Nothing stored is damaged, and the same command goes on."""

from __future__ import annotations

import errno
import os
import subprocess
from pathlib import Path

import numpy as np
import pytest

from convergebench.errors import Prerequisite, StudyError
from convergebench.images.encode import encode_png
from convergebench.types import Edited, EditRequest
from tests.engine.parts import CASES, CountingEditor, faults, query, walk


class Restless(CountingEditor):
    """Every answer is a new picture, so that every step writes a file."""

    async def edit(self, request: EditRequest) -> Edited:
        self.requests.append(request)
        noise = np.random.default_rng(request.seed).integers(0, 256, (8, 8, 3), np.uint8)
        return Edited(encode_png(noise), "image/png", "restless")


def test_a_full_disk_stops_with_one_line_and_damages_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real, written = os.fsync, 0

    def full_after_a_while(handle: int) -> None:
        nonlocal written
        written += 1
        if written > 40:
            raise OSError(errno.ENOSPC, "No space left on device")
        real(handle)

    monkeypatch.setattr(os, "fsync", full_after_a_while)
    with pytest.raises(StudyError, match="No space left on device; what was stored is safe") as caught:
        walk(tmp_path / "run", Restless())
    assert "\n" not in str(caught.value)
    monkeypatch.undo()
    assert faults(tmp_path / "run", "counting@1") == []
    (kept,) = query(tmp_path / "run", "select count(*) from steps")[0]
    rest = Restless()
    summary, _, _ = walk(tmp_path / "run", rest)
    assert summary.statuses == {"finished": len(CASES)}
    assert 0 < kept < len(CASES) * 10
    assert rest.calls == len(CASES) * 10 - kept


def test_a_missing_key_ends_the_run_at_once_and_is_said_once(tmp_path: Path) -> None:
    def no_key(request: EditRequest) -> None:
        raise Prerequisite("GEMINI_API_KEY is not set; export GEMINI_API_KEY=…")

    editor = CountingEditor(before=no_key)
    with pytest.raises(Prerequisite, match="GEMINI_API_KEY is not set"):
        walk(tmp_path / "run", editor)
    assert editor.calls <= 4


@pytest.mark.skipif(not Path("/usr/bin/mount").exists() or os.geteuid() != 0, reason="needs root to mount a small disk")
def test_a_really_full_disk_damages_nothing(tmp_path: Path) -> None:
    """The database and the images share a disk of 600 KiB."""
    disk = tmp_path / "disk"
    disk.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=600k", "tmpfs", str(disk)], capture_output=True)
    if mounted.returncode:
        pytest.skip("this machine does not let us mount a small disk")
    try:
        with pytest.raises(StudyError, match="is safe"):
            walk(disk / "run", Restless(), rounds=200)
        (kept,) = query(disk / "run", "select count(*) from steps")[0]
        assert kept > 10
        subprocess.run(["mount", "-o", "remount,size=50m", str(disk)], check=True)
        rest = Restless()
        summary, _, _ = walk(disk / "run", rest, rounds=200)
        assert summary.statuses == {"finished": len(CASES)}
        assert rest.calls <= len(CASES) * 400 - kept
        assert faults(disk / "run", "counting@1") == []
    finally:
        subprocess.run(["umount", str(disk)], check=True)
