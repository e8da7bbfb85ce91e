"""Generated requests to every address of the rating page: no 5xx, and nothing but what its description declares."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from convergebench.serve.guard import HEADERS
from tests.serve.openapi import RATING, Operation, description, require_same_routes, require_secure, words
from tests.serve.rating.site import RaterClient, Site, site
from tests.serve.schema_run import only, send_generated

EXAMPLES = 8


class Rated(NamedTuple):
    """The site, a rater with the page open, and the app's description."""

    site: Site
    rater: RaterClient
    document: dict[str, Any]


@pytest.fixture(scope="module")
def rated(made: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Rated]:
    root = tmp_path_factory.mktemp("described") / "run"
    shutil.copytree(made, root)
    with site(root, raters=2) as found:
        rater = found.rater(1)
        items = rater.items()
        known = {"token": [found.begun.links[1]], "picture": [items[0]["input"], items[0]["pictures"][0]]}
        document = description("rating page", RATING, HEADERS, known)
        asked = document["paths"]["/r/{token}/answers"]["post"]["requestBody"]["content"]["application/json"]
        asked["schema"]["properties"]["item"] = words(*(one["id"] for one in items[:3]), "0" * 32)
        yield Rated(found, rater, document)


def test_the_description_has_every_address_and_no_other(rated: Rated) -> None:
    require_same_routes(rated.site.app, RATING)


@pytest.mark.parametrize("one", RATING, ids=lambda one: f"{one.method} {one.path}")
def test_whatever_is_asked_the_reply_is_as_described(rated: Rated, one: Operation) -> None:
    statuses: set[int] = set()

    def look(case: Any, reply: Any) -> None:
        statuses.add(reply.status_code)
        require_secure(reply.headers)
        for name, value in HEADERS.items():
            if name != "cache-control" or reply.headers.get("content-type") != "image/png":
                assert reply.headers[name] == value, name
        assert rated.site.told == []

    client, headers = rated.rater.client, rated.rater.headers
    sent = send_generated(only(rated.document, one), client, look, examples=EXAMPLES, headers=headers)
    assert sent
    assert statuses & set(one.good) or one.method == "post", f"no request was answered well: {statuses}"
