"""The server itself: one process on one port, until it is asked to stop."""

from __future__ import annotations

import errno
import ipaddress
import logging
import signal
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

import uvicorn
from starlette.applications import Starlette

from convergebench.errors import StudyError

LOOPBACK = "127.0.0.1"
AT_ONCE = 256
"""Most connections; more are told to come later."""


def bound_socket(host: str, port: int) -> socket.socket:
    """A listening socket; `StudyError` where the port is taken or the address is not of this machine."""
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        found = socket.socket(family, kind, protocol)
    except OSError as error:
        raise StudyError(f"--host {host}: {error.strerror or error}") from error
    try:
        found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        found.bind(address)
        found.listen(128)
    except OSError as error:
        found.close()
        if error.errno == errno.EADDRINUSE:
            raise StudyError(f"port {port} is in use; name another with --port, or stop what uses it") from error
        raise StudyError(f"cannot serve on {host} port {port}: {error.strerror or error}") from error
    return found


def shown_host(host: str) -> str:
    """The host as a link names it; an address that stands for all of them is not a name."""
    if host in ("0.0.0.0", "::", ""):
        return socket.gethostname()
    return f"[{host}]" if ":" in host else host


def is_loopback(host: str) -> bool:
    """Whether only this computer can reach the address."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def page_server(app: Starlette, *, longest: int | None = None) -> uvicorn.Server:
    """The server; `longest` is the most bytes of a request's head (64 KiB if None).

    `run(sockets=[…])` serves until Ctrl-C or SIGTERM and finishes the requests in flight.
    """
    for name in ("uvicorn", "uvicorn.error", "uvicorn.asgi"):
        logging.getLogger(name).setLevel(logging.CRITICAL + 1)
    config = uvicorn.Config(
        app,
        access_log=False,  # the addresses have secrets in them
        date_header=True,
        http="h11",
        h11_max_incomplete_event_size=longest,
        lifespan="off",
        limit_concurrency=AT_ONCE,
        log_config=None,
        loop="asyncio",
        proxy_headers=False,  # anybody can write such headers
        server_header=False,
        timeout_graceful_shutdown=3,
        timeout_keep_alive=30,
        ws="none",
    )
    return _Server(config)


class _Server(uvicorn.Server):
    """Ends quietly when it is asked to: what the command does then is its own affair."""

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        before = {number: signal.signal(number, self._asked) for number in (signal.SIGINT, signal.SIGTERM)}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)

    def _asked(self, number: int, frame: FrameType | None) -> None:
        self.handle_exit(number, frame)
