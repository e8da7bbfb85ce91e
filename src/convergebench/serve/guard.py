"""Who may do what: the address that was asked for, the session, and where a request to write comes from."""

from __future__ import annotations

import hashlib
import hmac
import ipaddress
import re
import secrets
from collections.abc import Collection
from urllib.parse import urlsplit

from starlette.requests import Request

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

    def __init__(
        self, secret: str, *, cookie: str, csrf_header: str, names: Collection[str] = (), secure: bool = False
    ) -> None:
        """`csrf_header` is what a page sends with every request to write; a form of another site cannot send it."""
        self._secret = bytes.fromhex(secret)
        self.cookie, self._csrf_header = cookie, csrf_header
        self._names = {"localhost", *(name.lower() for name in names)}
        self.secure = secure
        """Whether browsers reach the server over https."""

    def require_own_address(self, request: Request) -> None:
        """Only IP addresses and names that the server was told: a foreign name that leads here is rebinding."""
        host = _name(request.headers.get("host", ""))
        if host not in self._names and not _is_ip(host):
            raise Refusal(421, "This server does not answer under that name.")

    def require_own_page(self, request: Request, session: str) -> None:
        """A request to write must come from our own page, opened in the session that it belongs to."""
        origin = urlsplit(request.headers.get("origin", ""))
        if origin.scheme not in ("http", "https") or origin.netloc != request.headers.get("host"):
            raise Refusal(403, "This is taken from this server's own page only.")
        if request.headers.get("sec-fetch-site", "same-origin") != "same-origin":
            raise Refusal(403, "This is taken from this server's own page only.")
        if not hmac.compare_digest(
            request.headers.get(self._csrf_header, "").encode("latin-1", "replace"), self.csrf(session).encode()
        ):
            raise Refusal(403, "This page is out of date: load it again.")

    def new_session(self, holder: int | str) -> str:
        """What the cookie holds; only this server can make one."""
        nonce = secrets.token_hex(16)
        return f"{nonce}.{self._signed(f'session {holder} {nonce}')}"

    def require_session(self, request: Request, holder: int | str, cookie: str = "") -> str:
        """The session of this holder's page, from our cookie or another; it stays valid while the secret does."""
        session = request.cookies.get(cookie or self.cookie, "")
        nonce, _, signature = session.partition(".")
        expected = self._signed(f"session {holder} {nonce}")
        if not hmac.compare_digest(signature.encode("utf-8", "replace"), expected.encode()):
            raise Refusal(401, "Open the link that you were given again.")
        return session

    def csrf(self, session: str) -> str:
        """The word that the page of this session sends with a request to write."""
        return self._signed(f"page {session}")

    def public_id(self, *parts: object) -> str:
        """An id that says nothing: the same for the same parts, and only this server can compute it."""
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
