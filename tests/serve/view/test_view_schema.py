"""Generated requests to every address of the viewer: no 5xx, and nothing but what its description declares."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from starlette.testclient import TestClient

from convergebench.cli.viewing import trying_for
from convergebench.serve.limits import RequestLimits
from convergebench.serve.view.access import view_headers
from convergebench.serve.view.app import ViewSite, view_app
from convergebench.serve.view.reports import SANDBOX
from convergebench.serve.view.shelf import RunShelf
from tests.serve.openapi import VIEW, Operation, description, require_same_routes, require_secure
from tests.serve.schema_run import only, send_generated

BASE = "http://127.0.0.1:8017"
EXAMPLES = 8
HEADERS = view_headers(embedded=False)


class Viewed(NamedTuple):
    """The app, a browser with its page open, and the app's description."""

    app: Any
    client: TestClient
    headers: dict[str, str]
    document: dict[str, Any]
    told: list[str]


@pytest.fixture(scope="module")
def viewed(made: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Viewed]:
    folder = tmp_path_factory.mktemp("described")
    shutil.copytree(made, folder / "small")
    shelf, told = RunShelf([folder]), list[str]()
    trying = trying_for(shelf, wanted=True)
    limits = RequestLimits(rate=1e9, burst=1e9)
    app = view_app(ViewSite(shelf, trying=trying, tell=told.append, limits=limits))
    client = TestClient(app, base_url=BASE, raise_server_exceptions=False, follow_redirects=False)
    (word,) = re.findall(r'name="word" content="(\w+)"', client.get("/try").text)
    images = client.get("/api/runs/small/images").json()
    place = [column["name"] for column in images["columns"]].index("image")
    digests = [row[place] for row in images["rows"][:2]]
    chains = [row[0] for row in client.get("/api/runs/small/chains").json()["rows"][:2]]
    known = {
        "run": ["small"],
        "image": [*digests, f"{digests[0]}.json"],
        "other": digests,
        "chain": chains,
        "tab": ["images", "chains"],
        "name": ["report.css", "run.js"],
        "level": ["0", "6"],
        "place": ["0_0.webp", "9_9.webp"],
        "file": ["difference.png", "ssim.json"],
        "worn": [f"{digests[0]}.png", f"{digests[0]}.json"],
    }
    document = description("viewer", VIEW, HEADERS, known)
    try:
        yield Viewed(app, client, {"origin": BASE, "x-view-word": word}, document, told)
    finally:
        trying.close()


def test_the_description_has_every_address_and_no_other(viewed: Viewed) -> None:
    require_same_routes(viewed.app, VIEW)


@pytest.mark.parametrize("one", VIEW, ids=lambda one: f"{one.method} {one.path}")
def test_whatever_is_asked_the_reply_is_as_described(viewed: Viewed, one: Operation) -> None:
    statuses: set[int] = set()

    def look(case: Any, reply: Any) -> None:
        statuses.add(reply.status_code)
        require_secure(reply.headers)
        own = SANDBOX if one.path.startswith("/report/") and reply.status_code == 200 else {}
        for name, value in {**HEADERS, **own}.items():
            if name not in ("cache-control",):
                assert reply.headers[name] == value, name
        assert viewed.told == []

    sent = send_generated(only(viewed.document, one), viewed.client, look, examples=EXAMPLES, headers=viewed.headers)
    assert sent
    if one.method == "get" and not one.path.startswith("/report/"):
        assert statuses & set(one.good), f"no request was answered well: {statuses}"
