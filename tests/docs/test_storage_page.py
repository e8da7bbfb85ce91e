"""The page on stores: what it tells to type works, at a server that speaks S3."""

from __future__ import annotations

import pytest

from convergebench.store.remote import keeper
from tests.docs.shell import Reader
from tests.store.remote.servers import s3_server


def test_what_the_page_tells_to_type_works(reader: Reader, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CONVERGEBENCH_CACHE", str(reader.root / "cache"))
    monkeypatch.setattr(keeper, "INTERVAL", 0.1)
    with s3_server(monkeypatch) as server:
        server.client.create_bucket(Bucket="my-bucket")
        assert reader.page("docs/storage.md") == 9
        sent = server.client.list_objects_v2(Bucket="my-bucket", Prefix="sets/small/")["Contents"]
    assert "sets/small/checksums.sha256" in [one["Key"] for one in sent]
