"""A rating site without a network, and a rater who behaves like the page."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from starlette.testclient import TestClient

from convergebench.conductor.rating_setup import RatingBegun, RatingRequest, begin_rating, read_settings, token_hash
from convergebench.serve.limits import RequestLimits
from convergebench.serve.rating.app import RatingSite, rating_app
from convergebench.serve.rating.pictures import Pictures
from convergebench.store.images import open_images
from convergebench.store.rating_book import RatingBook
from convergebench.store.records import Records

BASE = "http://127.0.0.1:8017"


class Site:
    """An open site; `told` has the lines for the person who runs it."""

    def __init__(self, root: Path, begun: RatingBegun, **more: Any) -> None:
        self.root, self.begun = root, begun
        self.book = RatingBook.open(begun.path)
        records = Records(root / "run.sqlite")
        files = {identity: row.file for identity, row in records.images().items()}
        records.close()
        settings = read_settings(self.book)
        self.told: list[str] = []
        self.app = rating_app(
            RatingSite(
                self.book,
                Pictures(open_images(root), files),
                *(settings.mode, settings.study, settings.questions, token_hash),
                show_clean=settings.show_clean,
                tell=self.told.append,
                **more,
            )
        )

    def client(self, base: str = BASE) -> TestClient:
        """A browser that has not opened a link yet."""
        return TestClient(self.app, base_url=base, raise_server_exceptions=False, follow_redirects=False)

    def rater(self, number: int = 1) -> RaterClient:
        """One with the page of this rater open."""
        return RaterClient(self.client(), f"/r/{self.begun.links[number]}")


class RaterClient:
    """What the page does: open, look, answer."""

    def __init__(self, client: Any, path: str) -> None:
        self.client, self.path = client, path
        page = client.get(path)
        assert page.status_code == 200, page.text
        (self.session,) = re.findall(r'data-session="(\w+)"', page.text)
        self.page = page.text
        self.headers = {"origin": str(client.base_url).rstrip("/"), "x-rating-session": self.session}

    def items(self) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = self.client.get(f"{self.path}/items").json()["items"]
        return found

    def answer(self, item: str, values: dict[str, Any], seconds: float = 1.5, **headers: Any) -> Any:
        sent = {"item": item, "values": values, "seconds": seconds}
        return self.client.post(f"{self.path}/answers", json=sent, headers={**self.headers, **headers})

    def rate_all(self, value: float | None = 3, question: str = "score") -> None:
        for item in self.items():
            assert self.answer(item["id"], {question: value}).status_code == 200


@contextmanager
def site(root: Path, *, clock: Any = None, **request: Any) -> Iterator[Site]:
    """A site with a new plan; no limits unless a clock is given."""
    limits = RequestLimits(clock) if clock else RequestLimits(_endless())
    found = Site(root, begin_rating(root, RatingRequest(**request)), limits=limits)
    try:
        yield found
    finally:
        found.book.close()


def _endless() -> Any:
    """A clock on which an hour passes between any two requests."""
    now = iter(range(0, 10**12, 3600))
    return lambda: float(next(now))
