"""The two web apps under load for a while: python -m benchmarks.soak [--seconds N] [--clients N] [--json]

The viewer and the rating page are served on ports of this computer, as `cbench view` and `cbench rate` serve them, and
a bare Starlette app that answers with one line beside them. Each gets the same number of clients for the same time;
they ask for pages, data, pictures and maps, and send answers. Reported: requests per second relative to the bare app in
the same run, the median and the 99th percentile of the time of a reply, how much memory the process gained over the
second half, and errors, of which there may be none. The limits on requests of one address are off.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from itertools import count, cycle
from pathlib import Path
from threading import Thread
from typing import Any, NamedTuple

import httpx
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.routing import Route

from convergebench.serve.limits import RequestLimits
from convergebench.serve.server import LOOPBACK, bound_socket, page_server
from convergebench.serve.view.app import ViewSite, view_app
from convergebench.serve.view.shelf import RunShelf


def no_limits() -> RequestLimits:
    """Limits on a clock that runs a million times as fast."""
    return RequestLimits(lambda: 1e6 * time.monotonic(), rate=1e9, burst=1e9)


class SentRequest(NamedTuple):
    """One request, and what it may answer with."""

    method: str
    path: str
    body: Any = None
    headers: dict[str, str] | None = None
    good: tuple[int, ...] = (200, 304)


class SoakResult(NamedTuple):
    """How one app fared."""

    name: str
    requests: int
    per_second: float
    median_ms: float
    slowest_ms: float
    """99th percentile."""
    gained_mb: float
    """Memory at the end less memory at half time."""
    errors: int


@contextmanager
def served(app: Starlette) -> Iterator[str]:
    """The address of an app that a thread of this process serves."""
    socket = bound_socket(LOOPBACK, 0)
    server = page_server(app)
    thread = Thread(target=server.run, kwargs={"sockets": [socket]})
    thread.start()
    while not server.started:
        time.sleep(0.01)
    try:
        yield f"http://{LOOPBACK}:{socket.getsockname()[1]}"
    finally:
        server.should_exit = True
        thread.join(30)
        socket.close()


def resident_mb() -> float:
    """Memory of this process; 0 where the system does not say."""
    try:
        return int(Path("/proc/self/status").read_text().partition("VmRSS:")[2].split()[0]) / 1024
    except OSError:
        return 0.0


async def load(base: str, asked: Sequence[SentRequest], *, clients: int, seconds: float) -> tuple[list[float], int]:
    """(milliseconds of every reply, errors): each client asks for one thing after the other, from its own place on."""
    times: list[float] = []
    errors = 0
    end = time.monotonic() + seconds
    numbers = count()

    async def ask(client: httpx.AsyncClient) -> None:
        nonlocal errors
        start = next(numbers) * 7 % len(asked)
        for one in cycle([*asked[start:], *asked[:start]]):
            if time.monotonic() > end:
                return
            began = time.perf_counter()
            try:
                reply = await client.request(one.method, one.path, json=one.body, headers=one.headers)
                errors += reply.status_code not in one.good
            except httpx.HTTPError:
                errors += 1
            times.append(1000 * (time.perf_counter() - began))

    limits = httpx.Limits(max_connections=clients)
    async with httpx.AsyncClient(base_url=base, timeout=60, limits=limits) as client:
        await asyncio.gather(*(ask(client) for _ in range(clients)))
    return times, errors


def soak(name: str, app: Starlette, requests: Callable[[str], Sequence[SentRequest]], given: Any) -> SoakResult:
    """Load one app in two halves."""
    with served(app) as base:
        asked = requests(base)
        first, faults = asyncio.run(load(base, asked, clients=given.clients, seconds=given.seconds / 2))
        half = resident_mb()
        began = time.monotonic()
        second, more = asyncio.run(load(base, asked, clients=given.clients, seconds=given.seconds / 2))
        spent, gained = time.monotonic() - began, resident_mb() - half
    slow = sorted([*first, *second])
    return SoakResult(
        name,
        len(slow),
        len(second) / spent,
        statistics.median(slow),
        slow[int(0.99 * (len(slow) - 1))],
        gained,
        faults + more,
    )


def bare_app() -> Starlette:
    """An app that does nothing but answer."""

    async def answer(request: Request) -> PlainTextResponse:
        return PlainTextResponse("an answer of one line")

    return Starlette(routes=[Route("/", answer)])


def viewer_requests(base: str) -> list[SentRequest]:
    """What a person does who looks through a run."""
    with httpx.Client(base_url=base, timeout=60) as client:
        table = client.get("/api/runs/run/images").json()
        place = [column["name"] for column in table["columns"]].index("image")
        images = [row[place] for row in table["rows"]]
        chains = [row[0] for row in client.get("/api/runs/run/chains").json()["rows"]]
    paths = [
        "/",
        "/api/runs",
        "/run/run",
        "/api/runs/run",
        "/api/runs/run/live",
        "/static/run.js",
        "/static/report.css",
    ]
    paths += ["/api/runs/run/images?sort=-psnr&limit=50", "/api/runs/run/chains", "/api/runs/run/curves?metric=psnr"]
    paths += [f"/api/runs/run/chains/{chain}" for chain in chains]
    paths += [f"/thumb/run/{image}?size=192" for image in images] + [f"/image/run/{image}" for image in images[:8]]
    paths += [f"/tile/run/{image}/6/0_0.webp" for image in images[:8]]
    paths += [f"/map/run/{images[0]}/{image}/difference.png" for image in images[1:4]]
    return [SentRequest("GET", path) for path in paths]


def main() -> int:
    """Run all three and print a table; 1 if there was an error."""
    from tests.serve.rating.site import RaterClient
    from tests.serve.view.drawn_runs import drawn_run

    parser = argparse.ArgumentParser(prog="python -m benchmarks.soak", description=__doc__)
    parser.add_argument("--seconds", type=float, default=60, help="for each app")
    parser.add_argument("--clients", type=int, default=8, help="at the same time")
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        drawn_run(folder / "run", count=4, rounds=3, report=False)
        viewer = view_app(ViewSite(RunShelf([folder]), limits=no_limits()))
        results = [
            soak("bare Starlette", bare_app(), lambda base: [SentRequest("GET", "/")], given),
            soak("viewer", viewer, viewer_requests, given),
            _soak_rating(folder / "run", given, RaterClient),
        ]
    if given.json:
        print(json.dumps([one._asdict() for one in results], indent=1))
    else:
        heads = ("requests", "per second", "of bare", "median", "99 %", "memory", "errors")
        print(f"{'app':16}" + "".join(f"{head:>12}" for head in heads))
        for one in results:
            share = one.per_second / results[0].per_second
            print(
                f"{one.name:16}{one.requests:>12,}{one.per_second:>12,.0f}{share:>12.2f}{one.median_ms:>9.1f} ms"
                f"{one.slowest_ms:>9.1f} ms{one.gained_mb:>+9.1f} MB{one.errors:>12}"
            )
    return 1 if any(one.errors for one in results) else 0


def _soak_rating(root: Path, given: Any, rater: Any) -> SoakResult:
    from convergebench.conductor.rating_setup import RatingRequest, begin_rating
    from tests.serve.rating.site import Site

    site = Site(root, begin_rating(root, RatingRequest(raters=2)), limits=no_limits())

    def requests(base: str) -> list[SentRequest]:
        client = httpx.Client(base_url=base, timeout=60)
        open_page = rater(client, f"/r/{site.begun.links[1]}")
        items = open_page.items()
        headers = {**open_page.headers, "cookie": "; ".join(f"{one}={value}" for one, value in client.cookies.items())}
        asked = [SentRequest("GET", path, headers=headers) for path in (open_page.path, f"{open_page.path}/items")]
        for item in items:
            asked += [
                SentRequest("GET", f"{open_page.path}/picture/{image}", headers=headers)
                for image in (item["input"], *item["pictures"])
            ]
            body = {"item": item["id"], "values": {"score": 3}, "seconds": 1.5}
            asked.append(SentRequest("POST", f"{open_page.path}/answers", body, headers))
        return asked

    try:
        return soak("rating page", site.app, requests, given)
    finally:
        site.book.close()


if __name__ == "__main__":
    sys.exit(main())
