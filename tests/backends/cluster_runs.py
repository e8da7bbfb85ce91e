"""Small studies on a cluster of several raylets on this machine, and what counts as the same run."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from convergebench.backends.ray.backend import RayBackend
from convergebench.conductor.options import RunOptions
from convergebench.conductor.running import RunOutcome, plan
from convergebench.conductor.running import run as run_study
from convergebench.images.encode import encode_png
from convergebench.studies.spec import parse_spec
from convergebench.types import SourceImage
from tests.engine.parts import query

OWN = Path(__file__).with_name("own_editors.py")
STORE_BYTES = 80_000_000
TABLES = {
    "steps": "select * from steps order by id",
    "chains": "select * from chains order by 1, 2",
    "positions": "select * from chain_steps order by 1, 2, 3",
    "comparisons": "select * from comparisons order by id",
    "images": "select * from images order by 1",
    "measurements": "select * from measurements order by 1, 2, 3, 4",
    "anchors": "select * from anchors order by 1, 2, 3, 4",
}
"""Everything but when, how often and on which machine it was tried."""


class RayCluster:
    """Several raylets, each a machine to Ray."""

    def __init__(self) -> None:
        from ray.cluster_utils import Cluster

        quick = {"health_check_initial_delay_ms": 0, "health_check_period_ms": 500, "health_check_failure_threshold": 4}
        head = {"num_cpus": 1, "object_store_memory": STORE_BYTES, "include_dashboard": False, "_system_config": quick}
        self._cluster = Cluster(initialize_head=True, head_node_args=head)
        self.nodes: list[Any] = []

    @property
    def address(self) -> str:
        return str(self._cluster.address)

    def add(self, count: int = 1, **more: Any) -> None:
        for _ in range(count):
            options = {"num_cpus": 1, "object_store_memory": STORE_BYTES, **more}
            self.nodes.append(self._cluster.add_node(wait=True, **options))

    def kill(self) -> None:
        """Kill a machine that is not the command's, without a goodbye."""
        self._cluster.remove_node(self.nodes.pop(), allow_graceful=False)

    def close(self) -> None:
        self._cluster.shutdown()  # type: ignore[no-untyped-call]


@contextmanager
def backend(cluster: RayCluster) -> Iterator[RayBackend]:
    """A connected backend; its notes are kept in `notes`."""
    opened = RayBackend(cluster.address, lambda line: None)
    try:
        yield opened
    finally:
        opened.close()


def pictures(count: int, side: int = 48) -> list[SourceImage]:
    found = []
    for number in range(count):
        random = np.random.default_rng(number)
        pixels = np.kron(random.integers(60, 250, (6, 6, 3)), np.ones((side // 6, side // 6, 1))).astype(np.uint8)
        data = encode_png(pixels)
        hashed = hashlib.sha256(data).hexdigest()
        found.append(
            SourceImage(f"picture-{number}", "scene", hashed, side, side, "CC0", "drawn", partial(bytes, data))
        )
    return found


def own(name: str = "darken", *, resources: Mapping[str, Any] | None = None, **options: Any) -> dict[str, Any]:
    """The entry of an editor in `own_editors.py`; a version in place of its code, so that options change no key."""
    entry = {"name": name, "use": f"{OWN}:{name}", "version": "1", **options}
    return entry if resources is None else {**entry, "resources": dict(resources)}


def study(
    root: Path,
    *editors: str | dict[str, Any],
    count: int = 3,
    rounds: int = 2,
    metrics: tuple[str, ...] = ("ssim", "rmse"),
    objects: Mapping[str, Any] | None = None,
    **options: Any,
) -> RunOutcome:
    """A round-trip run of drawn pictures, without a report."""
    spec = parse_spec(
        {
            "study": "roundtrip",
            "editors": list(editors),
            "roundtrip": {"rounds": rounds},
            "edits": {"pairs": ["flip-horizontal"]},
            "measure": {"metrics": list(metrics)},
            "examine": {"detectors": []},
        }
    )
    planned = plan(spec, root, sources=pictures(count), editors=objects)
    return run_study(planned, RunOptions(report=False, **options))


def same(one: Path, other: Path) -> None:
    """Assert that two runs hold the same."""
    for table, text in TABLES.items():
        assert query(one, text) == query(other, text), table
    assert images(one) == images(other)


def images(root: Path) -> dict[str, bytes]:
    return {str(path.relative_to(root)): path.read_bytes() for path in (root / "images").rglob("*.*")}


def entries(log: Path) -> list[dict[str, Any]]:
    """What the editors wrote down."""
    return [json.loads(line) for line in log.read_text().splitlines()] if log.exists() else []
