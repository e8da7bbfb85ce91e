"""Who may look: everybody on this computer, or whoever has the token.

A link with `?token=…` is answered once with a cookie and the same address without the token, so that the token does
not stay in the address bar or in links that are copied from it.
"""

from __future__ import annotations

import hmac
import re
import secrets
from contextlib import suppress
from urllib.parse import parse_qsl, quote, urlencode

from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, RedirectResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from convergebench.errors import StudyError
from convergebench.serve.guard import HEADERS, Guard, Refusal
from convergebench.serve.limits import RequestLimits

HOLDER = "view"
FRAMED = "-framed"
"""End of the name of the cookie for frames."""
LONGEST_QUERY, LONGEST_PATH = 8192, 2048
LONGEST_HEAD = 2**21
"""Bytes of a request's head that are read, so that a longer address is refused in a sentence."""
_TOKEN = re.compile(r"[A-Za-z0-9_-]{16,200}")
WORD = "x-view-word"
"""The header in which the page sends its word when it writes."""
OPEN = re.compile(r"/(favicon\.ico$|report/)")
"""Addresses without a cookie: those of reports carry a word of their own."""
_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob: data:; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors "
)
NOTEBOOKS = "'self' http://localhost:* http://127.0.0.1:* https: vscode-webview:"
"""Pages that may show the viewer in a frame when a notebook started it."""


def new_token() -> str:
    """A random token."""
    return secrets.token_urlsafe(24)


def require_token(token: str) -> str:
    """The same; `StudyError` if it is too easy to guess or does not fit into an address."""
    if not _TOKEN.fullmatch(token):
        raise StudyError("--token: use at least 16 letters, digits, - or _")
    return token


def view_headers(*, embedded: bool) -> dict[str, str]:
    """The headers of every reply; `embedded`: a notebook may show the page in a frame."""
    found = {**HEADERS, "content-security-policy": _POLICY + (NOTEBOOKS if embedded else "'none'")}
    if embedded:
        del found["x-frame-options"]
        found["cross-origin-opener-policy"] = "unsafe-none"
    return found


class Access:
    """ASGI middleware: short addresses only, and the token where there is one."""

    def __init__(self, app: ASGIApp, guard: Guard, limits: RequestLimits, token: str, embedded: bool) -> None:
        self._app, self._guard, self._limits, self._token = app, guard, limits, token
        self._embedded = embedded

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let a request pass, give it a cookie, or refuse it."""
        request = Request(scope)
        try:
            _require_short(scope)
            reply = self._let_in(request)
        except Refusal as refusal:
            html = "text/html" in request.headers.get("accept", "")
            words = PlainTextResponse(refusal.words, refusal.status) if html else None
            await (words or JSONResponse({"error": refusal.words}, refusal.status))(scope, receive, send)
            return
        await (reply or self._app)(scope, receive, send)

    def _let_in(self, request: Request) -> RedirectResponse | None:
        if not self._token or OPEN.match(request.url.path):
            return None
        given = request.query_params.get("token")
        if given is not None:
            if not hmac.compare_digest(given.encode("utf-8", "replace"), self._token.encode()):
                address = request.client.host if request.client else ""
                if not self._limits.guesses.take(address):
                    raise Refusal(429, "Too many requests; wait a moment.")
                raise Refusal(401, "This token is not valid; use the link that cbench view printed.")
            if request.method == "GET":
                return self._welcome(request)
        for cookie in (self._guard.cookie, self._guard.cookie + FRAMED):
            with suppress(Refusal):
                self._guard.require_session(request, HOLDER, cookie)
                return None
        raise Refusal(401, "Open the link that cbench view printed; it has the token.")

    def _welcome(self, request: Request) -> RedirectResponse:
        rest = [(name, value) for name, value in parse_qsl(request.url.query) if name != "token"]
        path = quote("/" + request.scope["path"].lstrip("/"))
        reply = RedirectResponse(f"{path}?{urlencode(rest)}" if rest else path, 303)
        kept = f"{self._guard.new_session(HOLDER)}; Path=/; HttpOnly; SameSite="
        reply.headers.append("set-cookie", f"{self._guard.cookie}={kept}Lax")
        if self._embedded:  # in a notebook's frame a browser keeps only a cookie that is meant for frames
            reply.headers.append("set-cookie", f"{self._guard.cookie}{FRAMED}={kept}None; Secure; Partitioned")
        return reply


def _require_short(scope: Scope) -> None:
    if len(scope.get("query_string", b"")) > LONGEST_QUERY or len(scope["path"]) > LONGEST_PATH:
        raise Refusal(414, "This address is too long.")
    if "\0" in scope["path"] or b"%00" in scope.get("query_string", b"").lower():
        raise Refusal(400, "This address has a NUL in it.")
