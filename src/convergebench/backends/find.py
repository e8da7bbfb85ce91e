"""The backend that a command names."""

from __future__ import annotations

from collections.abc import Callable

from convergebench.backends.base import Backend
from convergebench.backends.local import LOCAL
from convergebench.errors import StudyError
from convergebench.registry import suggest

BACKENDS = ("local", "ray")


def check_backend(name: str, address: str) -> None:
    """Refuse an unknown name, and an address where there is nothing to connect to."""
    if name not in BACKENDS:
        raise StudyError(f"unknown backend '{name}'{suggest(name, BACKENDS)} (known: {', '.join(BACKENDS)})")
    if address and name != "ray":
        raise StudyError(f"--address {address} is for a cluster; add --backend ray, or leave it out")


def open_backend(name: str, address: str, note: Callable[[str], None]) -> Backend:
    """The backend, ready to work; `note` is told what a person should know meanwhile."""
    check_backend(name, address)
    if name == "local":
        return LOCAL
    from convergebench.backends.ray.backend import RayBackend

    return RayBackend(address, note)
