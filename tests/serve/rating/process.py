"""The server as people start it: a process of its own, to be killed and started again."""

from __future__ import annotations

import re
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx

from convergebench.conductor.rating_setup import RatingRequest, begin_rating
from convergebench.serve.server import LOOPBACK, bound_socket, page_server
from tests.serve.rating.site import RaterClient, Site

OPENED: list[httpx.Client] = []
"""Browsers that are closed after a test."""


class ServedSite:
    """The same server in a thread of this process: enough where it is not killed."""

    def __init__(self, root: Path, **request: Any) -> None:
        self.begun = begin_rating(root, RatingRequest(**request))
        self._socket = bound_socket(LOOPBACK, 0)
        self.base = f"http://{LOOPBACK}:{self._socket.getsockname()[1]}"
        self.links = [f"/r/{token}" for token in self.begun.links.values()]
        self._site = Site(root, self.begun)
        self._server = page_server(self._site.app)
        self._thread = threading.Thread(target=self._server.run, kwargs={"sockets": [self._socket]})
        self._thread.start()

    def answers(self, rater: int = 1) -> dict[int, dict[str, float | None]]:
        """Position → the last answer."""
        return {position: dict(answer.values) for position, answer in self._site.book.answers(rater).items()}

    def close(self) -> None:
        """Stop serving."""
        self._server.should_exit = True
        self._thread.join(timeout=30)
        self._socket.close()
        self._site.book.close()


class RatingProcess:
    """`cbench rate RUN …`, serving."""

    def __init__(self, root: Path, *words: str, port: int = 0) -> None:
        command = [sys.executable, "-m", "convergebench.cli.main", "rate", str(root), "--port", str(port), *words]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.lines: list[str] = []
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self.lines.append(line)
            if line.startswith("serving on"):
                break
        else:
            raise AssertionError(self.process.communicate()[1])
        self.base = self.lines[-1].split()[2].rstrip(";")
        self.port = int(self.base.rpartition(":")[2])
        self.links = [found for line in self.lines for found in re.findall(r"http://\S+(/r/\S+)", line)]

    def open(self, link: str) -> RaterClient:
        """A rater's page in a browser of their own."""
        client = httpx.Client(base_url=self.base, timeout=30)
        OPENED.append(client)
        return RaterClient(client, link)

    def kill(self) -> None:
        """As a power cut would."""
        self.process.kill()
        self.process.communicate()

    def stop(self) -> tuple[int, str, str]:
        """As Ctrl-C does; the exit code and what it said since."""
        self.process.send_signal(signal.SIGINT)
        said, beside = self.process.communicate(timeout=60)
        return self.process.returncode, said, beside


@contextmanager
def rating_process(root: Path, *words: str) -> Iterator[RatingProcess]:
    found = RatingProcess(root, *words)
    try:
        yield found
    finally:
        if found.process.poll() is None:
            found.kill()
