import hashlib
from pathlib import Path

import pytest

from convergebench.errors import StudyError
from convergebench.folders import cache_folder
from convergebench.images.cache import find, keep, read_kept


def test_the_environment_says_where_the_cache_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CONVERGEBENCH_CACHE", str(tmp_path))
    assert cache_folder() == tmp_path
    monkeypatch.delenv("CONVERGEBENCH_CACHE")
    assert cache_folder().name == "convergebench"


def test_what_is_kept_is_found_whole(tmp_path: Path) -> None:
    kept = keep(tmp_path / "new", "key", data=b"bytes")
    assert find(tmp_path / "new", "key") == kept
    assert kept.sha256 == hashlib.sha256(b"bytes").hexdigest()
    assert [path.name for path in (tmp_path / "new").iterdir()] == [f"key.{kept.sha256}.png"]


def test_a_key_is_not_mistaken_for_a_longer_one(tmp_path: Path) -> None:
    keep(tmp_path, "room-1-64x64", data=b"a")
    assert find(tmp_path, "room-1-64x6") is None
    assert find(tmp_path, "room-1") is None


def test_a_damaged_file_is_dropped(tmp_path: Path) -> None:
    kept = keep(tmp_path, "key", data=b"bytes")
    kept.path.write_bytes(b"byte")
    assert find(tmp_path, "key") is None
    assert not kept.path.exists()


@pytest.mark.parametrize("damage", ["lost", "changed"])
def test_a_file_lost_between_finding_and_reading_is_made_again(tmp_path: Path, damage: str) -> None:
    kept = keep(tmp_path, "key", data=b"bytes")
    if damage == "lost":
        kept.path.unlink()
    else:
        kept.path.write_bytes(b"?")
    assert read_kept(kept, lambda: b"bytes") == b"bytes"
    with pytest.raises(StudyError, match="cannot be made again the same"):
        read_kept(kept, lambda: b"others")


def test_a_cache_that_cannot_be_written_says_what_to_set(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(StudyError, match="set CONVERGEBENCH_CACHE"):
        keep(tmp_path / "file" / "sub", "key", data=b"")
