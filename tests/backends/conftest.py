"""One cluster for the tests of a module: a machine for the command and two others, one core each."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest

from tests.backends.cluster_runs import RayCluster

WORKER_KEY = "sk-of-the-machine-31415926535897"
"""A key that the machines of the cluster have in their own environment."""


@pytest.fixture(scope="module")
def cluster() -> Iterator[RayCluster]:
    pytest.importorskip("ray")
    changed = {"RAY_USAGE_STATS_ENABLED": "0", "MY_SERVER_KEY": WORKER_KEY}
    before = {name: os.environ.get(name) for name in changed}
    os.environ.update(changed)
    made = RayCluster()
    try:
        made.add(2)
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value
        yield made
    finally:
        made.close()
