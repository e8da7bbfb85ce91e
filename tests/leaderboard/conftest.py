"""Runs and bundles that the tests of this room share; making them takes seconds."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import pytest

from convergebench.conductor.submitting import Submitter, submit
from convergebench.leaderboard.signing import make_key
from tests.leaderboard.runs import StandIn, draw_pictures, make_run


class World(NamedTuple):
    """Where things are."""

    root: Path
    pictures: Path
    run: Path
    key: Path
    bundle: Path

    def submitted(self, run: Path, name: str, **facts: str) -> Path:
        """Another bundle, signed by the key of this world unless told otherwise."""
        key = None if facts.pop("unsigned", "") else self.key
        return submit(run, Submitter(facts.pop("by", "Example Lab"), key=key, **facts), self.root / f"{name}.zip")[1]


@pytest.fixture(scope="session")
def world(tmp_path_factory: pytest.TempPathFactory) -> World:
    """Six pictures, two stand-ins for models and a signed bundle of their run."""
    root = tmp_path_factory.mktemp("leaderboard")
    pictures = draw_pictures(root / "pictures")
    run = make_run(root / "first", pictures, {"model-a": StandIn("model-a"), "model-b": StandIn("model-b", "sim-tint")})
    key = root / "key.pem"
    make_key(key)
    made = World(root, pictures, run, key, root / "first.zip")
    made.submitted(run, "first")
    return made
