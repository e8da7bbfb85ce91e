"""The rating server as an ASGI application: five addresses, one of which writes.

Everything of a rater lies below `/r/SECRET`. The secret in the address says who it is; the cookie of that page, which
other sites cannot send, and the word on the page say that the rater's own page is asking.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response
from starlette.routing import Route

from convergebench.errors import ConvergeBenchError
from convergebench.serve.defence import Defence
from convergebench.serve.guard import HEADERS, Guard, Refusal, is_token
from convergebench.serve.limits import RequestLimits
from convergebench.serve.rating.answers import LONGEST, checked_values, read_answer
from convergebench.serve.rating.page import RaterPages
from convergebench.serve.rating.pictures import Pictures
from convergebench.serve.rating.raters import RaterView
from convergebench.store.rating_book import RatingBook

NO_LINK = "This link is not valid. Ask whoever sent it to you for another one."
TOO_MANY = "Too many requests; wait a moment."


@dataclass(frozen=True)
class RatingSite:
    """What is served."""

    book: RatingBook
    pictures: Pictures
    mode: str
    study: str
    questions: Mapping[str, Sequence[float]]
    hash_of: Callable[[str], str]
    """What the book keeps of a link's secret."""
    names: tuple[str, ...] = ()
    """Names under which raters reach the server, besides IP addresses and localhost."""
    secure: bool = False
    show_clean: bool = False
    limits: RequestLimits = field(default_factory=RequestLimits)
    tell: Callable[[str], None] = lambda line: None
    """Where one line about an unexpected failure goes."""


def rating_app(site: RatingSite) -> Starlette:
    """The application."""
    served = _Served(site)
    routes = [
        Route("/", served.front, methods=["GET"]),
        Route("/favicon.ico", served.icon, methods=["GET"]),
        Route("/static/rating.css", served.style, methods=["GET"]),
        Route("/static/rating.js", served.script, methods=["GET"]),
        Route("/r/{token:str}", served.page, methods=["GET"]),
        Route("/r/{token:str}/items", served.items, methods=["GET"]),
        Route("/r/{token:str}/picture/{picture:str}", served.picture, methods=["GET"]),
        Route("/r/{token:str}/answers", served.answer, methods=["POST"]),
    ]
    handlers = {HTTPException: _no_page, Refusal: served.refused}
    app = Starlette(
        routes=routes,
        exception_handlers=handlers,
        middleware=[Middleware(Defence, guard=served.guard, limits=site.limits, tell=site.tell, headers=HEADERS)],
    )
    app.router.redirect_slashes = False  # an address is there or it is not
    return app


class _Served:
    def __init__(self, site: RatingSite) -> None:
        self.site = site
        self.guard = Guard(
            site.book.facts["secret"],
            cookie="rating",
            csrf_header="x-rating-session",
            names=site.names,
            secure=site.secure,
        )
        self.pages = RaterPages(site.mode, site.questions, study=site.study, show_clean=site.show_clean)
        self._views: dict[int, RaterView] = {}

    async def front(self, request: Request) -> Response:
        return HTMLResponse(self.pages.message("Open the link that you were given."))

    async def icon(self, request: Request) -> Response:
        return Response(status_code=204)

    async def style(self, request: Request) -> Response:
        return Response(self.pages.style, media_type="text/css")

    async def script(self, request: Request) -> Response:
        return Response(self.pages.script, media_type="text/javascript")

    async def page(self, request: Request) -> Response:
        """The rater's page; it begins a session."""
        view = await self._view(request)
        base = f"/r/{request.path_params['token']}"
        try:  # two windows of one rater have the same session
            session = self.guard.require_session(request, view.number)
        except Refusal:
            session = self.guard.new_session(view.number)
        reply = HTMLResponse(self.pages.page(base, self.guard.csrf(session), len(view.showings)))
        reply.set_cookie(
            *(self.guard.cookie, session),
            path=base,
            httponly=True,
            samesite="strict",
            secure=self.guard.secure,
            max_age=90 * 86_400,
        )
        return reply

    async def items(self, request: Request) -> Response:
        """All showings with the answers so far."""
        view = await self._view(request)
        self.guard.require_session(request, view.number)
        answers = await run_in_threadpool(self.site.book.answers, view.number)
        return JSONResponse({"items": view.items(answers)})

    async def picture(self, request: Request) -> Response:
        """One picture of this rater."""
        view = await self._view(request)
        self.guard.require_session(request, view.number)
        image = view.pictures.get(request.path_params["picture"])
        if image is None:
            raise Refusal(404, "There is no such picture.")
        try:
            data = await run_in_threadpool(self.site.pictures.png, image)
        except (ConvergeBenchError, KeyError) as error:
            self.site.tell(f"a picture cannot be shown: {error}")
            raise Refusal(410, "This picture is damaged; choose “cannot say”.") from error
        return Response(data, media_type="image/png", headers={"cache-control": "private, max-age=86400, immutable"})

    async def answer(self, request: Request) -> Response:
        """Keep an answer; the reply is sent when it is on the disk."""
        view = await self._view(request)
        session = self.guard.require_session(request, view.number)
        self.guard.require_own_page(request, session)
        sent = await read_answer(request)
        values = checked_values(sent, {name: tuple(one) for name, one in self.site.questions.items()})
        if sent.item not in view.positions:
            raise Refusal(404, "There is no such picture.")
        seconds = min(float(sent.seconds), LONGEST)
        try:
            await run_in_threadpool(
                self.site.book.answer, view.number, view.positions[sent.item], values, seconds=seconds
            )
        except sqlite3.Error as error:
            self.site.tell(f"an answer could not be kept: {error}")
            raise Refusal(503, "Your answer could not be kept; it is sent again.") from error
        return JSONResponse({"kept": values})

    async def refused(self, request: Request, refusal: Exception) -> Response:
        assert isinstance(refusal, Refusal)
        if "text/html" in request.headers.get("accept", ""):
            return HTMLResponse(self.pages.message(refusal.words), refusal.status)
        return JSONResponse({"error": refusal.words}, refusal.status)

    async def _view(self, request: Request) -> RaterView:
        """The rater of the link; one without a good link learns nothing."""
        token, address = str(request.path_params["token"]), request.client.host if request.client else ""
        number = await run_in_threadpool(self.site.book.rater_of, self.site.hash_of(token)) if is_token(token) else None
        if number is None:
            raise Refusal(404, NO_LINK) if self.site.limits.guesses.take(address) else Refusal(429, TOO_MANY)
        if not self.site.limits.by_rater.take(str(number)):
            raise Refusal(429, TOO_MANY)
        if number not in self._views:
            showings = tuple(await run_in_threadpool(self.site.book.showings, number))
            self._views[number] = RaterView(number, showings, self.guard, self.site.show_clean)
        return self._views[number]


async def _no_page(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    return JSONResponse({"error": "There is no such page."}, error.status_code, headers=error.headers)
