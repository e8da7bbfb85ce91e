"""A real S3-speaking server on this machine, and a way to it that can be closed, cut and made to fail."""

from __future__ import annotations

import logging
import re
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from urllib.request import Request, urlopen

import boto3
import pytest
from moto.server import ThreadedMotoServer

KEY, SECRET = "AKIDNOTREAL0000000001", "not-a-real-secret-0123456789abcdef"
_REQUEST = re.compile(rb"(GET|PUT|HEAD|DELETE|POST) (\S+) HTTP/1")


class S3Server:
    """moto, and a port that leads to it: `down` closes the port, `fault` spoils what comes through.

    `fault(method, path)` is asked for every request: None lets it pass, 503 answers so, 0 cuts the connection after the
    first bytes of the request have passed.
    """

    def __init__(self) -> None:
        logging.getLogger("werkzeug").setLevel(logging.ERROR)
        self._moto = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
        self._moto.start()
        self._behind = self._moto.get_host_and_port()
        self.fault: Callable[[str, str], int | None] = lambda method, path: None
        self.asked: list[tuple[str, str]] = []
        self.port = _free_port()
        self._listening: socket.socket | None = None
        self._passing: set[socket.socket] = set()
        self.up()
        address = f"http://{self._behind[0]}:{self._behind[1]}"
        with urlopen(Request(f"{address}/moto-api/reset", method="POST")):  # its buckets are those of the process
            pass
        self.client = boto3.client(
            "s3", endpoint_url=address, aws_access_key_id=KEY, aws_secret_access_key=SECRET, region_name="us-east-1"
        )
        self.client.create_bucket(Bucket="bucket")

    def up(self) -> None:
        """Open the port."""
        listening = socket.socket()
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind(("127.0.0.1", self.port))
        listening.listen(64)
        self._listening = listening
        threading.Thread(target=self._accept, args=(listening,), daemon=True).start()

    def down(self) -> None:
        """Close the port, and every connection through it."""
        if self._listening is not None:
            _shut(self._listening)
            self._listening = None
        for one in list(self._passing):
            _shut(one)

    def stop(self) -> None:
        self.down()
        self.client.close()
        self._moto.stop()

    def _accept(self, listening: socket.socket) -> None:
        while True:
            try:
                client, _ = listening.accept()
            except OSError:
                return
            server = socket.create_connection(self._behind)
            self._passing |= {client, server}
            threading.Thread(target=self._requests, args=(client, server), daemon=True).start()
            threading.Thread(target=self._replies, args=(client, server), daemon=True).start()

    def _requests(self, client: socket.socket, server: socket.socket) -> None:
        with suppress(OSError):
            while data := client.recv(65536):
                if found := _REQUEST.match(data):
                    method, path = found[1].decode(), found[2].decode()
                    self.asked.append((method, path))
                    code = self.fault(method, path)
                    if code == 0:
                        server.sendall(data[: len(data) // 2])
                        break
                    if code is not None:
                        client.sendall(
                            f"HTTP/1.1 {code} Busy\r\nContent-Length: 0\r\nConnection: close\r\n\r\n".encode()
                        )
                        break
                server.sendall(data)
        self._end(client, server)

    def _replies(self, client: socket.socket, server: socket.socket) -> None:
        with suppress(OSError):
            while data := server.recv(65536):
                client.sendall(data)
        self._end(client, server)

    def _end(self, *both: socket.socket) -> None:
        for one in both:
            _shut(one)
            self._passing.discard(one)

    def names(self, prefix: str) -> dict[str, int]:
        found = self.client.get_paginator("list_objects_v2").paginate(Bucket="bucket", Prefix=prefix)
        return {one["Key"]: one["Size"] for page in found for one in page.get("Contents", ())}

    def spoil(self, name: str, data: bytes) -> None:
        self.client.put_object(Bucket="bucket", Key=name, Body=data)

    def lose(self, name: str) -> None:
        self.client.delete_object(Bucket="bucket", Key=name)


def _shut(one: socket.socket) -> None:
    with suppress(OSError):
        one.shutdown(socket.SHUT_RDWR)
    one.close()


def _free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


@contextmanager
def s3_server(monkeypatch: pytest.MonkeyPatch) -> Iterator[S3Server]:
    """The server, with the environment that leads s3fs to it."""
    server = S3Server()
    for name, value in {
        "AWS_ACCESS_KEY_ID": KEY,
        "AWS_SECRET_ACCESS_KEY": SECRET,
        "AWS_ENDPOINT_URL": f"http://127.0.0.1:{server.port}",
        "AWS_DEFAULT_REGION": "us-east-1",
        "AWS_MAX_ATTEMPTS": "1",
        "AWS_EC2_METADATA_DISABLED": "true",
    }.items():
        monkeypatch.setenv(name, value)
    try:
        yield server
    finally:
        server.stop()
