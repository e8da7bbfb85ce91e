"""Checks the proxies of the environment, so that a bad one gives a clear error."""

from __future__ import annotations

from urllib.parse import urlsplit
from urllib.request import getproxies

from convergebench.errors import Prerequisite


def require_usable_proxies() -> None:
    """`Prerequisite` if a proxy's address is invalid; it is not repeated, since it may hold a password."""
    for kind, address in getproxies().items():
        if kind == "no":  # a list of hosts that bypass the proxy
            continue
        try:
            possible = urlsplit(address if "://" in address else f"http://{address}").port != 0
        except ValueError:
            possible = False
        if not possible:
            name = f"{kind.upper()}_PROXY"
            raise Prerequisite(f"{name} is not the address of a proxy; correct it: export {name}=http://HOST:PORT")
