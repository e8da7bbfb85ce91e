"""Objects at a URL, whichever store it is; failures are errors of one line, without keys."""

from __future__ import annotations

import pickle

import pytest

from convergebench.store.remote.address import parse_address
from convergebench.store.remote.files import RemoteFiles, StoreError
from tests.store.remote.servers import SECRET, S3Server


def test_objects_are_written_read_listed_and_removed(url: str) -> None:
    files = RemoteFiles(parse_address(url))
    assert files.is_empty()
    assert files.read("a/b") is None
    assert files.size("a/b") is None
    assert files.sizes() == {}
    files.write("a/b", b"one")
    files.write("a/b", b"another")
    files.write("a/c d", b"")
    assert not files.is_empty()
    assert files.read("a/b") == b"another"
    assert files.size("a/b") == 7
    assert files.size("a") is None, "a folder is no object"
    assert files.sizes() == {"a/b": 7, "a/c d": 0}
    assert files.sizes("a") == {"a/b": 7, "a/c d": 0}
    again: RemoteFiles = pickle.loads(pickle.dumps(files))
    assert again.read("a/b") == b"another"
    files.remove("a/b")
    files.remove("a/b")
    assert files.read("a/b") is None


def test_a_store_that_renames_into_place_shows_no_half_of_an_object(monkeypatch: pytest.MonkeyPatch) -> None:
    """Such as SFTP: an upload that is cut leaves the old object, and nothing beside it."""
    from fsspec.implementations.memory import MemoryFileSystem

    monkeypatch.setattr("convergebench.store.remote.files._WHOLE_PUTS", ())
    files = RemoteFiles(parse_address("memory://renaming/x"))
    files.write("a/b", b"one")
    files.write("a/b", b"two")
    whole = MemoryFileSystem.pipe_file
    monkeypatch.setattr(
        MemoryFileSystem, "pipe_file", lambda self, path, value, **more: whole(self, path, value[:1], **more)
    )
    with pytest.raises(StoreError, match="only a part"):
        files.write("a/b", b"three")
    assert files.sizes() == {"a/b": 3}
    assert files.read("a/b") == b"two"


def test_failures_are_told_apart_and_without_keys(s3: S3Server, monkeypatch: pytest.MonkeyPatch) -> None:
    files = RemoteFiles(parse_address("s3://bucket/x"))
    files.write("a", b"1")
    with pytest.raises(StoreError, match="cannot be written") as caught:
        RemoteFiles(parse_address("s3://no-such-bucket/x")).write("a", b"1")
    assert caught.value.final
    s3.fault = lambda method, path: 403 if method == "PUT" else None
    with pytest.raises(StoreError) as caught:
        files.write("a", b"2")
    assert caught.value.final
    s3.fault = lambda method, path: None
    s3.down()
    with pytest.raises(StoreError) as caught:
        files.read("a")
    assert not caught.value.final
    assert SECRET not in str(caught.value)
    assert "\n" not in str(caught.value)
    assert pickle.loads(pickle.dumps(caught.value)).final is False
    s3.up()
    assert files.read("a") == b"1"
