"""The viewer on a port of this computer, served by a thread of this process; and a browser without a screen."""

from __future__ import annotations

import threading
import time
from pathlib import Path
from types import TracebackType
from typing import Any

import httpx

from convergebench.serve.server import LOOPBACK, bound_socket, page_server
from convergebench.serve.view.access import LONGEST_HEAD
from convergebench.serve.view.app import ViewSite, view_app
from convergebench.serve.view.shelf import RunShelf


class ServedView:
    """A context manager; `told` has the lines for the person who runs the server."""

    def __init__(self, *places: Path, **more: Any) -> None:
        self.told: list[str] = []
        self.places = places
        self._socket = bound_socket(LOOPBACK, 0)
        self.port = self._socket.getsockname()[1]
        self.base = f"http://{LOOPBACK}:{self.port}"
        site = ViewSite(RunShelf(places), port=self.port, tell=self.told.append, **more)
        self._server = page_server(view_app(site), longest=LONGEST_HEAD)
        self._thread = threading.Thread(target=self._server.run, kwargs={"sockets": [self._socket]})
        self.client = self.new_client()

    def new_client(self) -> httpx.Client:
        """A browser without cookies."""
        return httpx.Client(base_url=self.base, timeout=30)

    def __enter__(self) -> ServedView:
        self._thread.start()
        while not self._server.started:
            time.sleep(0.01)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.client.close()
        self._server.should_exit = True
        self._thread.join(timeout=30)
        self._socket.close()

    def data(self, path: str, status: int = 200) -> Any:
        """The JSON at an address."""
        reply = self.client.get(path)
        assert reply.status_code == status, f"{path}: {reply.status_code} {reply.text[:300]}"
        return reply.json()

    def rows(self, path: str) -> list[dict[str, Any]]:
        """The rows of a table as mappings."""
        found = self.data(path)
        names = [column["name"] for column in found["columns"]]
        return [dict(zip(names, row, strict=True)) for row in found["rows"]]


def refused(reply: httpx.Response) -> bool:
    """Whether a reply refuses in one line of JSON."""
    if not 400 <= reply.status_code < 500 or reply.headers.get("content-type") != "application/json":
        return False
    words = reply.json()
    return list(words) == ["error"] and 0 < len(words["error"]) < 1000 and "\n" not in words["error"]
