"""Whether a file belongs to a data set: names in a set of others may not lead out of its folder."""

from __future__ import annotations

from pathlib import Path, PurePosixPath


def is_inside(root: Path, path: Path) -> bool:
    """Whether a file is below a folder after following links; blobs of the Hub's cache belong to the set."""
    real, home = path.resolve(), root.resolve()
    snapshots = (above for above in (home, *home.parents) if above.parent.name == "snapshots")
    return any(real.is_relative_to(one) for one in (home, *(above.parent.parent / "blobs" for above in snapshots)))


def leads_out(name: str) -> bool:
    """Whether a name inside a set is no relative name of a file below it."""
    relative = PurePosixPath(name)
    return relative.is_absolute() or ".." in relative.parts or "\0" in name
