"""Every request that changes something, by the description of both apps: only from the app's own page."""

from __future__ import annotations

from typing import Any

import pytest

from tests.serve.openapi import RATING, VIEW, Operation, routes_of
from tests.serve.rating.site import Site
from tests.serve.rating.site import site as rating_site
from tests.serve.view.drawn_runs import drawn_run

WRITING = [("view", one) for one in VIEW if one.method != "get"] + [
    ("rating", one) for one in RATING if one.method != "get"
]
BASE = "http://127.0.0.1:8017"
FOREIGN: dict[str, dict[str, str | None]] = {
    "no word": {"word": None},
    "another word": {"word": "0" * 64},
    "another site": {"origin": "https://evil.example"},
    "no origin": {"origin": None},
    "a null origin": {"origin": "null"},
    "another port": {"origin": "http://127.0.0.1:1"},
    "a browser that says so": {"sec-fetch-site": "cross-site"},
    "a browser on a sibling": {"sec-fetch-site": "same-site"},
}


@pytest.fixture(scope="module")
def apps(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """Per app: a client with its page open, and the headers of that page."""
    import re

    from starlette.testclient import TestClient

    from convergebench.cli.viewing import trying_for
    from convergebench.serve.limits import RequestLimits
    from convergebench.serve.view.app import ViewSite, view_app
    from convergebench.serve.view.shelf import RunShelf

    folder = tmp_path_factory.mktemp("writing")
    drawn_run(folder / "run", count=2, rounds=1, editors={"copy": 0, "darker": 30}, report=False)
    shelf = RunShelf([folder])
    trying = trying_for(shelf, wanted=True)
    view = view_app(ViewSite(shelf, trying=trying, limits=RequestLimits(rate=1e9, burst=1e9)))
    client = TestClient(view, base_url=BASE, raise_server_exceptions=False)
    (word,) = re.findall(r'name="word" content="(\w+)"', client.get("/try").text)
    with rating_site(folder / "run", raters=1) as site:
        rater = site.rater(1)
        yield {
            "view": (client, {"origin": BASE, "x-view-word": word}, "x-view-word", ""),
            "rating": (rater.client, rater.headers, "x-rating-session", site.begun.links[1]),
            "site": site,
        }
    trying.close()


@pytest.mark.parametrize("how", FOREIGN)
@pytest.mark.parametrize(("app", "one"), WRITING, ids=[f"{app} {one.path}" for app, one in WRITING])
def test_a_request_that_another_page_could_send_is_refused(apps: Any, app: str, one: Operation, how: str) -> None:
    client, own, word, token = apps[app]
    headers = dict(own)
    for name, value in FOREIGN[how].items():
        key = word if name == "word" else name
        headers.pop(key, None)
        if value is not None:
            headers[key] = value
    path = one.path.replace("{token}", token).replace("{run}", "run")
    reply = client.request(one.method.upper(), path, headers=headers)
    assert reply.status_code == 403, reply.text
    allowed = client.request(one.method.upper(), path, headers=own)
    assert allowed.status_code != 403, "with the headers of the page it goes on"


def test_no_address_that_is_read_takes_anything_else(apps: Any) -> None:
    site: Site = apps["site"]
    assert {method for method, _ in routes_of(site.app)} == {"get", "post"}
    assert [path for method, path in sorted(routes_of(site.app)) if method == "post"] == ["/r/{token}/answers"]
    client, own, _, _ = apps["view"]
    for path in ("/api/runs", "/api/runs/run", "/image/run/x", "/run/run"):
        for method in ("POST", "PUT", "DELETE", "PATCH"):
            assert client.request(method, path, headers=own).status_code == 405
