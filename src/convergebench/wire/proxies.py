"""Proxies that the environment names, looked at before the HTTP libraries fail over them in words of their own."""

from __future__ import annotations

from urllib.parse import urlsplit
from urllib.request import getproxies

from convergebench.errors import Prerequisite


def require_usable_proxies() -> None:
    """`Prerequisite` if a proxy's port is none; its address is not repeated, it may hold a password."""
    for kind, address in getproxies().items():
        if kind == "no":  # a list of hosts that are reached without one
            continue
        try:
            possible = urlsplit(address if "://" in address else f"http://{address}").port != 0
        except ValueError:
            possible = False
        if not possible:
            name = f"{kind.upper()}_PROXY"
            raise Prerequisite(f"{name} is no address of a proxy; set it right: export {name}=http://HOST:PORT")
