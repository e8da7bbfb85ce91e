"""The suites that come with the package."""

from __future__ import annotations

from pathlib import Path

from convergebench.images.manifest import read_manifest
from convergebench.images.suite import Suite

DATA = Path(__file__).parent / "data" / "suites"


def quick() -> Suite:
    """Twelve small images, four of each kind: for trying things out."""
    return read_manifest(DATA / "quick.toml")


def builtin() -> Suite:
    """A hundred images in balance, photographs and drawings: for results that are shown to others."""
    return read_manifest(DATA / "builtin.toml")
