"""Who may do what: the address that was asked for, the rater's session, and where a request to write comes from."""

from __future__ import annotations

import hashlib
import hmac
import ipaddress
import re
import secrets
from collections.abc import Collection
from urllib.parse import urlsplit

from starlette.requests import Request

COOKIE = "rating"
CSRF = "x-rating-session"
"""The header that a page sends with every answer; a form of another site cannot send it."""
_TOKEN = re.compile(r"[A-Za-z0-9_-]{22}")
_HOST = re.compile(r"(?:\[([0-9a-f:.]+)\]|([a-z0-9._-]+))(?::\d{1,5})?")
HEADERS = {
    "content-security-policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
        "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    ),
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), microphone=(), geolocation=()",
    "cache-control": "no-store",
}
"""On every reply."""


class Refusal(Exception):
    """A request that is not carried out: a status and one sentence for the person."""

    def __init__(self, status: int, words: str) -> None:
        super().__init__(words)
        self.status, self.words = status, words


class Guard:
    """The rules of one server."""

    def __init__(self, secret: str, *, names: Collection[str] = (), secure: bool = False) -> None:
        self._secret = bytes.fromhex(secret)
        self._names = {"localhost", *(name.lower() for name in names)}
        self.secure = secure
        """Whether raters reach the server over https."""

    def require_own_address(self, request: Request) -> None:
        """Only IP addresses and names that the server was told: a foreign name that leads here is rebinding."""
        host = _name(request.headers.get("host", ""))
        if host not in self._names and not _is_ip(host):
            raise Refusal(421, "This server does not answer under that name.")

    def require_own_page(self, request: Request, session: str) -> None:
        """An answer must come from our own page, opened by the rater whose session it is."""
        origin = urlsplit(request.headers.get("origin", ""))
        if origin.scheme not in ("http", "https") or origin.netloc != request.headers.get("host"):
            raise Refusal(403, "Answers are taken from this server's own page only.")
        if request.headers.get("sec-fetch-site", "same-origin") != "same-origin":
            raise Refusal(403, "Answers are taken from this server's own page only.")
        if not hmac.compare_digest(
            request.headers.get(CSRF, "").encode("latin-1", "replace"), self.csrf(session).encode()
        ):
            raise Refusal(403, "This page is out of date: load it again.")

    def new_session(self, rater: int) -> str:
        """What the cookie holds; only this server can make one."""
        nonce = secrets.token_hex(16)
        return f"{nonce}.{self._signed(f'session {rater} {nonce}')}"

    def require_session(self, request: Request, rater: int) -> str:
        """The session of this rater's page; it stays good when the server is started anew."""
        session = request.cookies.get(COOKIE, "")
        nonce, _, signature = session.partition(".")
        expected = self._signed(f"session {rater} {nonce}")
        if not hmac.compare_digest(signature.encode("utf-8", "replace"), expected.encode()):
            raise Refusal(401, "Open the link that you were given again.")
        return session

    def csrf(self, session: str) -> str:
        """The word that the page of this session sends with its answers."""
        return self._signed(f"page {session}")

    def public_id(self, *parts: object) -> str:
        """An id that says nothing: the same for the same parts, and nobody else can work it out."""
        return self._signed("id " + " ".join(map(str, parts)))[:32]

    def _signed(self, text: str) -> str:
        return hmac.new(self._secret, text.encode("utf-8", "surrogatepass"), hashlib.sha256).hexdigest()


def is_token(text: str) -> bool:
    """Whether a text has the form of a link's secret."""
    return _TOKEN.fullmatch(text) is not None


def _name(host: str) -> str:
    """The host without its port; empty if it is none."""
    found = _HOST.fullmatch(host.lower())
    return (found[1] or found[2]) if found else ""


def _is_ip(host: str) -> bool:
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return False
    return True
