"""The viewer of a run from Python: in a frame below the cell of a notebook, or at an address for a browser."""

from __future__ import annotations

import threading
import time
from html import escape
from pathlib import Path
from types import TracebackType
from urllib.parse import quote

from convergebench.errors import StudyError

HEIGHT = 760
"""Pixels of the frame in a notebook."""
PATIENCE = 20.0
"""Seconds until the server must answer."""


class RunViewer:
    """A viewer that serves one run to this computer until it is closed, or until Python ends.

    `url` opens it in a browser; the address has a token, since other users of this computer could reach the port.
    """

    def __init__(self, root: Path, *, height: int = HEIGHT) -> None:
        from convergebench.serve.server import LOOPBACK, bound_socket, page_server
        from convergebench.serve.view.access import LONGEST_HEAD, new_token
        from convergebench.serve.view.app import ViewSite, view_app
        from convergebench.serve.view.shelf import RunShelf

        shelf, token = RunShelf([root]), new_token()
        (name,) = shelf.runs()
        self.height = height
        self._socket = bound_socket(LOOPBACK, 0)
        port = self._socket.getsockname()[1]
        self.url = f"http://{LOOPBACK}:{port}/run/{quote(name, safe='')}?token={token}"
        self._server = page_server(
            view_app(ViewSite(shelf, token=token, port=port, embedded=True)), longest=LONGEST_HEAD
        )
        self._thread = threading.Thread(
            target=self._server.run, kwargs={"sockets": [self._socket]}, name="viewer", daemon=True
        )
        self._thread.start()
        until = time.monotonic() + PATIENCE
        while not self._server.started and self._thread.is_alive() and time.monotonic() < until:
            time.sleep(0.01)
        if not self._server.started:
            self.close()
            raise StudyError("the viewer did not start; type in a shell: cbench view")

    def close(self) -> None:
        """Stop serving; a second call does nothing."""
        self._server.should_exit = True
        self._thread.join(timeout=10)
        self._socket.close()

    def __enter__(self) -> RunViewer:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"RunViewer({self.url!r})"

    def _repr_html_(self) -> str:
        """The viewer in a frame."""
        return (
            f'<iframe src="{escape(self.url)}" title="ConvergeBench viewer" width="100%" height="{self.height}" '
            'style="border:1px solid #8884" allow="fullscreen"></iframe>'
        )
