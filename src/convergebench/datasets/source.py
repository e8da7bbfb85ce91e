"""The run that is exported. All reads see one moment, so that a run still being written gives a consistent data set."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path

from convergebench.store.images import open_images
from convergebench.store.manifest import Manifest, read_manifest
from convergebench.store.queries.exporting import ChainFacts, smallest_sizes
from convergebench.store.records import Records
from convergebench.store.run import require_run
from convergebench.store.tables import ImageRow


class RunSource:
    """A run to export; use as a context manager."""

    def __init__(self, root: Path) -> None:
        self.root = require_run(root)
        written = (root / "manifest.json").read_bytes()
        self.manifest: Manifest = read_manifest(root / "manifest.json")
        self.manifest_sha256 = hashlib.sha256(written).hexdigest()
        self.align = self.manifest.align
        self._images = open_images(root)
        self.records = Records(root / "run.sqlite")
        self.records.freeze()

    def smallest_picture(self, chains: Sequence[ChainFacts]) -> tuple[int, int, str]:
        """(width, height, chain) of the picture with the shortest side."""
        found = smallest_sizes(self.records)
        sizes = [(chain.picture.width, chain.picture.height, chain.id) for chain in chains]
        sizes += [(*found[key], chain.id) for chain in chains if (key := (chain.editor, chain.case)) in found]
        return min(sizes, key=lambda size: min(size[:2]))

    def read(self, picture: ImageRow) -> bytes:
        """The bytes as received; a file that is not what the journal says is refused."""
        return self._images.read(picture.file, picture.id)

    def __enter__(self) -> RunSource:
        return self

    def __exit__(self, *failure: object) -> None:
        self.records.close()
