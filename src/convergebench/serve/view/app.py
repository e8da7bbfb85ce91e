"""The viewer as an ASGI application: pages, data and images are read-only; only *try it* makes something."""

from __future__ import annotations

import secrets
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from typing import TypeVar

from anyio import CapacityLimiter
from anyio.to_thread import run_sync
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response
from starlette.routing import Route

from convergebench.errors import ConvergeBenchError
from convergebench.redaction import redact
from convergebench.serve.defence import Defence
from convergebench.serve.guard import Guard, Refusal
from convergebench.serve.limits import RequestLimits
from convergebench.serve.view.access import WORD, Access, view_headers
from convergebench.serve.view.answers import ViewAnswers
from convergebench.serve.view.pages import RUN_MODULES, ViewerPages
from convergebench.serve.view.pictures import ViewPictures
from convergebench.serve.view.replies import ASK, data_reply, file_reply
from convergebench.serve.view.reports import SANDBOX, read_report_file
from convergebench.serve.view.shelf import RunShelf
from convergebench.serve.view.trying import NO_TRYING, TryIt, read_upload
from convergebench.texts import plain_line

T = TypeVar("T")

READING, DRAWING, JUDGING = 4, 3, 1
"""Requests that read tables, read pixels or judge a picture at the same time; more wait, so that memory stays flat."""
GONE = 499
"""The status of a reply that nobody waits for."""


@dataclass(frozen=True)
class ViewSite:
    """What is served, and to whom."""

    shelf: RunShelf
    token: str = ""
    """Asked for if not empty."""
    names: tuple[str, ...] = ()
    """Names under which browsers reach the server, besides IP addresses and localhost."""
    port: int = 0
    """Part of the cookie's name: cookies are shared by all ports of a host."""
    trying: TryIt = NO_TRYING
    embedded: bool = False
    """Whether a notebook shows it in a frame."""
    warm: bool = False
    """Whether the latest run is read before anybody asks for it."""
    tell: Callable[[str], None] = lambda line: None
    """Where one line about an unexpected failure goes."""
    limits: RequestLimits = field(default_factory=lambda: RequestLimits(rate=3_000, burst=12_000))


def view_app(site: ViewSite) -> Starlette:
    """The application."""
    served = _Served(site)
    guard = served.guard
    if site.warm:
        served.in_background(served.warm)
    pages = [
        Route(path, served.page, methods=["GET"])
        for path in ("/", "/try", "/run/{run:str}", "/run/{run:str}/{tab:str}", "/run/{run:str}/chain/{chain:str}")
    ]
    run = "/api/runs/{run:str}"
    routes = [
        *pages,
        Route("/favicon.ico", served.icon, methods=["GET"]),
        Route("/static/{name:str}", served.static, methods=["GET"]),
        Route("/report/{run:str}/{word:str}/{path:path}", served.report, methods=["GET"]),
        Route("/api/runs", served.data(served.answers.runs), methods=["GET"]),
        Route(run, served.data(served.answers.run), methods=["GET"]),
        Route(f"{run}/live", served.data(served.answers.live), methods=["GET"]),
        Route(f"{run}/chains", served.data(served.answers.chains), methods=["GET"]),
        Route(f"{run}/images", served.data(served.answers.images), methods=["GET"]),
        Route(f"{run}/curves", served.data(served.answers.curves), methods=["GET"]),
        Route(f"{run}/chains/{{chain:str}}", served.data(served.answers.chain), methods=["GET"]),
        Route("/api/editors", served.editors, methods=["GET"]),
        Route("/api/try", served.begin, methods=["POST"]),
        Route("/api/try/{run:str}/stop", served.stop, methods=["POST"]),
        Route("/image/{run:str}/{image:str}", served.drawn(served.pictures.image), methods=["GET"]),
        Route("/thumb/{run:str}/{image:str}", served.drawn(served.pictures.thumbnail), methods=["GET"]),
        Route("/tile/{run:str}/{image:str}", served.drawn(served.pictures.tiling), methods=["GET"]),
        Route("/tile/{run:str}/{image:str}/{level:str}/{place:str}", served.drawn(served.pictures.tile)),
        Route("/map/{run:str}/{image:str}/{other:str}/{file:str}", served.drawn(served.pictures.map)),
        Route("/worn/{run:str}/{worn:str}", served.worn, methods=["GET"]),
    ]
    app = Starlette(
        routes=routes,
        exception_handlers={HTTPException: _no_page, Refusal: _refused, ConvergeBenchError: _unreadable},
        middleware=[
            Middleware(
                Defence,
                guard=guard,
                limits=site.limits,
                tell=site.tell,
                headers=view_headers(embedded=site.embedded),
            ),
            Middleware(Access, guard=guard, limits=site.limits, token=site.token, embedded=site.embedded),
        ],
    )
    app.router.redirect_slashes = False  # an address is there or it is not
    return app


class _Served:
    def __init__(self, site: ViewSite) -> None:
        self.site = site
        self.guard = Guard(secrets.token_hex(32), cookie=f"cbench-view-{site.port}", csrf_header=WORD, names=site.names)
        self.pages = ViewerPages()
        self.answers = ViewAnswers(site.shelf, self.guard)
        self.pictures = ViewPictures(site.shelf)
        self._reading, self._drawing = CapacityLimiter(READING), CapacityLimiter(DRAWING)
        self._judging = CapacityLimiter(JUDGING)

    def _session(self, request: Request) -> str:
        return request.cookies.get(self.guard.cookie, "") if self.site.token else "open"

    async def page(self, request: Request) -> Response:
        name = request.path_params.get("run")
        if name is not None and name in self.site.shelf.runs():
            # read the tables while the browser still loads the page
            self.in_background(partial(self.answers.warm, name))
        modules = RUN_MODULES if name is not None and "chain" not in request.path_params else ()
        return HTMLResponse(self.pages.shell(self.guard.csrf(self._session(request)), modules))

    def warm(self) -> None:
        """Read the latest run, then make the library of charts ready, which takes seconds, then read other runs."""
        latest = self.answers.latest()
        self._read(latest[:1])
        self.pages.static("vega.js")
        self._read(latest[1:])

    def _read(self, names: Sequence[str]) -> None:
        for name in names:
            with suppress(Exception):  # the request for it will say what is wrong
                self.answers.warm(name)

    def in_background(self, work: Callable[[], None]) -> None:
        """Read something before it is asked for."""

        def read() -> None:
            with suppress(Exception):  # the request for it will say what is wrong
                work()

        threading.Thread(target=read, daemon=True).start()

    async def icon(self, request: Request) -> Response:
        return Response(status_code=204)

    async def static(self, request: Request) -> Response:
        found = await run_sync(self.pages.static, request.path_params["name"])
        if found is None:
            raise Refusal(404, "There is no such page.")
        return file_reply(request, found.data, found.kind, tag=found.tag, cache=ASK)

    async def report(self, request: Request) -> Response:
        parts = request.path_params
        root = self.site.shelf.root(parts["run"])
        work = partial(read_report_file, self.guard, parts["run"], parts["word"], root, parts["path"])
        found = await run_sync(work, limiter=self._reading)
        return Response(found.data, media_type=found.kind, headers=SANDBOX)

    def data(self, answer: Callable[[Request], object]) -> Callable[[Request], object]:
        """An address that answers with JSON."""

        async def serve(request: Request) -> Response:
            return await self._work(lambda: data_reply(request, answer(request)), self._reading)

        return serve

    def drawn(self, answer: Callable[[Request], Response]) -> Callable[[Request], object]:
        """An address that answers with pixels."""

        async def serve(request: Request) -> Response:
            return await self._work(lambda: answer(request), self._drawing)

        return serve

    async def worn(self, request: Request) -> Response:
        """Judging a large picture takes seconds: one at a time, and none for a browser that went on to another."""
        known = await self._work(lambda: self.pictures.worn(request, known=True), self._drawing)
        if known is not None:
            return known
        async with self._judging:
            if await request.is_disconnected():
                return Response(status_code=GONE)
            found = await run_sync(self.pictures.worn, request)
        assert found is not None
        return found

    async def _work(self, work: Callable[[], T], limiter: CapacityLimiter) -> T:
        return await run_sync(work, limiter=limiter)

    async def editors(self, request: Request) -> Response:
        return await self._work(lambda: data_reply(request, self.site.trying.offered()), self._reading)

    async def begin(self, request: Request) -> Response:
        self.guard.require_own_page(request, self._session(request))
        self.site.trying.require()
        upload = await read_upload(request)
        name = await self._work(lambda: self.site.trying.begin(upload), self._drawing)
        return JSONResponse({"run": name}, 201)

    async def stop(self, request: Request) -> Response:
        self.guard.require_own_page(request, self._session(request))
        self.site.trying.require()
        await self._work(lambda: self.site.trying.stop(request.path_params["run"]), self._reading)
        return JSONResponse({"run": request.path_params["run"]})


async def _refused(request: Request, refusal: Exception) -> Response:
    assert isinstance(refusal, Refusal)
    return JSONResponse({"error": plain_line(redact(refusal.words))}, refusal.status)


async def _unreadable(request: Request, error: Exception) -> Response:
    """A damaged run."""
    return JSONResponse({"error": plain_line(redact(str(error)))}, 422)


async def _no_page(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    return JSONResponse({"error": "There is no such page."}, error.status_code, headers=error.headers)
