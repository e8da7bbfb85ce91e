"""A bundle of a stranger: whatever its archive holds, nothing is written, run or unpacked beyond its limits."""

from __future__ import annotations

import io
import os
import stat
import struct
import sys
import zipfile
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from convergebench.leaderboard.archive import unpack_bytes
from convergebench.leaderboard.checking import check_bytes
from convergebench.leaderboard.layout import MOST_MEMBERS, fixed_members
from tests.cli.in_process import cbench
from tests.fuzz.target import FuzzTarget, check

pytestmark = pytest.mark.filterwarnings("ignore:Duplicate name")


def packed(*entries: tuple[str | zipfile.ZipInfo, bytes], method: int = zipfile.ZIP_DEFLATED) -> bytes:
    """A zip file of all the members that a bundle needs, and these."""
    target = io.BytesIO()
    given = {entry if isinstance(entry, str) else entry.filename for entry, _ in entries}
    with zipfile.ZipFile(target, "w", method) as archive:
        for name in fixed_members():
            if name not in given:
                archive.writestr(name, b"{}")
        for entry, data in entries:
            archive.writestr(entry, data, compress_type=method)
    return target.getvalue()


def special(mode: int, name: str = "bundle.json") -> zipfile.ZipInfo:
    entry = zipfile.ZipInfo(name)
    entry.external_attr = (mode | 0o777) << 16
    return entry


def flagged(data: bytes) -> bytes:
    """With the flag of an encrypted member in every header."""
    found = bytearray(data)
    for start, offset in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        place = found.find(start)
        while place >= 0:
            found[place + offset] |= 1
            place = found.find(start, place + 4)
    return bytes(found)


def lying(data: bytes) -> bytes:
    """With a directory that announces another size than the members have."""
    place = data.rindex(b"PK\x01\x02")
    return data[: place + 24] + struct.pack("<I", 5) + data[place + 28 :]


def many(count: int) -> bytes:
    """So many empty members, without Python's help: it would take minutes."""
    name = b"a"
    head = struct.pack("<4s5H3I2H", b"PK\x03\x04", 20, 0, 0, 0, 0, 0, 0, 0, 1, 0) + name
    entry = struct.pack("<4s6H3I5H2I", b"PK\x01\x02", 20, 20, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0) + name
    directory = entry * count
    end = struct.pack("<4s4H2IH", b"PK\x05\x06", 0, 0, count & 0xFFFF, count & 0xFFFF, len(directory), len(head), 0)
    return head + directory + end


HOSTILE: dict[str, Callable[[], bytes]] = {
    "above its folder": lambda: packed(("../../evil", b"x")),
    "above, with backslashes": lambda: packed(("..\\..\\evil", b"x")),
    "absolute": lambda: packed(("/tmp/evil", b"x")),
    "a drive": lambda: packed(("C:\\evil", b"x")),
    "inside images, then above": lambda: packed(("images/../../evil.png", b"x")),
    "a name with NUL": lambda: packed(("bundle.json\0.exe", b"x")),
    "another case": lambda: packed(("Bundle.JSON", b"{}")),
    "a picture in capitals": lambda: packed((f"images/{'A' * 64}.png", b"x")),
    "a folder": lambda: packed(("images/", b"")),
    "code": lambda: packed(("setup.py", b"import os")),
    "a link": lambda: packed((special(stat.S_IFLNK), b"/etc/passwd")),
    "a device": lambda: packed((special(stat.S_IFCHR), b"")),
    "a block device": lambda: packed((special(stat.S_IFBLK), b"")),
    "a pipe": lambda: packed((special(stat.S_IFIFO), b"")),
    "a socket": lambda: packed((special(stat.S_IFSOCK), b"")),
    "two of one name": lambda: packed(("bundle.json", b"{}"), ("bundle.json", b"{}")),
    "a bomb": lambda: packed(("manifest.json", bytes(60_000_000))),
    "a bomb in another packing": lambda: packed(("manifest.json", bytes(60_000_000)), method=zipfile.ZIP_LZMA),
    "bzip2": lambda: packed(("manifest.json", b"{}"), method=zipfile.ZIP_BZIP2),
    "encrypted": lambda: flagged(packed()),
    "a size that is not true": lambda: lying(packed()),
    "many members": lambda: many(MOST_MEMBERS + 1),
    "a million members": lambda: many(1_000_000),
    "a comment": lambda: packed()[:-2] + struct.pack("<H", 4) + b"evil",
    "a file before the zip": lambda: b"#!/bin/sh\n" * 10 + packed(),
    "no zip": lambda: b"\x1f\x8b" + bytes(100),
}


@pytest.mark.parametrize("kind", HOSTILE)
def test_it_is_refused_in_one_line_without_a_trace(kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    data = HOSTILE[kind]()
    (tmp_path / "bundles").mkdir()
    (tmp_path / "bundles" / "x.zip").write_bytes(data)
    (tmp_path / "work").mkdir()
    monkeypatch.chdir(tmp_path / "work")
    written = watched()
    told: list[Any] = []
    assert check(FuzzTarget(lambda one: told.append(check_bytes("x.zip", one)), list), data) == "accepted"
    (found,) = told
    assert found.faults
    assert found.bundle is None
    assert all("\n" not in fault for fault in found.faults)
    assert found.faults[0].startswith("the file ") or kind == "a file before the zip", "refused for its content only"
    done = cbench("leaderboard", "check", tmp_path / "bundles")
    assert done.code == 1, done
    assert "rejected" in done.out
    assert written == []
    assert sorted(path.name for path in tmp_path.rglob("*")) == ["bundles", "work", "x.zip"]
    assert not Path("/tmp/evil").exists()


@cache
def _log() -> list[str]:
    """What the hook notes; a hook cannot be removed, so there is one."""
    noted: list[str] = []
    sys.addaudithook(lambda event, found: _note(event, found, noted))
    return noted


def watched() -> list[str]:
    """An empty log."""
    _log().clear()
    return _log()


def _note(event: str, found: tuple[Any, ...], written: list[str]) -> None:
    """Files that are opened for writing, and programs that are started."""
    if event == "open" and isinstance(found[1], str) and set(found[1]) & set("wax+") and "evil" in str(found[0]):
        written.append(str(found[0]))
    if event in ("subprocess.Popen", "os.system", "os.exec", "os.symlink", "os.mknod"):
        written.append(event)


def test_a_million_members_are_refused_before_they_are_listed() -> None:
    data = many(1_000_000)
    with pytest.raises(ValueError, match="more members than the 5,000"):
        unpack_bytes(data)
    zip64 = packed()[:-22] + b"PK\x06\x07" + bytes(16) + packed()[-22:]
    with pytest.raises(ValueError, match="more members"):
        unpack_bytes(zip64)


@pytest.mark.skipif(os.name != "posix", reason="links and pipes")
@pytest.mark.parametrize("kind", ["link", "pipe", "device"])
def test_a_file_that_is_none_is_not_opened(kind: str, tmp_path: Path) -> None:
    path = tmp_path / "x.zip"
    if kind == "pipe":
        os.mkfifo(path)
    else:
        path.symlink_to("/dev/zero" if kind == "device" else "/etc/passwd")
    done = cbench("leaderboard", "check", tmp_path)
    assert done.code != 0
    assert "Traceback" not in done.err
