"""Which URLs are taken: none that carries a key, and none that only a received run has named."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from fsspec.registry import _registry as drivers

from convergebench.errors import ConvergeBenchError, Prerequisite, StudyError
from convergebench.store.remote.address import LISTED, confirm, is_confirmed, parse_address
from convergebench.store.remote.files import RemoteFiles, StoreError
from convergebench.store.remote.settings import StoreSettings, require_confirmed

HIDDEN = "wJalrXUtnFEMI-not-real"


@pytest.mark.parametrize(
    "url",
    [
        f"s3://key:{HIDDEN}@bucket/prefix",
        f"s3://key:{HIDDEN}/with/slashes@bucket/prefix",
        f"s3://key%3A{HIDDEN}%40bucket/prefix",
        f"s3://bucket/prefix?secret={HIDDEN}",
        f"s3://bucket/prefix%3Fsecret={HIDDEN}",
        f"s3://bucket/prefix#{HIDDEN}",
        f"sftp://me:{HIDDEN}@host/folder",
    ],
)
def test_a_url_with_a_password_or_options_is_refused_and_not_repeated(url: str) -> None:
    with pytest.raises(StudyError, match="credentials are read from the environment") as caught:
        parse_address(url)
    assert HIDDEN not in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("url", "says"),
    [
        ("bucket/prefix", "is not a URL"),
        ("s3://", "is not a URL"),
        ("s3:///", "is not a plain URL"),
        ("s3://bucket/a\nb", "is not a"),
        ("s3://bucket/a\x1b[31m", "is not a plain URL"),
        ("simplecache::s3://bucket/a", "is not a"),
        ("s3://bucket/zip://x::y", "is not a plain URL"),
        ("s3://bucket/../other", "leave out '..'"),
        ("s3://bucket/%2e%2e/other", "leave out '..'"),
        ("https://host/folder", "can only be read"),
        ("file://folder", "name the whole path"),
    ],
)
def test_what_cannot_be_a_store_is_refused_in_one_line(url: str, says: str) -> None:
    with pytest.raises(StudyError, match=says) as caught:
        parse_address(url)
    assert str(caught.value).isprintable()


def test_addresses_are_kept_without_a_slash_at_their_end() -> None:
    assert parse_address("S3://bucket/Prefix/").url == "s3://bucket/Prefix"
    assert parse_address("abfs://box@account.dfs.core.windows.net/x").protocol == "abfs"
    assert parse_address("file:///a b").folder == Path("/a b")


def test_a_url_counts_as_confirmed_when_it_was_typed_or_is_listed(monkeypatch: pytest.MonkeyPatch) -> None:
    address = parse_address("s3://bucket/run")
    assert not is_confirmed(address)
    confirm(address)
    assert is_confirmed(address)
    assert not is_confirmed(parse_address("s3://bucket/run-2"))
    assert not is_confirmed(parse_address("s3://bucket/run/inside"))
    monkeypatch.setenv(LISTED, "gs://a, s3://bucket/all/")
    assert is_confirmed(parse_address("s3://bucket/all/of/them"))
    assert not is_confirmed(parse_address("s3://bucket/alligator"))


def test_a_url_that_only_the_run_names_is_not_contacted(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="never typed on this computer") as caught:
        require_confirmed(tmp_path, StoreSettings("s3://attacker/bucket", "0"))
    assert "cbench verify" in str(caught.value)


def test_a_missing_driver_says_what_to_type(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(drivers, "s3", raising=False)  # an earlier test may have loaded the driver
    monkeypatch.setitem(sys.modules, "s3fs", None)
    with pytest.raises(Prerequisite, match=r"type: pip install 'convergebench\[s3\]'"):
        RemoteFiles(parse_address("s3://bucket/without-driver")).read("x")
    monkeypatch.setitem(sys.modules, "gcsfs", None)
    with pytest.raises(Prerequisite, match="type: pip install gcsfs"):
        RemoteFiles(parse_address("gs://bucket/x")).read("x")
    with pytest.raises(ConvergeBenchError, match="no installed package knows") as caught:
        RemoteFiles(parse_address("nonsense://bucket/x")).read("x")
    assert "\n" not in str(caught.value)
