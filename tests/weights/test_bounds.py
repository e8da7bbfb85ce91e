"""Archives from a registry are unpacked within their limits."""

from __future__ import annotations

import gzip
import io
import resource
import tarfile
import zipfile
from pathlib import Path

import pytest

from convergebench.errors import StudyError
from convergebench.weights import archive as limits
from convergebench.weights.archive import unpack


def tar_with(kind: bytes, size: int) -> bytes:
    """A tar file whose first entry, of this kind, holds so many zeros, and then a file."""
    entry = tarfile.TarInfo("package/x")
    entry.type, entry.size = kind, size
    plain = tarfile.TarInfo("package/model.bin")
    plain.size = 4
    blocks = entry.tobuf(tarfile.USTAR_FORMAT) + bytes(-(-size // 512) * 512)
    return blocks + plain.tobuf(tarfile.USTAR_FORMAT) + b"data" + bytes(508) + bytes(1024)


@pytest.mark.parametrize("kind", [tarfile.XHDTYPE, tarfile.XGLTYPE, tarfile.GNUTYPE_LONGNAME, tarfile.GNUTYPE_LONGLINK])
def test_a_description_that_would_fill_the_memory_is_damage(tmp_path: Path, kind: bytes) -> None:
    archive = tmp_path / "archive"
    archive.write_bytes(gzip.compress(tar_with(kind, 60 << 20), 1))
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with pytest.raises(StudyError, match="damaged"):
        unpack(archive, "it", {"model.bin": 4}, tmp_path)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 40_000  # KiB


def test_a_short_description_is_none(tmp_path: Path) -> None:
    archive = tmp_path / "archive"
    made = io.BytesIO()
    with tarfile.open(fileobj=made, mode="w:gz", format=tarfile.PAX_FORMAT) as tarred:
        entry = tarfile.TarInfo(f"package/{'long-name-' * 20}")
        entry.size = 4
        tarred.addfile(entry, io.BytesIO(b"data"))
    archive.write_bytes(made.getvalue())
    (found,) = unpack(archive, "it", {"long-name-" * 20: 4}, tmp_path).values()
    assert found.read_bytes() == b"data"


@pytest.mark.parametrize("method", [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_ways_of_packing_that_unpack_all_at_once_are_refused(tmp_path: Path, method: int) -> None:
    archive = tmp_path / "archive"
    with zipfile.ZipFile(archive, "w", method) as zipped:
        zipped.writestr("model.bin", bytes(10 << 20))
    with pytest.raises(StudyError, match="unsupported compression"):
        unpack(archive, "it", {"model.bin": 0}, tmp_path)


def test_a_member_of_unknown_size_has_a_limit_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "LONGEST_CONTENT", 5 << 20)
    archive = tmp_path / "archive"
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as zipped:
        zipped.writestr("model.bin", bytes(20 << 20))
    with pytest.raises(StudyError, match="longer than"):
        unpack(archive, "it", {"model.bin": 0}, tmp_path)
