"""The connection to a Ray cluster: found, started for this command alone, or refused in one line."""

from __future__ import annotations

import logging
import os
import signal
import socket
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import Any

from convergebench.errors import Prerequisite, StudyError
from convergebench.registry import error_text
from convergebench.types import Resources

REACHED_WITHIN = 5.0
"""Seconds to wait for a connection to the given address."""
GIGABYTE = 10**9


def import_ray() -> Any:
    """The package, or one line that says how to install it."""
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")  # nothing is reported to anybody
    try:
        import ray
    except ImportError as error:
        raise Prerequisite(
            f"--backend ray needs Ray ({error.name or 'ray'} is not installed): pip install 'convergebench[ray]'"
        ) from error
    return ray


class Cluster:
    """A connected cluster; closing it disconnects, and ends what was started for this command."""

    def __init__(self, address: str) -> None:
        self._ray = import_ray()
        self._own = not self._ray.is_initialized()
        self.started = False
        """Whether Ray was started for this command, on this machine alone."""
        if self._own:
            _connect(self, address)
        elif address not in ("", "auto", self.address):
            raise StudyError(f"this process is connected to Ray at {self.address}, not at {address}; leave address out")

    @property
    def address(self) -> str:
        """HOST:PORT."""
        return str(self._ray.get_runtime_context().gcs_address)

    def join(self, address: str) -> None:
        """Connect to a running cluster."""
        with _signals_kept():
            self._ray.init(address=address, log_to_driver=False, logging_level=logging.ERROR)

    def start(self) -> None:
        """Start Ray on this machine, for this command alone."""
        with _signals_kept():
            self._ray.init(address="local", include_dashboard=False, log_to_driver=False, logging_level=logging.ERROR)
        self.started = True

    def nodes(self) -> list[Mapping[str, float]]:
        """What each living machine has in all."""
        return [node["Resources"] for node in self._ray.nodes() if node["Alive"]]

    def total(self, resource: str) -> float:
        """What all machines have of it together."""
        return sum(node.get(resource, 0.0) for node in self.nodes())

    def available(self) -> dict[str, float]:
        """What nobody uses at present."""
        return dict(self._ray.available_resources())

    def request(self, bundles: list[dict[str, float]]) -> None:
        """Tell an autoscaler what would be used; without one nobody listens."""
        from ray.autoscaler.sdk import request_resources

        request_resources(bundles=bundles)

    def close(self) -> None:
        """Disconnect."""
        if self._own:
            with _signals_kept():
                self._ray.shutdown()


def bundle_of(resources: Resources) -> dict[str, float]:
    """The resources in Ray's words."""
    wanted = {"CPU": resources.cpus, "GPU": resources.gpus, "memory": resources.memory_gb * GIGABYTE}
    return {name: amount for name, amount in wanted.items() if amount}


def options_of(bundle: Mapping[str, float]) -> dict[str, Any]:
    """The same as the options of an actor or task."""
    return {
        "num_cpus": bundle.get("CPU", 0.0),
        "num_gpus": bundle.get("GPU", 0.0),
        **({"memory": int(bundle["memory"])} if "memory" in bundle else {}),
    }


def in_words(bundle: Mapping[str, float]) -> str:
    """For messages: `1 CPU and 0.5 GPU`."""
    amounts = [
        f"{amount / GIGABYTE:g} GB of memory" if name == "memory" else f"{amount:g} {name}"
        for name, amount in bundle.items()
    ]
    return " and ".join(amounts) or "nothing"


def _connect(cluster: Cluster, address: str) -> None:
    wanted = address or os.environ.get("RAY_ADDRESS", "") or "auto"
    if "://" in wanted:
        raise StudyError(
            f"--address {wanted}: run the command on a machine of the cluster and give the address as HOST:PORT or auto"
        )
    try:
        if wanted not in ("auto", "local"):
            _require_reachable(wanted)
        cluster.start() if wanted == "local" else cluster.join(wanted)
    except (ConnectionError, TimeoutError) as error:
        if address or wanted != "auto":
            raise Prerequisite(_unreachable(wanted)) from error
        cluster.start()  # no cluster was asked for, and this machine is part of none
    except (RuntimeError, ValueError, OSError, SystemExit) as error:  # e.g. other versions of Ray or Python there
        raise Prerequisite(f"cannot use Ray at {wanted}: {error_text(error)[:300]}") from error


def _require_reachable(address: str) -> None:
    """Ray itself would try for two minutes."""
    host, _, port = address.rpartition(":")
    if not host or not port.isdecimal() or int(port) > 65535:
        raise StudyError(f"--address {address}: give HOST:PORT, such as 10.0.0.7:6379, or auto")
    try:
        socket.create_connection((host.strip("[]"), int(port)), timeout=REACHED_WITHIN).close()
    except OSError as error:
        raise Prerequisite(f"{_unreachable(address)} ({error.strerror or error})") from error


def _unreachable(address: str) -> str:
    if address == "auto":
        return "this machine is part of no Ray cluster: start one (ray start --head), or leave --address out"
    return f"no Ray cluster answers at {address}; start one there: ray start --head --port {address.rpartition(':')[2]}"


@contextmanager
def _signals_kept() -> Iterator[None]:
    """Ray replaces the handler of SIGTERM, which is the command's."""
    main = threading.current_thread() is threading.main_thread()
    before = signal.getsignal(signal.SIGTERM) if main else None
    try:
        yield
    finally:
        if main and before is not None:
            with suppress(ValueError):
                signal.signal(signal.SIGTERM, before)
