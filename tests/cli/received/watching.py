"""A witness of what a command does beside its work: connections, keys it looks up, modules and files it opens."""

from __future__ import annotations

import os
import socket
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import pytest

_watching: list[Witness] = []


@dataclass
class Witness:
    """What was seen. `words` are those by which a stranger's modules and files are known."""

    address: str
    words: tuple[str, ...]
    connections: list[bytes] = field(default_factory=list)
    looked_up: list[str] = field(default_factory=list)
    opened: list[str] = field(default_factory=list)
    imported: list[str] = field(default_factory=list)

    @property
    def nothing(self) -> bool:
        return not (self.connections or self.looked_up or self.opened or self.imported)

    def audit(self, event: str, arguments: tuple[Any, ...]) -> None:
        """What Python itself tells about opened files and imported modules."""
        if event not in ("open", "import"):
            return
        name = str(arguments[0])
        if any(word in name for word in self.words):
            (self.opened if event == "open" else self.imported).append(name)


def _hook(event: str, arguments: tuple[Any, ...]) -> None:
    for witness in _watching:
        witness.audit(event, arguments)


sys.addaudithook(_hook)  # cannot be taken off again; without a witness it does nothing


class WatchedEnvironment(dict[str, str]):
    """An environment that tells which of the secret variables are looked up by name."""

    def __init__(self, given: Any, secrets: dict[str, str], witness: Witness) -> None:
        super().__init__({**given, **secrets})
        self._secrets, self._witness = secrets, witness

    def get(self, key: str, default: Any = None) -> Any:
        return self[key] if key in self else default  # noqa: SIM401 (this is what `get` is made of)

    def __getitem__(self, key: str) -> str:
        if key in self._secrets:
            self._witness.looked_up.append(key)
        return super().__getitem__(key)

    def copy(self) -> dict[str, str]:
        return dict(self)


@contextmanager
def watching(secrets: dict[str, str], *words: str) -> Iterator[Witness]:
    """A server that takes note of whoever calls, secrets in the environment, and a witness of both."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        listener.settimeout(0.05)
        witness = Witness(f"http://127.0.0.1:{listener.getsockname()[1]}", words)
        over = threading.Event()

        def listen() -> None:
            while not over.is_set():
                try:
                    caller, _ = listener.accept()
                except TimeoutError:
                    continue
                with caller:
                    caller.settimeout(1)
                    witness.connections.append(caller.recv(65536))
                    caller.sendall(b"HTTP/1.1 400 Bad Request\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{}")

        thread = threading.Thread(target=listen)
        thread.start()
        _watching.append(witness)
        try:
            with pytest.MonkeyPatch.context() as change:
                change.setattr(os, "environ", WatchedEnvironment(os.environ, secrets, witness))
                yield witness
        finally:
            _watching.remove(witness)
            over.set()
            thread.join()
